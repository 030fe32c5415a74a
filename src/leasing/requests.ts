import {
  fromWireError,
  SimlockError,
  type LeaseProgress,
  type LeaseRequestInput,
  type RequestId,
} from "../contract/index.ts";
import { findByKey, queueDepth, type State } from "./book.ts";
import type { Draft } from "./draft.ts";
import * as events from "./events.ts";
import { answerWaiters } from "./granting.ts";
import { isServiceable } from "./planning.ts";
import type { Caller, Input, ReplyTo } from "./protocol.ts";
import { alreadyLeased, queueTimeout, unserviceable } from "./refusals.ts";
import { requirementOf, type Requirement } from "./requirement.ts";
import type { Device, Request } from "./state.ts";

/** How many settled requests one decision removes: the rest waits for the next. */
const REMOVED_AT_ONCE = 500;

type Asked = Extract<Input, { kind: "request" }>;

/** Admission: what is wrong is answered at once, a known key gets its stored result, all else is stored and waits. */
export function admit(draft: Draft, asked: Asked): RequestId | undefined {
  const refused = refusal(draft, asked);
  if (refused === "joined") return undefined;
  if (refused !== undefined) {
    draft.reply(asked.replyTo, { kind: "error", error: refused });
    return undefined;
  }
  const { state, now } = draft;
  const { input, caller, replyTo } = asked;
  const request: Request = {
    id: draft.mint("req") as RequestId,
    seq: state.nextSeq,
    requesterId: input.requesterId ?? caller.principal,
    ownerId: input.owner ?? caller.principal,
    principal: caller.principal,
    input,
    boundTo: asked.boundTo,
    createdAt: now.wall,
    deadline: input.timeoutMs === undefined ? undefined : now.wall + input.timeoutMs,
    state: "open",
    failures: 0,
    settledAt: undefined,
    grant: undefined,
    failure: undefined,
  };
  draft.putRequest(request, events.requested(request));
  if (input.timeoutMs !== undefined) state.deadlines.set(`request:${request.id}`, now.mono + input.timeoutMs);
  wait(state, request.id, replyTo);
  return request.id;
}

function refusal(draft: Draft, { input, caller, replyTo }: Asked): SimlockError | "joined" | undefined {
  const { state } = draft;
  if (input.owner !== undefined && caller.role !== "admin") {
    return new SimlockError("FORBIDDEN", "Only an operator may lease for another owner.");
  }
  const { maxTtlMs, maxWaiting } = state.settings.lease;
  if (input.ttlMs !== undefined && input.ttlMs > maxTtlMs) return ttlTooLong(input.ttlMs, maxTtlMs);
  if (input.platform === "ios" && input.imageTag !== undefined) {
    return new SimlockError("BAD_REQUEST", "imageTag: only Android has system image tags.");
  }
  let requirement: Requirement;
  try {
    requirement = requirementOf(input);
  } catch (error) {
    if (error instanceof SimlockError) return error;
    throw error;
  }
  const requesterId = input.requesterId ?? caller.principal;
  const joined = joinByKey(draft, requesterId, input, caller, replyTo);
  if (joined !== undefined) return joined;
  const leaseId = state.leaseByRequester.get(requesterId);
  if (leaseId !== undefined) return alreadyLeased(state, requesterId, state.leases.get(leaseId));
  if (state.openByRequester.has(requesterId)) return alreadyLeased(state, requesterId, undefined);
  if (!isServiceable(state, requirement)) return unserviceable(state, requirement);
  if (queueDepth(state) >= maxWaiting) {
    return new SimlockError("NO_CAPACITY", `${maxWaiting} requests wait already: no more are taken.`, {
      hint: "Try again later; `simlock status` shows the queue.",
    });
  }
  return undefined;
}

export function ttlTooLong(ttlMs: number, maxTtlMs: number): SimlockError {
  return new SimlockError("BAD_REQUEST", `ttlMs: ${ttlMs} is more than the ${maxTtlMs} that lease.maxTtlMs allows.`, {
    details: { maxTtlMs },
    hint: "Ask for less, and renew.",
  });
}

function joinByKey(
  draft: Draft,
  requesterId: string,
  input: LeaseRequestInput,
  caller: Caller,
  replyTo: ReplyTo,
): SimlockError | "joined" | undefined {
  const key = input.idempotencyKey;
  if (key === undefined) return undefined;
  const before = findByKey(draft.state, requesterId, key);
  if (before === undefined) return undefined;
  if (before.principal !== caller.principal) {
    return new SimlockError("FORBIDDEN", "This idempotency key belongs to another caller.");
  }
  if (requirementOf(before.input).key !== requirementOf(input).key) {
    return new SimlockError("IDEMPOTENCY_CONFLICT", "This idempotency key was used for another device.", {
      details: { requestId: before.id },
    });
  }
  switch (before.state) {
    case "open":
      wait(draft.state, before.id, replyTo);
      return "joined";
    case "granted":
      if (before.grant !== undefined) draft.reply(replyTo, { kind: "grant", grant: before.grant });
      return "joined";
    case "failed":
    case "cancelled":
      if (before.failure !== undefined) draft.reply(replyTo, { kind: "error", error: fromWireError(before.failure) });
      return "joined";
  }
}

function wait(state: State, requestId: RequestId, replyTo: ReplyTo): void {
  const waiters = state.waiters.get(requestId) ?? new Set<ReplyTo>();
  waiters.add(replyTo);
  state.waiters.set(requestId, waiters);
  state.requestOfWaiter.set(replyTo, requestId);
  state.toldPosition.delete(requestId);
  state.queueMoved = true;
}

