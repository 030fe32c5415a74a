import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { SimlockClient } from "../../client/index.ts";
import { SimlockError, type LeaseGrant, type StateProgress } from "../../contract/index.ts";
import {
  applyPlan,
  createReader,
  deviceOfJournal,
  resumeApply,
  rollbackApply,
  simctlRunner,
  type DeviceReader,
  type ExecutionReport,
  type ReadRequest,
  type RunSimctl,
  type Snapshot,
} from "../../state/index.ts";
import type { Context } from "../context.ts";
import { xcrunOf } from "../drivers.ts";

export interface ApplyRequest {
  readonly plan: unknown;
  /** Judged where the plan is: only the literal `true` changes anything. */
  readonly confirm: unknown;
  readonly allowStale?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: StateProgress) => void) | undefined;
}

export interface RecoverRequest {
  /** A path, or the name of one of the home's. */
  readonly journal: string;
  readonly how: "resume" | "rollback";
  readonly confirm: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: StateProgress) => void) | undefined;
}

/**
 * The simulators of this machine for the state commands and tools. Those that Simlock manages are read and changed by the daemon, with the authority of the
 * caller's lease; the others are the user's own, and reached directly.
 */
export interface StateMachine {
  readonly reader: DeviceReader;
  /** The simulator that the caller has leased, which a profile may leave unnamed. */
  leased(): Promise<LeaseGrant | undefined>;
  apply(request: ApplyRequest): Promise<ExecutionReport>;
  recover(request: RecoverRequest): Promise<ExecutionReport>;
  close(): Promise<void>;
}

export interface StateMachineOptions {
  readonly context: Context;
  /** Who leases: the agent's identity. */
  readonly connect: (options: { readonly launch: boolean }) => Promise<SimlockClient>;
}

/** The names that we give: nobody else's simulator is called so. */
const OURS = /^simlock-dev_/u;

export function stateMachine({ context, connect }: StateMachineOptions): StateMachine {
  const { env } = context.io;
  const run: RunSimctl = simctlRunner({ xcrun: xcrunOf(context.home), env });
  const local = createReader(run, { developerDirectory: env["DEVELOPER_DIR"] });
  const ports = { run, reader: local };
  const journals = context.layout.stateJournals;
  const daemon = new Daemon(connect, context.layout);

  /** The lease through which a simulator is reached; undefined for one that is not Simlock's. Throws `NO_LEASE` for one that somebody else has. */
  async function leaseFor(udid: string, signal: AbortSignal | undefined): Promise<LeaseGrant | undefined> {
    const running = await daemon.leased({ launch: false });
    if (running?.device.driverDeviceId === udid) return running;
    const device = (await local.inventory(signal)).devices.find((one) => one.udid === udid);
    if (device === undefined || !OURS.test(device.name)) return undefined;
    const mine = await daemon.leased({ launch: true });
    if (mine?.device.driverDeviceId === udid) return mine;
    throw new SimlockError("NO_LEASE", `${device.name} is managed by Simlock, and you hold no lease of it.`, {
      hint: "Lease a simulator with lease_simulator or `simlock lease`, and leave the target out; or name one of your own.",
      details: { udid },
    });
  }

  async function snapshot(request: ReadRequest): Promise<Snapshot> {
    const { udid, signal, ...asked } = request;
    const lease = await leaseFor(udid, signal);
    if (lease === undefined) return local.snapshot(request);
    const client = await daemon.open();
    const { domains, privacyOf, pasteboard } = asked;
    const answer = await client.call(
      "state.snapshot",
      {
        leaseId: lease.lease.id,
        ...(domains === undefined ? {} : { domains: [...domains] }),
        ...(privacyOf === undefined ? {} : { privacyOf: [...privacyOf] }),
        ...(pasteboard === undefined ? {} : { pasteboard }),
      },
      { signal },
    );
    return answer.snapshot as unknown as Snapshot;
  }

  return {
    reader: { inventory: (signal) => local.inventory(signal), snapshot },
    leased: () => daemon.leased({ launch: true }),
    async apply({ plan, confirm, allowStale, signal, onProgress }) {
      const udid = targetOf(plan);
      const lease = udid === undefined ? undefined : await leaseFor(udid, signal);
      if (lease === undefined) {
        return applyPlan(plan, { confirm, allowStale: allowStale === true, ...options(signal, onProgress) }, ports);
      }
      const client = await daemon.open();
      const { report } = await client.applyState(
        "state.apply",
        {
          leaseId: lease.lease.id,
          plan: plan as Record<string, unknown>,
          ...(confirm === undefined ? {} : { confirm }),
          ...(allowStale === undefined ? {} : { allowStale }),
        },
        { signal, onProgress },
      );
      return report as unknown as ExecutionReport;
    },
    async recover({ journal, how, confirm, signal, onProgress }) {
      const path = journal.includes("/") ? resolve(context.io.cwd, journal) : join(journals, journal);
      const lease = await leaseFor(deviceOfJournal(path), signal);
      if (lease === undefined) {
        const recover = how === "resume" ? resumeApply : rollbackApply;
        return recover(path, { confirm, ...options(signal, onProgress) }, ports);
      }
      const client = await daemon.open();
      const { report } = await client.applyState(
        "state.recover",
        { leaseId: lease.lease.id, journal: basename(path), how, ...(confirm === undefined ? {} : { confirm }) },
        { signal, onProgress },
      );
      return report as unknown as ExecutionReport;
    },
    close: () => daemon.close(),
  };

  function options(signal: AbortSignal | undefined, onProgress: ((progress: StateProgress) => void) | undefined) {
    return {
      journalFolder: journals,
      ...(signal === undefined ? {} : { signal }),
      ...(onProgress === undefined ? {} : { onProgress }),
    };
  }
}

/** The device that a plan says it is for. Whether that is one at all, the apply judges. */
function targetOf(plan: unknown): string | undefined {
  const udid = typeof plan === "object" && plan !== null ? Reflect.get(plan, "targetUDID") : undefined;
  return typeof udid === "string" ? udid : undefined;
}

/** One connection, opened when it is first needed. */
class Daemon {
  readonly #connect: StateMachineOptions["connect"];
  readonly #layout: Pick<Context["layout"], "database">;
  #client: Promise<SimlockClient> | undefined;

  constructor(connect: StateMachineOptions["connect"], layout: Pick<Context["layout"], "database">) {
    this.#connect = connect;
    this.#layout = layout;
  }

  async open(launch = true): Promise<SimlockClient> {
    const opening = this.#client ?? this.#connect({ launch });
    this.#client = opening;
    try {
      const client = await opening;
      client.onConnectionLost(() => (this.#client = undefined));
      return client;
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
  }

  /** A lease outlives a daemon that was killed or stopped, which is started for it where asked; in a home that never had one, there is none. */
  async leased({ launch }: { readonly launch: boolean }): Promise<LeaseGrant | undefined> {
    try {
      const client = await this.open(launch && existsSync(this.#layout.database));
      const { grant } = await client.call("lease.adopt", {});
      return grant;
    } catch (error) {
      if (error instanceof SimlockError && error.code === "DAEMON_UNREACHABLE") return undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    await (await this.#client?.catch(() => undefined))?.close();
  }
}
