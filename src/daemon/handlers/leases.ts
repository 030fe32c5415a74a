import { SimlockError, type ErrorCode, type ParsedInput } from "../../contract/index.ts";
import { processIdentity } from "../../exec/index.ts";
import {
  findLease,
  grantOfLease,
  leaseOfRequester,
  leaseRecords,
  type Answer,
  type BoundProcess,
} from "../../leasing/index.ts";
import type { Call, Handlers, Peer } from "../call.ts";
import { answered, type Core } from "../core.ts";

type LeaseHandlers = Pick<
  Handlers,
  | "lease.request"
  | "lease.cancel"
  | "lease.renew"
  | "lease.release"
  | "lease.release-all"
  | "lease.list"
  | "lease.adopt"
>;

export function leaseHandlers(core: Core): LeaseHandlers {
  const { loop, state } = core;
  return {
    "lease.request": async (input, call) => request(core, input, call),
    "lease.cancel": async ({ requesterId }, { peer }) => {
      const asked = loop.ask((replyTo) => ({
        kind: "cancel",
        replyTo,
        caller: callerOf(peer),
        requesterId: requesterId ?? peer.principal,
      }));
      return { result: answered(await asked.answer, "cancelled").result };
    },
    "lease.renew": async ({ leaseId, ttlMs }, { peer }) => {
      const asked = loop.ask((replyTo) => ({ kind: "renew", replyTo, caller: callerOf(peer), leaseId, ttlMs }));
      return answered(await asked.answer, "lease").lease;
    },
    "lease.release": async ({ leaseId, force }, call) => {
      const caller = callerOf(call.peer);
      const asked = loop.ask((replyTo) => ({ kind: "release", replyTo, caller, leaseId, force: force === true }), call);
      answered(await asked.answer, "released");
      return { leaseId };
    },
    "lease.release-all": async (_, call) => {
      const caller = callerOf(call.peer);
      const asked = loop.ask((replyTo) => ({ kind: "release-all", replyTo, caller }), call);
      return { leaseIds: [...answered(await asked.answer, "released").leaseIds] };
    },
    "lease.list": (_, { peer }) => ({ leases: leaseRecords(state, callerOf(peer)) }),
    "lease.adopt": ({ requesterId, leaseId }, { peer }) => {
      const lease =
        leaseId === undefined ? leaseOfRequester(state, requesterId ?? peer.principal) : findLease(state, leaseId);
      if (lease === undefined || lease.ownerId !== peer.principal) return {};
      if (requesterId !== undefined && lease.requesterId !== requesterId) return {};
      const grant = grantOfLease(state, lease);
      return grant === undefined ? {} : { grant };
    },
  };
}

/** What a newer reading of the catalog could turn into a grant. */
const UNRESOLVED: ReadonlySet<ErrorCode> = new Set(["NO_DRIVER", "UNKNOWN_MODEL", "RUNTIME_MISSING"]);

async function request(core: Core, input: ParsedInput<"lease.request">, call: Call) {
  const boundTo = input.bindPid === undefined ? undefined : await boundProcess(input.bindPid, call.peer);
  let answer = await ask(core, input, boundTo, call);
  if (answer.kind === "error" && UNRESOLVED.has(answer.error.code) && !call.peer.gone) {
    // Somebody may have installed a runtime since: look once more before saying no.
    if (await core.catalogs.refresh(input.platform)) answer = await ask(core, input, boundTo, call);
    if (answer.kind === "error" && answer.error.code === "NO_DRIVER") {
      throw core.catalogs.errorOf(input.platform) ?? answer.error;
    }
  }
  const { grant } = answered(answer, "grant");
  if (call.peer.gone) core.loop.submit({ kind: "undelivered", leaseId: grant.lease.id });
  return grant;
}

async function ask(
  core: Core,
  input: ParsedInput<"lease.request">,
  boundTo: BoundProcess | undefined,
  call: Call,
): Promise<Answer> {
  const { loop } = core;
  const asked = loop.ask(
    (replyTo) => ({ kind: "request", replyTo, caller: callerOf(call.peer), input, boundTo }),
    call,
  );
  const forget = call.peer.onGone(() => loop.abandon([asked.replyTo]));
  try {
    return await asked.answer;
  } finally {
    forget();
  }
}

async function boundProcess(pid: number, peer: Peer): Promise<BoundProcess> {
  const startedAt = peer.local ? await processIdentity(pid) : undefined;
  if (startedAt === undefined) {
    throw new SimlockError("BAD_REQUEST", `bindPid: there is no process ${pid} on this machine.`);
  }
  return { pid, startedAt };
}

function callerOf({ principal, role }: Peer): { readonly principal: string; readonly role: Peer["role"] } {
  return { principal, role };
}
