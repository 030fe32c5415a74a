import {
  SimlockError,
  type LeaseId,
  type MintId,
  type PassthroughInput,
  type PassthroughResult,
} from "../contract/index.ts";
import { processIdentity, type RecordingSlot, type RunJournal } from "../exec/index.ts";
import type { Call, Peer } from "./call.ts";
import { endProcess, endsWithin, type CallerProcess } from "./caller-process.ts";
import type { LeaseWork } from "./lease-work.ts";
import { MAX_PASSTHROUGHS_PER_CONNECTION, PASSTHROUGH_START_MS } from "./limits.ts";
import { unknownLease, type Asked, type PreparedCommand } from "./prepare-command.ts";

export interface PassthroughPorts {
  readonly prepare: (asked: Asked, peer: Peer) => Promise<PreparedCommand>;
  readonly leaseStands: (leaseId: LeaseId) => boolean;
  readonly power: (leaseId: LeaseId, off: boolean) => Promise<void>;
  readonly work: LeaseWork;
  /** Notes the callers' processes, so that a daemon that starts again still waits for them. */
  readonly journal: RunJournal;
  readonly recording: RecordingSlot;
  readonly mint: MintId;
  readonly startMs?: number;
}

interface Run {
  readonly id: string;
  readonly leaseId: LeaseId;
  readonly peer: Peer | undefined;
  process: CallerProcess | undefined;
  readonly finish: () => void;
  /** Aborted when the run is over, or must be. */
  readonly over: AbortController;
}

/** How long a terminal waits for the recording slot. */
const RECORDING_WAIT_MS = 10_000;
/** Without a lease that ended, nobody is in a hurry to see a caller's process end. */
const FOREVER_MS = 2_147_483_647;
/** Each look costs a `ps` where there is no /proc. */
const FOLLOW_MS = 1000;

/**
 * Commands that a caller runs itself, on its own terminal: decided here, run there. The caller tells when its process begins and ends; a lease that
 * ends waits for it, and ends it when its time is over.
 */
export class Passthroughs {
  readonly #ports: PassthroughPorts;
  readonly #runs = new Map<string, Run>();

  constructor(ports: PassthroughPorts) {
    this.#ports = ports;
  }

  async open(input: PassthroughInput, call: Call): Promise<PassthroughResult> {
    const { peer } = call;
    const prepared = await this.#ports.prepare(
      {
        leaseId: input.leaseId,
        tool: input.tool,
        args: input.args,
        terminal: input.hasTerminal === true,
        // The caller's own standard input is at the command's hand.
        stdin: true,
        cwd: input.cwd,
      },
      peer,
    );
    const { verdict } = prepared;
    const result: PassthroughResult = {
      command: prepared.file,
      args: [...prepared.args],
      env: { ...prepared.env },
      cwd: prepared.cwd,
      flags: [...verdict.flags],
      hostPaths: verdict.hostPaths.map((use) => ({ ...use })),
    };
    if (input.dryRun === true) return result;
    if ([...this.#runs.values()].filter((run) => run.peer === peer).length >= MAX_PASSTHROUGHS_PER_CONNECTION) {
      throw new SimlockError(
        "EXEC_BUSY",
        `${MAX_PASSTHROUGHS_PER_CONNECTION} commands of this connection run already.`,
      );
    }
    const records = verdict.tool === "simctl" && verdict.flags.includes("I");
    const giveBack = records ? await this.#ports.recording.take({ timeoutMs: RECORDING_WAIT_MS }) : undefined;
    try {
      if (verdict.flags.includes("Y")) await this.#ports.power(input.leaseId, verdict.args[0] === "shutdown");
      if (!this.#ports.leaseStands(input.leaseId)) throw unknownLease(input.leaseId);
    } catch (error) {
      giveBack?.();
      throw error;
    }
    return { runId: this.#reserve(input.leaseId, peer, giveBack), ...result };
  }

  async start(runId: string, pid: number, peer: Peer): Promise<void> {
    const run = this.#runs.get(runId);
    if (run === undefined || run.peer !== peer) {
      throw new SimlockError(
        "UNKNOWN_LEASE",
        `There is no open run ${runId}: its lease has ended, or it was not begun in time.`,
      );
    }
    const identity = pid === process.pid ? undefined : await processIdentity(pid);
    if (identity === undefined) {
      // It has ended already, or never was: there is nothing to wait for.
      run.finish();
      return;
    }
    this.#follow(run, { pid, identity });
    this.#ports.journal.begin(journalName(run), pid);
  }

  end(runId: string, peer: Peer): void {
    const run = this.#runs.get(runId);
    if (run !== undefined && run.peer === peer) run.finish();
  }

  /** Takes up the processes that an earlier daemon knew of: they are nobody's children, and go on. */
  async takeUp(): Promise<void> {
    for (const entry of this.#ports.journal.entries()) {
      const named = /^(.+)~(run_\w+)$/.exec(entry.runId);
      const [, leaseId, id] = named ?? [];
      const { pid, identity } = entry;
      if (leaseId !== undefined && id !== undefined && identity !== undefined) {
        const process = { pid, identity };
        if (!(await endsWithin(process, 0))) {
          // It was written from a lease id, so it is one.
          this.#follow(this.#begin(id, leaseId as LeaseId, undefined, undefined), process);
          continue;
        }
      }
      this.#ports.journal.end(entry.runId);
    }
  }

  /** Looks after them no more. Their processes go on: they are the callers' own. */
  stop(): void {
    for (const run of this.#runs.values()) run.over.abort();
  }

  #reserve(leaseId: LeaseId, peer: Peer, giveBack: (() => void) | undefined): string {
    const id = this.#ports.mint("run");
    const run = this.#begin(id, leaseId, peer, giveBack);
    const unstarted = setTimeout(() => {
      if (run.process === undefined) run.finish();
    }, this.#ports.startMs ?? PASSTHROUGH_START_MS);
    // A process that was told of goes on without its caller; one that was not is never heard of again.
    const forget = peer.onGone(() => {
      if (run.process === undefined) run.finish();
    });
    run.over.signal.addEventListener("abort", () => {
      clearTimeout(unstarted);
      forget();
    });
    return id;
  }

  #begin(id: string, leaseId: LeaseId, peer: Peer | undefined, giveBack: (() => void) | undefined): Run {
    const over = new AbortController();
    const ended = new Promise<void>((done) => over.signal.addEventListener("abort", () => done(), { once: true }));
    const run: Run = {
      id,
      leaseId,
      peer,
      process: undefined,
      over,
      finish: () => {
        if (over.signal.aborted) return;
        this.#runs.delete(id);
        this.#ports.journal.end(journalName(run));
        giveBack?.();
        over.abort();
      },
    };
    this.#runs.set(id, run);
    this.#ports.work.add({
      leaseId,
      over: ended,
      // Its caller may have begun it by now: only its word, its end or the time tells.
      leaseEnded: () => undefined,
      end: () => void this.#endRun(run),
    });
    return run;
  }

  /** Notes when the process ends, also where its caller does not tell. */
  #follow(run: Run, process: CallerProcess): void {
    run.process = process;
    void endsWithin(process, FOREVER_MS, { signal: run.over.signal, pollMs: FOLLOW_MS }).then((ended) => {
      if (ended) run.finish();
    });
  }

  async #endRun(run: Run): Promise<void> {
    if (run.process !== undefined) await endProcess(run.process);
    run.finish();
  }
}

/** Its parts are letters, digits and "_": it is the same as a file's name. */
function journalName(run: Run): string {
  return `${run.leaseId}~${run.id}`;
}
