import type { SimlockClient } from "../client/index.ts";
import { EXIT_LEASE_LOST, LeaseId, SimlockError, type LeaseGrant, type StatusLease } from "../contract/index.ts";
import type { Context } from "./context.ts";
import type { Lost } from "./hold.ts";
import type { Ask } from "./invocation.ts";
import { writeJson } from "./io.ts";
import { exitCodeOfSignal, onParentGone, onSignals, type EndingSignal } from "./signals.ts";

/** Tells the holder something: a JSON line on standard error. Nobody has to listen. */
export function sayer(context: Context): (line: object) => void {
  return (line) => void writeJson(context.io.stderr, line).catch(() => {});
}

/** Asks for a lease and shows its way through the queue. Told to stop meanwhile, it takes the request back and throws `CANCELLED`. */
export function leaseFor(context: Context, client: SimlockClient, ask: Ask, stopped: Stopped): Promise<LeaseGrant> {
  const say = sayer(context);
  return client.requestLease(ask, {
    signal: stopped.signal,
    onProgress: (progress) => say({ push: "progress", ...progress }),
  });
}

/** The last word about a lease that was lost, and the exit code that it means. */
export async function reportLost(context: Context, lost: Lost): Promise<number> {
  if (lost.kind === "unreachable") throw lost.error;
  await writeJson(context.io.stderr, { push: "lease-lost", ...lost.push });
  return EXIT_LEASE_LOST;
}

/** That we are to end: a signal came, or the process that started us is gone. */
export class Stopped {
  readonly #abort = new AbortController();
  readonly #off: readonly (() => void)[];
  readonly promise: Promise<"stopped">;
  by: EndingSignal | "parent" | undefined;

  constructor(watch: { readonly parent: boolean }) {
    const { promise, resolve } = Promise.withResolvers<"stopped">();
    this.promise = promise;
    const stop = (by: EndingSignal | "parent") => {
      this.by ??= by;
      this.#abort.abort();
      resolve("stopped");
    };
    this.#off = [onSignals(stop), ...(watch.parent ? [onParentGone(() => stop("parent"))] : [])];
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get exitCode(): number {
    return this.by === undefined || this.by === "parent" ? 0 : exitCodeOfSignal(this.by);
  }

  dispose(): void {
    for (const off of this.#off) off();
  }
}

/** The lease that a command means: the named one, `SIMLOCK_LEASE`, or the caller's only one. Throws `NO_LEASE`, `AMBIGUOUS`. */
export async function meantLease(context: Context, client: SimlockClient, named: string | undefined): Promise<LeaseId> {
  const given = named ?? (context.io.env["SIMLOCK_LEASE"] || undefined);
  if (given !== undefined) {
    const id = LeaseId.safeParse(given);
    if (id.success) return id.data;
    throw new SimlockError("USAGE", `"${given.slice(0, 80)}" is not a lease id.`);
  }
  const { leases } = await client.call("lease.list", {});
  const [only, ...others] = leases;
  if (only === undefined) {
    throw new SimlockError("NO_LEASE", `${context.principal} holds no lease.`, {
      hint: "Lease a device first: `simlock lease --platform ios --detach`. Another identity's lease: --agent-id.",
    });
  }
  if (others.length > 0) throw ambiguous(context, leases);
  return only.id;
}

function ambiguous(context: Context, leases: readonly StatusLease[]): SimlockError {
  const named = leases.map((lease) => `${lease.id} (${lease.deviceId})`).join(", ");
  return new SimlockError("AMBIGUOUS", `${context.principal} holds ${leases.length} leases: ${named}.`, {
    hint: "Name one: --lease <id>, or set SIMLOCK_LEASE.",
    details: {
      leases: leases.map(({ id, deviceId, ttlDeadline }) => ({ leaseId: id, deviceId, expiresAt: ttlDeadline })),
    },
  });
}
