import { AdbError } from "./adb-socket.ts";
import type { Log } from "./log.ts";

export interface ServerLinkPorts<Session> {
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly startServer: () => Promise<void>;
  /** One life of the server, from `up` until it throws. `young` when that server was started only now, so that it is still looking for its devices. */
  readonly session: (young: boolean, up: (session: Session) => void, signal: AbortSignal) => Promise<never>;
  /** A session that was up has ended. */
  readonly lost: (error: unknown) => void;
}

/** Milliseconds between attempts: the first, and the longest. */
const BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5_000;
const CONNECT_MS = 10_000;
/** Whoever ends a server mostly starts the next one, and two that start at once get in each other's way. */
const LEAVE_ALONE_MS = 10_000;

interface Attempt<Session> {
  readonly promise: Promise<Session>;
  readonly resolve: (session: Session) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Keeps one session with an adb server, and makes a new one when the server was restarted. It begins with the first call and ends with its signal.
 * A server is started at most once in the life of a link, and never killed: it is the user's.
 */
export class ServerLink<Session extends object> {
  readonly #ports: ServerLinkPorts<Session>;
  #current: Session | undefined;
  #attempt: Attempt<Session> = attempt();
  #loop: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #mayStart = false;
  #started = false;
  #lostAt = -Infinity;

  constructor(ports: ServerLinkPorts<Session>) {
    this.#ports = ports;
  }

  get current(): Session | undefined {
    return this.#current;
  }

  /** The session that is, or comes of an attempt made now. With `start`, that attempt may start the server. */
  async connect(start: boolean, signal?: AbortSignal): Promise<Session> {
    if (this.#current !== undefined) return this.#current;
    this.#mayStart ||= start;
    this.#loop ??= this.#run();
    this.#wake?.();
    const { promise } = this.#attempt;
    const limits = [this.#ports.signal, AbortSignal.timeout(CONNECT_MS), ...(signal === undefined ? [] : [signal])];
    return orAborted(promise, AbortSignal.any(limits));
  }

  /** Resolves when nothing of it runs any more, after its signal has fired. */
  async ended(): Promise<void> {
    this.#wake?.();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ports;
    let backoff = BACKOFF_MS;
    let young = false;
    while (!signal.aborted) {
      let error = await this.#once(young);
      if (signal.aborted) break;
      const wasUp = this.#current !== undefined;
      this.#current = undefined;
      if (wasUp) {
        this.#ports.log("info", "the adb server has gone", { reason: String(error) });
        this.#ports.lost(error);
        this.#lostAt = performance.now();
        backoff = BACKOFF_MS;
        young = true;
      } else {
        if (this.#mayBeStarted(error)) {
          const failure = await this.#start();
          young = true;
          if (failure === undefined) continue;
          error = failure;
        }
        const failed = this.#attempt;
        this.#attempt = attempt();
        failed.reject(error);
      }
      await this.#rest(backoff);
      backoff = Math.min(backoff * 2, MAX_BACKOFF_MS);
    }
    this.#current = undefined;
    this.#attempt.reject(new AdbError("broken", "the driver was closed"));
  }

  async #once(young: boolean): Promise<unknown> {
    try {
      return await this.#ports.session(
        young,
        (session) => {
          if (this.#current === session) return;
          this.#current = session;
          const done = this.#attempt;
          this.#attempt = attempt();
          done.resolve(session);
        },
        this.#ports.signal,
      );
    } catch (error) {
      return error;
    }
  }

  #mayBeStarted(error: unknown): boolean {
    if (this.#started || !this.#mayStart || performance.now() - this.#lostAt < LEAVE_ALONE_MS) return false;
    return error instanceof AdbError && error.kind === "no-server";
  }

  /** Why it could not be started. */
  async #start(): Promise<unknown> {
    this.#started = true;
    try {
      await this.#ports.startServer();
      return undefined;
    } catch (failure) {
      this.#ports.log("warn", "the adb server can't be started", { reason: String(failure) });
      return failure;
    }
  }

  async #rest(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}

function attempt<Session>(): Attempt<Session> {
  const made = Promise.withResolvers<Session>();
  // Nobody may be waiting for it.
  made.promise.catch(() => undefined);
  return made;
}

async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(new AdbError("timeout", "the adb server did not answer in time"));
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
