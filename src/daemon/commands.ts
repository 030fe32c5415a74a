import {
  MAX_FRAME_BYTES,
  SimlockError,
  type Config,
  type ExecInput,
  type ExecResult,
  type LeaseId,
  type MintId,
} from "../contract/index.ts";
import { AnswerWithNote, runCommand, type RecordingSlot, type RunJournal, type RunResult } from "../exec/index.ts";
import type { Call, CallId, Peer } from "./call.ts";
import type { LeaseWork, Work } from "./lease-work.ts";
import { OutputFlow } from "./output-flow.ts";
import { unknownLease, type Asked, type PreparedCommand } from "./prepare-command.ts";

export interface CommandPorts {
  readonly prepare: (asked: Asked, peer: Peer) => Promise<PreparedCommand>;
  /** Tells the decider that the holder is about to boot or shut down its device. Resolves when that is committed. */
  readonly power: (leaseId: LeaseId, off: boolean) => Promise<void>;
  readonly work: LeaseWork;
  readonly journal: RunJournal;
  readonly recording: RecordingSlot;
  readonly exec: Config["exec"];
  readonly mint: MintId;
}

interface Running {
  readonly peer: Peer;
  readonly callId: CallId;
  readonly control: AbortController;
  readonly flow: OutputFlow;
}

/** Commands on leased devices, from the decision what they may be to the end of their process groups. */
export class Commands {
  readonly #ports: CommandPorts;
  readonly #running = new Map<Peer, Map<CallId, Running>>();
  #count = 0;

  constructor(ports: CommandPorts) {
    this.#ports = ports;
  }

  async run(input: ExecInput, call: Call): Promise<ExecResult> {
    const { maxConcurrent } = this.#ports.exec;
    if (this.#count >= maxConcurrent) {
      throw new SimlockError(
        "EXEC_BUSY",
        `${maxConcurrent} commands run already: that is what exec.maxConcurrent allows.`,
      );
    }
    const running: Running = {
      peer: call.peer,
      callId: call.id,
      control: new AbortController(),
      flow: new OutputFlow(call.peer, call.id),
    };
    this.#enter(running);
    let over = (): void => undefined;
    const { work, begun } = workOf(input.leaseId, running, new Promise<void>((done) => (over = done)));
    this.#ports.work.add(work);
    try {
      return await this.#execute(input, running, begun);
    } finally {
      running.flow.end();
      this.#leave(running);
      over();
    }
  }

  /** Ends a command of this caller. Its call is answered `EXEC_CANCELLED`. */
  cancel(peer: Peer, callId: CallId): boolean {
    const running = this.#running.get(peer)?.get(callId);
    running?.control.abort();
    running?.flow.end();
    return running !== undefined;
  }

  credit(peer: Peer, callId: CallId, characters: number): void {
    this.#running.get(peer)?.get(callId)?.flow.credit(characters);
  }

  /** Ends them all: their calls are answered `DAEMON_STOPPING`. */
  stop(): void {
    for (const byCall of this.#running.values()) {
      for (const { control, flow } of byCall.values()) {
        control.abort(
          new SimlockError("DAEMON_STOPPING", "The daemon stopped and ended the command.", {
            hint: "The lease stands. What the command started on the device may still run there.",
          }),
        );
        flow.end();
      }
    }
  }

  async #execute(input: ExecInput, running: Running, begun: () => void): Promise<ExecResult> {
    const { peer, callId, control, flow } = running;
    const { timeoutMs } = this.#ports.exec;
    const prepared = await this.#ports.prepare(
      {
        leaseId: input.leaseId,
        tool: input.tool,
        args: input.args,
        terminal: false,
        stdin: input.stdin !== undefined,
        cwd: input.cwd,
      },
      peer,
    );
    const { verdict } = prepared;
    const records = verdict.tool === "simctl" && verdict.flags.includes("I");
    const giveBack = records ? await this.#ports.recording.take({ timeoutMs, signal: control.signal }) : undefined;
    // A reader that takes no output is waited for as long as the command may run, not longer.
    const late = setTimeout(() => flow.end(), timeoutMs + 1000);
    const runId = this.#ports.mint("run");
    try {
      if (verdict.flags.includes("Y")) await this.#ports.power(input.leaseId, verdict.args[0] === "shutdown");
      // Should the lease have ended while the device was looked for, the signal says so, and nothing is started.
      begun();
      const result = await runCommand({
        file: prepared.file,
        args: prepared.args,
        env: prepared.env,
        cwd: prepared.cwd,
        stdin: input.stdin,
        timeoutMs,
        interruptFirst: verdict.flags.includes("I"),
        signal: control.signal,
        onStarted: (pid) => {
          this.#ports.journal.begin(runId, pid);
          peer.push("started", { requestId: callId });
        },
        ...(input.keepLast === undefined
          ? { onOutput: (stream, chunk) => flow.push(stream, chunk) }
          : {
              keepLast: input.keepLast,
              onActivity: (lengths) => peer.push("activity", { requestId: callId, ...lengths }),
            }),
      });
      return answerOf(result, verdict.hints, input.keepLast !== undefined);
    } finally {
      clearTimeout(late);
      this.#ports.journal.end(runId);
      giveBack?.();
    }
  }

  #enter(running: Running): void {
    const byCall = this.#running.get(running.peer) ?? new Map<CallId, Running>();
    this.#running.set(running.peer, byCall);
    byCall.set(running.callId, running);
    this.#count += 1;
  }

  #leave(running: Running): void {
    const byCall = this.#running.get(running.peer);
    byCall?.delete(running.callId);
    if (byCall?.size === 0) this.#running.delete(running.peer);
    this.#count -= 1;
  }
}

/** One command as work on its lease: refused while it has not begun, let go on for a while once it has. */
function workOf(leaseId: LeaseId, { control, flow }: Running, over: Promise<void>): { work: Work; begun: () => void } {
  let state: "preparing" | "running" = "preparing";
  const work: Work = {
    leaseId,
    over,
    leaseEnded() {
      if (state === "preparing") control.abort(unknownLease(leaseId));
    },
    end() {
      control.abort(new AnswerWithNote("The lease had ended: the command was let go on for a while, and ended then."));
      flow.end();
    },
  };
  return { work, begun: () => (state = "running") };
}

/** What a result may take of its frame. */
const ROOM = MAX_FRAME_BYTES - 65_536;

function answerOf(result: RunResult, hints: readonly string[], kept: boolean): ExecResult {
  const notes = [...hints, ...result.notes];
  const base = { exitCode: result.exitCode, ...(notes.length === 0 ? {} : { notes }) };
  if (!kept) return base;
  const { stdout, stderr, truncated } = result;
  const answer = { ...base, stdout, stderr, truncated };
  // Control characters take six bytes each in JSON: the answer must still fit into one frame.
  if ((stdout.length + stderr.length) * 6 < ROOM) return answer;
  while (Buffer.byteLength(JSON.stringify(answer)) > ROOM) {
    answer.stdout = answer.stdout.slice(Math.ceil(answer.stdout.length / 2));
    answer.stderr = answer.stderr.slice(Math.ceil(answer.stderr.length / 2));
    answer.truncated = true;
  }
  return answer;
}
