import { join } from "node:path";
import {
  SimlockError,
  type Config,
  type LeaseId,
  type StateApplyInput,
  type StateProgress,
  type StateRecoverInput,
  type StateSnapshotInput,
} from "../contract/index.ts";
import type { ApplyPorts, DeviceReader, ExecutionReport, RunSimctl, Snapshot } from "../state/index.ts";
import type { Call, CallId, Peer } from "./call.ts";
import type { LeaseWork, Work } from "./lease-work.ts";
import { leasedSimctl } from "./leased-simctl.ts";
import { unknownLease, type Asked, type PreparedTarget } from "./prepare-command.ts";

export interface StatePorts {
  readonly prepare: (asked: Omit<Asked, "tool" | "args">, peer: Peer) => Promise<PreparedTarget>;
  /** Tells the decider that the holder is about to boot or shut down its device. Resolves when that is committed. */
  readonly power: (leaseId: LeaseId, off: boolean) => Promise<void>;
  readonly work: LeaseWork;
  /** The folder of the journals: one a run. */
  readonly journals: string;
  readonly exec: Config["exec"];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

interface Running {
  readonly peer: Peer;
  readonly callId: CallId;
  readonly control: AbortController;
}

/** A leased simulator as the state room sees it. */
interface Leased {
  readonly udid: string;
  readonly run: RunSimctl;
  readonly reader: DeviceReader;
}

/** Loaded when somebody first asks for it: a daemon that nobody asks starts without it. */
const stateRoom = async () => import("../state/index.ts");

/** Simulator state on leased devices: read and changed with the authority of the lease, and only while it stands. */
export class StateWork {
  readonly #ports: StatePorts;
  readonly #running = new Set<Running>();

  constructor(ports: StatePorts) {
    this.#ports = ports;
  }

  async snapshot(input: StateSnapshotInput, call: Call): Promise<Snapshot> {
    const { leaseId, domains, privacyOf, pasteboard } = input;
    const asked = {
      ...(domains === undefined ? {} : { domains }),
      ...(privacyOf === undefined ? {} : { privacyOf }),
      ...(pasteboard === undefined ? {} : { pasteboard }),
    };
    return this.#onDevice(leaseId, call, async ({ udid, reader }, signal) =>
      reader.snapshot({ udid, ...asked, signal }),
    );
  }

  async apply({ leaseId, plan, confirm, allowStale }: StateApplyInput, call: Call): Promise<ExecutionReport> {
    return this.#onDevice(leaseId, call, async (leased, signal) => {
      requireTarget(plan["targetUDID"], leased.udid);
      const how = { confirm, allowStale: allowStale === true, ...this.#options(call, signal) };
      return (await stateRoom()).applyPlan(plan, how, portsOf(leased));
    });
  }

  async recover({ leaseId, journal, how, confirm }: StateRecoverInput, call: Call): Promise<ExecutionReport> {
    return this.#onDevice(leaseId, call, async (leased, signal) => {
      const path = join(this.#ports.journals, journal);
      const { deviceOfJournal, resumeApply, rollbackApply } = await stateRoom();
      requireTarget(deviceOfJournal(path), leased.udid);
      const recover = how === "resume" ? resumeApply : rollbackApply;
      return recover(path, { confirm, ...this.#options(call, signal) }, portsOf(leased));
    });
  }

  /** Ends work of this caller: an apply then answers with the report of what was done. */
  cancel(peer: Peer, callId: CallId): boolean {
    const found = [...this.#running].find((running) => running.peer === peer && running.callId === callId);
    found?.control.abort(new SimlockError("CANCELLED", "The caller cancelled."));
    return found !== undefined;
  }

  stop(): void {
    for (const { control } of this.#running) {
      control.abort(
        new SimlockError("DAEMON_STOPPING", "The daemon stopped in the middle of it.", {
          hint: "The lease stands. Go on with the journal that the report names.",
        }),
      );
    }
  }

  async #onDevice<T>(
    leaseId: LeaseId,
    call: Call,
    work: (leased: Leased, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { maxConcurrent } = this.#ports.exec;
    if (this.#running.size >= maxConcurrent) {
      throw new SimlockError(
        "EXEC_BUSY",
        `${maxConcurrent} devices are worked on already: exec.maxConcurrent allows no more.`,
      );
    }
    const running: Running = { peer: call.peer, callId: call.id, control: new AbortController() };
    const { signal } = running.control;
    let over = (): void => undefined;
    const entry = workOf(leaseId, running, new Promise<void>((done) => (over = done)));
    this.#running.add(running);
    this.#ports.work.add(entry.work);
    const ungone = call.peer.onGone(() => running.control.abort(new SimlockError("CANCELLED", "The caller is gone.")));
    try {
      const leased = await this.#leased(leaseId, call.peer, signal);
      // Should the lease have ended while the device was looked for, nothing is begun.
      signal.throwIfAborted();
      entry.begun();
      return await work(leased, signal);
    } finally {
      ungone();
      this.#running.delete(running);
      over();
    }
  }

  async #leased(leaseId: LeaseId, peer: Peer, signal: AbortSignal): Promise<Leased> {
    const { power, environment } = this.#ports;
    const { device, driver, scratch, setting } = await this.#ports.prepare(
      { leaseId, terminal: false, stdin: false, cwd: undefined },
      peer,
    );
    if (setting.device.kind !== "simulator") {
      throw new SimlockError(
        "DEVICE_UNAVAILABLE",
        `Lease ${leaseId} is for no simulator: its state can't be declared.`,
        {
          hint: "Lease one with platform ios.",
        },
      );
    }
    const { udid } = setting.device;
    const tool = driver.command("simctl");
    const run = leasedSimctl({ leaseId, device, driver, udid, setting, tool, environment, scratch, power, signal });
    const { createReader } = await stateRoom();
    return { udid, run, reader: createReader(run, { developerDirectory: tool.env["DEVELOPER_DIR"] }) };
  }

  #options({ id, peer }: Call, signal: AbortSignal) {
    return {
      journalFolder: this.#ports.journals,
      signal,
      onProgress: (progress: StateProgress) => peer.push("state-progress", { requestId: id, progress }),
    };
  }
}

function portsOf({ run, reader }: Leased): ApplyPorts {
  return { run, reader };
}

function requireTarget(named: unknown, udid: string): void {
  if (named === udid) return;
  throw new SimlockError("BAD_REQUEST", `The plan is for ${String(named)}, and the lease is for ${udid}.`, {
    hint: "Plan anew for the leased simulator.",
  });
}

/** Refused while it has not begun, let go on for a while once it has. */
function workOf(leaseId: LeaseId, { control }: Running, over: Promise<void>): { work: Work; begun: () => void } {
  let began = false;
  const work: Work = {
    leaseId,
    over,
    leaseEnded() {
      if (!began) control.abort(unknownLease(leaseId));
    },
    end() {
      control.abort(
        new SimlockError("CANCELLED", "The lease had ended: it was let go on for a while, and ended then."),
      );
    },
  };
  return { work, begun: () => (began = true) };
}