/** The end of a request without a grant. What was chosen for it is free for the next. */
export function settleFailed(draft: Draft, request: Request, error: SimlockError, reason: string): void {
  settle(draft, request, "failed", error, reason);
}

export function settleCancelled(draft: Draft, request: Request): void {
  settle(draft, request, "cancelled", new SimlockError("REQUEST_CANCELLED", "The request was cancelled."), "cancelled");
}

function settle(draft: Draft, request: Request, to: "failed" | "cancelled", error: SimlockError, reason: string): void {
  draft.unclaim(request.id);
  draft.putRequest(
    { ...request, state: to, settledAt: draft.now.wall, failure: error.toWire() },
    events.rejected(request, reason),
  );
  answerWaiters(draft, request.id, { kind: "error", error });
}

export function cancel(draft: Draft, { replyTo, caller, requesterId }: Extract<Input, { kind: "cancel" }>): void {
  const { state } = draft;
  const id = state.openByRequester.get(requesterId);
  const request = id === undefined ? undefined : state.requests.get(id);
  if (request === undefined) {
    draft.reply(replyTo, { kind: "cancelled", result: "not-found" });
  } else if (request.principal !== caller.principal && caller.role !== "admin") {
    draft.reply(replyTo, {
      kind: "error",
      error: new SimlockError("FORBIDDEN", `The waiting request of ${requesterId} was made by somebody else.`),
    });
  } else {
    settleCancelled(draft, request);
    draft.reply(replyTo, { kind: "cancelled", result: "cancelled" });
  }
}

/** Nobody is left to take the grant: only a key can ask for it again. */
export function abandon(draft: Draft, waiters: readonly ReplyTo[]): void {
  const { state } = draft;
  for (const to of waiters) {
    const id = state.requestOfWaiter.get(to);
    if (id === undefined) continue;
    state.requestOfWaiter.delete(to);
    const left = state.waiters.get(id);
    left?.delete(to);
    if (left !== undefined && left.size > 0) continue;
    state.waiters.delete(id);
    const request = state.requests.get(id);
    if (request?.state === "open" && request.input.idempotencyKey === undefined) settleCancelled(draft, request);
  }
}

export function requestTimedOut(draft: Draft, request: Request): void {
  settleFailed(draft, request, queueTimeout(draft.state, request, requirementOf(request.input)), "timeout");
}

/** A device that was chosen for it could not be started. The second time is the last. */
export function startFailedFor(draft: Draft, request: Request, error: SimlockError): void {
  const failures = request.failures + 1;
  draft.unclaim(request.id);
  if (failures < 2 && error.code !== "TOOL_MISSING") {
    draft.putRequest({ ...request, failures });
    return;
  }
  const code = error.code === "TOOL_MISSING" ? "TOOL_MISSING" : "DEVICE_START_FAILED";
  settleFailed(
    draft,
    { ...request, failures },
    new SimlockError(
      code,
      `The device could not be started: ${error.message}`,
      error.hint === undefined ? {} : { hint: error.hint },
    ),
    "boot-failed",
  );
}

/** Those whose device can no longer be had are told so, instead of waiting for ever. */
export function refuseUnserviceable(draft: Draft): void {
  const { state } = draft;
  for (const line of [...state.lines.values()]) {
    if (isServiceable(state, line.requirement)) continue;
    for (;;) {
      const top = line.all.peek((id) => state.requests.get(id)?.state === "open");
      const request = top === undefined ? undefined : state.requests.get(top.item);
      if (request === undefined) break;
      settleFailed(draft, request, unserviceable(state, line.requirement), "unresolvable-spec");
    }
  }
}

export function reportStage(draft: Draft, request: Request, device: Device): void {
  const to = draft.state.waiters.get(request.id);
  const progress = stageOf(draft.state, draft.state.devices.get(device.id) ?? device);
  if (to === undefined || progress === undefined) return;
  draft.notice({ kind: "progress", to: [...to], requestId: request.id, progress });
}

function stageOf(state: State, device: Device): LeaseProgress | undefined {
  const estimate = state.catalogs.get(device.kind)?.estimate;
  switch (device.intent?.kind) {
    case "create":
      return { stage: "provisioning", etaMs: (estimate?.provisionMs ?? 0) + (estimate?.bootMs ?? 0) };
    case "boot":
      return { stage: "booting", etaMs: estimate?.bootMs ?? 0 };
    case "clean":
      return { stage: "reclaiming", etaMs: (estimate?.reclaimMs ?? 0) + (estimate?.bootMs ?? 0) };
    default:
      return undefined;
  }
}

/** Settled requests are kept for their keys, within a time and a number. */
export function forgetSettled(draft: Draft): void {
  const { state, now } = draft;
  let removed = 0;
  const over = state.settled.size - state.settings.lease.maxRequestRecords;
  for (const [id, due] of state.settled) {
    if ((due > now.wall && removed >= over) || removed === REMOVED_AT_ONCE) break;
    const request = state.requests.get(id);
    if (request === undefined) state.settled.delete(id);
    else draft.removeRequest(request);
    removed += 1;
  }
  const [oldest] = state.settled.values();
  if (oldest === undefined) state.deadlines.delete("settled");
  else state.deadlines.set("settled", now.mono + Math.max(1, oldest - now.wall));
}
