import type { DeviceId, LeaseId, MintId, RequestId } from "../contract/index.ts";
import { describeCapacity } from "./capacity.ts";
import { queueDepth, setCatalog, setHost, type State } from "./book.ts";
import { Draft } from "./draft.ts";
import { enrol, mend, unenrol } from "./enrolment.ts";
import * as events from "./events.ts";
import { endLease, holderGone, release, releaseAll, renew, setPower, undelivered } from "./leases.ts";
import { match } from "./matching.ts";
import type { Decision, Input } from "./protocol.ts";
import { abandon, admit, cancel, forgetSettled, requestTimedOut } from "./requests.ts";
import { effectDone } from "./results.ts";
import { retryQuarantine } from "./transitions.ts";
import { dropUnclaimedStarts, observe, recover } from "./world.ts";
import type { Now } from "./state.ts";

/**
 * Decides inputs one after another on the evolving state. What has come due is decided before each, so that nothing is done with a lease that is over.
 * Nothing of the answer may be let out before its changes are committed. It throws only for a fault of our own: the state is then worth nothing, and the
 * process must end.
 */
export function decide(state: State, inputs: readonly Input[], now: Now, mint: MintId): Decision {
  const draft = new Draft(state, now, mint);
  for (const input of inputs) {
    // A daemon's first decision knows no deadline yet: recovery sets them.
    if (input.kind !== "recovered") comeDue(draft);
    const admitted = take(draft, input);
    match(draft);
    if (input.kind === "recovered") dropUnclaimedStarts(draft);
    if (admitted !== undefined) tellQueued(draft, admitted);
  }
  if (inputs.length > 0) tellCapacity(draft);
  return draft.decision();
}

/** When the next `tick` has something to do, on the monotonic clock. */
export function nextDeadline(state: State): number | undefined {
  return state.deadlines.next();
}

function take(draft: Draft, input: Input): RequestId | undefined {
  switch (input.kind) {
    case "request":
      return admit(draft, input);
    case "cancel":
      cancel(draft, input);
      return undefined;
    case "abandoned":
      abandon(draft, input.waiters);
      return undefined;
    case "renew":
      renew(draft, input);
      return undefined;
    case "release":
      release(draft, input);
      return undefined;
    case "release-all":
      releaseAll(draft, input);
      return undefined;
    case "holder-gone":
      holderGone(draft, input.pid, input.startedAt);
      return undefined;
    case "undelivered":
      undelivered(draft, input.leaseId);
      return undefined;
    case "power":
      setPower(draft, input.leaseId, input.off);
      return undefined;
    case "effect-done":
      effectDone(draft, input);
      return undefined;
    case "catalog":
      setCatalog(draft.state, input.of, { catalog: input.catalog, estimate: input.estimate });
      draft.supplyMoved = true;
      return undefined;
    case "host":
      setHost(draft.state, input.facts);
      draft.supplyMoved = true;
      return undefined;
    case "reality":
      observe(draft, input.reality);
      return undefined;
    case "recovered":
      recover(draft, input.realities);
      return undefined;
    case "enrol":
      enrol(draft, input);
      return undefined;
    case "unenrol":
      unenrol(draft, input);
      return undefined;
    case "mend":
      mend(draft, input);
      return undefined;
    case "tick":
      return undefined;
  }
}

/** The one path on which time acts. */
function comeDue(draft: Draft): void {
  const { state, now } = draft;
  let settledDue = false;
  for (;;) {
    const key = state.deadlines.takeDue(now.mono);
    if (key === undefined) break;
    const [kind, id = ""] = key.split(":");
    if (kind === "lease") {
      const lease = state.leases.get(id as LeaseId);
      if (lease !== undefined) endLease(draft, lease, "expired");
    } else if (kind === "request") {
      const request = state.requests.get(id as RequestId);
      if (request?.state === "open") requestTimedOut(draft, request);
    } else if (kind === "device") {
      const device = state.devices.get(id as DeviceId);
      if (device !== undefined) retryQuarantine(draft, device);
    } else {
      settledDue = true;
    }
  }
  if (settledDue || state.settled.size > state.settings.lease.maxRequestRecords) forgetSettled(draft);
  else if (state.settled.size > 0 && state.deadlines.get("settled") === undefined) forgetSettled(draft);
}

/** Only a request that really waits has been queued. */
function tellQueued(draft: Draft, id: RequestId): void {
  const { state } = draft;
  const request = state.requests.get(id);
  if (request?.state !== "open" || state.claims.has(id)) return;
  draft.event(events.queued(request, queueDepth(state)));
}

function tellCapacity(draft: Draft): void {
  const { state } = draft;
  const { ios, android, global } = describeCapacity(state.limits, state.usage);
  const pick = ({ running, maxRunning, reserved, warm }: typeof global) => ({ running, maxRunning, reserved, warm });
  const payload = { ios: pick({ ...ios }), android: pick({ ...android }), global: pick(global) };
  const text = JSON.stringify(payload);
  if (text !== state.lastCapacity) {
    state.lastCapacity = text;
    draft.event({ event: "capacity.changed", payload });
  }
  const depth = queueDepth(state);
  if (depth !== state.lastQueueDepth) {
    state.lastQueueDepth = depth;
    draft.event({ event: "queue.changed", payload: { depth } });
  }
}
