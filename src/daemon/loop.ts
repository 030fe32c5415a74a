import { SimlockError, type EventEnvelope, type EventFact, type MintId } from "../contract/index.ts";
import type { Answer, Decision, Input, Notice, Now, ReplyTo } from "../leasing/index.ts";
import type { Store } from "../store/index.ts";
import type { Call } from "./call.ts";
import type { Clock } from "./clock.ts";
import { MAX_BATCH, PROGRESS_INTERVAL_MS } from "./limits.ts";

/** What the loop needs of the leasing room, bound to its state. */
export interface Decider {
  decide(inputs: readonly Input[], now: Now, mint: MintId): Decision;
  nextDeadline(): number | undefined;
  queueProgress(): readonly Notice[];
}

/** What a committed decision lets out, beside its replies. */
export interface Outlet {
  /** Something to tell. `originOf`: the call that waits for this answer. It is there until its reply is let out, which comes after the notices. */
  notice(notice: Notice, originOf: (replyTo: ReplyTo) => Call | undefined): void;
  committed(decision: Decision): void;
  published(events: readonly EventEnvelope[]): void;
}

export interface LoopPorts {
  readonly decider: Decider;
  readonly store: Pick<Store, "commit">;
  readonly clock: Clock;
  readonly mint: MintId;
  readonly outlet: Outlet;
  /** A decision or its commit failed: nothing may be said any more, and the process must end. */
  readonly fatal: (error: unknown) => void;
}

export interface Asked {
  readonly replyTo: ReplyTo;
  readonly answer: Promise<Answer>;
}

interface Waiter {
  readonly origin: Call | undefined;
  readonly settle: (answer: Answer) => void;
  readonly refuse: (error: SimlockError) => void;
}

const MAX_TIMER_MS = 2_147_483_647;

/**
 * The one place where state changes. Inputs that arrive in the same turn are decided one after another and committed together; replies, notices
 * and effects are let out only once the commit stands.
 */
export class DecisionLoop {
  readonly #ports: LoopPorts;
  readonly #waiters = new Map<ReplyTo, Waiter>();
  #queue: Input[] = [];
  #nextReply: ReplyTo = 1;
  #scheduled = false;
  #state: "running" | "stopped" = "running";
  #timer: NodeJS.Timeout | undefined;
  #timerAt: number | undefined;
  #progressTimer: NodeJS.Timeout | undefined;
  #idle: (() => void)[] = [];

  constructor(ports: LoopPorts) {
    this.#ports = ports;
  }

