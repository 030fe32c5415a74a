import type { BoundProcess, Input } from "../leasing/index.ts";
import { BOUND_POLL_MS } from "./limits.ts";

export interface BoundPorts {
  /** Every process that a lease or a waiting request is bound to. */
  readonly bound: () => readonly BoundProcess[];
  readonly isAlive: (process: BoundProcess) => Promise<boolean> | boolean;
  readonly submit: (input: Input) => void;
  readonly pollMs?: number;
}

/** Watches the processes that leases are bound to, by pid and start, while there are any. */
export class BoundProcesses {
  readonly #ports: BoundPorts;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;

  constructor(ports: BoundPorts) {
    this.#ports = ports;
  }

  /** Call it after each decision: it starts and ends the polling. */
  update(): void {
    const any = this.#ports.bound().length > 0;
    if (any && this.#timer === undefined) {
      this.#timer = setInterval(() => void this.#look(), this.#ports.pollMs ?? BOUND_POLL_MS);
      this.#timer.unref();
    } else if (!any) this.stop();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      for (const process of this.#ports.bound()) {
        if (await this.#ports.isAlive(process)) continue;
        this.#ports.submit({ kind: "holder-gone", pid: process.pid, startedAt: process.startedAt });
      }
    } finally {
      this.#looking = false;
    }
  }
}
