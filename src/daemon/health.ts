import { SimlockError } from "../contract/index.ts";

/** Where the daemon is in its life. Calls wait here until it runs. */
export class Health {
  #state: "starting" | "running" | "failed" = "starting";
  #stopping = false;
  #settled: PromiseWithResolvers<void> = Promise.withResolvers<void>();

  constructor() {
    // Nobody may be waiting when it fails.
    this.#settled.promise.catch(() => undefined);
  }

  get state(): "starting" | "running" | "failed" {
    return this.#state;
  }
  get stopping(): boolean {
    return this.#stopping;
  }

  /** Resolves when the daemon runs; undefined when it does already. Rejects with `DAEMON_STARTUP_FAILED` or `DAEMON_STOPPING` when it never will. */
  ready(): Promise<void> | undefined {
    return this.#state === "running" ? undefined : this.#settled.promise;
  }

  run(): void {
    this.#state = "running";
    this.#settled.resolve();
  }

  fail(cause: unknown): void {
    this.#state = "failed";
    const why = cause instanceof SimlockError ? ` ${cause.message}` : "";
    this.#settled.reject(new SimlockError("DAEMON_STARTUP_FAILED", `The daemon could not start.${why}`, { cause }));
  }

  stop(): void {
    this.#stopping = true;
    this.#settled.reject(new SimlockError("DAEMON_STOPPING", "The daemon is stopping."));
  }
}