  submit(input: Input): void {
    if (this.#state === "stopped") return;
    this.#queue.push(input);
    this.#schedule();
  }

  /** An input that is answered. The answer never comes when the loop fails: the process ends then. */
  ask(make: (replyTo: ReplyTo) => Input, origin?: Call): Asked {
    const replyTo = this.#nextReply++;
    const answer = new Promise<Answer>((settle, refuse) => {
      if (this.#state === "stopped") refuse(stopping());
      else this.#waiters.set(replyTo, { origin, settle, refuse });
    });
    // A caller that is gone asks for its answer no more: that it fails then is nobody's fault.
    answer.catch(() => undefined);
    this.submit(make(replyTo));
    return { replyTo, answer };
  }

  /** Nobody waits for these answers any more. */
  abandon(waiters: readonly ReplyTo[]): void {
    const open = waiters.filter((replyTo) => this.#waiters.has(replyTo));
    if (open.length > 0) this.submit({ kind: "abandoned", waiters: open });
  }

  /** Resolves when every input so far has been decided and committed. */
  async settled(): Promise<void> {
    if (this.#queue.length === 0 || this.#state === "stopped") return;
    await new Promise<void>((done) => this.#idle.push(done));
  }

  /** Writes events that no decision makes: the daemon's own. */
  record(events: readonly EventFact[]): void {
    if (this.#state === "stopped") return;
    try {
      this.#ports.outlet.published(this.#ports.store.commit([], events, this.#ports.clock.now()));
    } catch (error) {
      this.#halt();
      this.#ports.fatal(error);
    }
  }

  /** Calls that wait for longer than one decision (requests in the queue) are answered `DAEMON_STOPPING`, and taken back. */
  async dismiss(): Promise<void> {
    await this.settled();
    const open = [...this.#waiters.keys()];
    for (const waiter of this.#waiters.values()) waiter.refuse(stopping());
    this.#waiters.clear();
    if (open.length > 0) this.submit({ kind: "abandoned", waiters: open });
  }

  /** Decides nothing any more. Calls that still wait are answered `DAEMON_STOPPING`. */
  stop(): void {
    this.#halt();
    for (const waiter of this.#waiters.values()) waiter.refuse(stopping());
    this.#waiters.clear();
  }

  #halt(): void {
    this.#state = "stopped";
    this.#queue = [];
    clearTimeout(this.#timer);
    clearTimeout(this.#progressTimer);
    this.#release();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // After the poll phase: whatever the sockets brought in this turn is decided together.
    setImmediate(() => {
      this.#scheduled = false;
      this.#turn();
    });
  }

  #turn(): void {
    if (this.#state === "stopped") return;
    const inputs = this.#queue.splice(0, MAX_BATCH);
    if (inputs.length > 0 && !this.#decide(inputs)) return;
    if (this.#queue.length > 0) this.#schedule();
    else this.#release();
    this.#arm();
  }

  /** False when it failed: then nothing was let out, and nothing will be. */
  #decide(inputs: readonly Input[]): boolean {
    let decision: Decision;
    let events: readonly EventEnvelope[] = [];
    try {
      const now = this.#ports.clock.now();
      decision = this.#ports.decider.decide(inputs, now, this.#ports.mint);
      if (decision.changes.length > 0 || decision.events.length > 0) {
        events = this.#ports.store.commit(decision.changes, decision.events, now);
      }
    } catch (error) {
      this.#halt();
      this.#ports.fatal(error);
      return false;
    }
    this.#letOut(decision, events);
    for (const input of inputs) if (input.kind === "abandoned") this.#forget(input.waiters);
    return true;
  }

  #letOut(decision: Decision, events: readonly EventEnvelope[]): void {
    // Notices first: progress that came after its answer would be progress of nothing.
    for (const notice of decision.notices) this.#notice(notice);
    for (const { to, answer } of decision.replies) {
      this.#waiters.get(to)?.settle(answer);
      this.#waiters.delete(to);
    }
    this.#ports.outlet.committed(decision);
    if (events.length > 0) this.#ports.outlet.published(events);
    if (decision.changes.length > 0) this.#tellQueue();
  }

  /** Who was abandoned gets no answer any more; one that came in the same decision was the last word. */
  #forget(abandoned: readonly ReplyTo[]): void {
    for (const replyTo of abandoned) {
      this.#waiters.get(replyTo)?.refuse(new SimlockError("CANCELLED", "The caller went away."));
      this.#waiters.delete(replyTo);
    }
  }

  #notice(notice: Notice): void {
    this.#ports.outlet.notice(notice, (replyTo) => this.#waiters.get(replyTo)?.origin);
  }

  /** Positions in the queue: at once when it has been quiet, else when the interval is over. */
  #tellQueue(): void {
    if (this.#progressTimer !== undefined) return;
    const tell = (): void => {
      for (const notice of this.#ports.decider.queueProgress()) this.#notice(notice);
    };
    tell();
    this.#progressTimer = setTimeout(() => {
      this.#progressTimer = undefined;
      if (this.#state === "running") tell();
    }, PROGRESS_INTERVAL_MS);
    this.#progressTimer.unref();
  }

  #release(): void {
    const idle = this.#idle;
    this.#idle = [];
    for (const done of idle) done();
  }

  /** One timer, for the next thing that a tick would do. */
  #arm(): void {
    const at = this.#ports.decider.nextDeadline();
    if (at === this.#timerAt && this.#timer !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAt = at;
    if (at === undefined) return;
    // A timer may fire up to a millisecond early: rounding up keeps it from firing twice.
    const wait = Math.min(Math.max(Math.ceil(at - this.#ports.clock.now().mono), 0) + 1, MAX_TIMER_MS);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.submit({ kind: "tick" });
    }, wait);
  }
}

function stopping(): SimlockError {
  return new SimlockError("DAEMON_STOPPING", "The daemon is stopping.");
}
