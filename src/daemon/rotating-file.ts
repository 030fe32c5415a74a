import { closeSync, fstatSync, openSync, renameSync, write, writeSync } from "node:fs";

/** Lines that wait for a slow disk are kept up to this; then the oldest are dropped, and their number is told. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

/**
 * A file of lines with one old generation: at `rotateBytes` the file becomes `<path>.1`. Writing never makes the caller wait for the disk, and a
 * disk that fails never stops the daemon: the log is not what it lives for.
 */
export class RotatingFile {
  readonly #path: string;
  readonly #rotateBytes: number;
  #file: number | undefined;
  #size = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #underWay: Buffer | undefined;
  #settled: (() => void) | undefined;

  constructor(path: string, rotateBytes: number) {
    this.#path = path;
    this.#rotateBytes = rotateBytes;
    this.#open();
  }

  write(line: string): void {
    const bytes = Buffer.from(line, "utf8");
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    while (this.#waitingBytes > MAX_WAITING_BYTES && this.#waiting.length > 1) {
      this.#waitingBytes -= this.#waiting.shift()?.length ?? 0;
      this.#dropped += 1;
    }
    if (this.#underWay === undefined) this.#next();
  }

  /** Writes all that waits, now: for the last words of a process. */
  flushSync(): void {
    // A write that is under way may or may not have reached the file; a line told twice is better than one that is lost.
    const rest = this.#take(this.#underWay === undefined ? [] : [this.#underWay]);
    if (rest === undefined || this.#file === undefined) return;
    try {
      writeSync(this.#file, rest);
      this.#size += rest.length;
    } catch {
      // Nobody is left to tell.
    }
  }

  /** Closes once nothing is under way: a write to a closed descriptor could land in whatever file got its number. */
  async close(): Promise<void> {
    while (this.#underWay !== undefined) await new Promise<void>((done) => (this.#settled = done));
    this.flushSync();
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #next(): void {
    if (this.#size >= this.#rotateBytes) this.#rotate();
    const file = this.#file;
    const batch = this.#take([]);
    if (file === undefined || batch === undefined) return;
    this.#underWay = batch;
    write(file, batch, (error, written) => {
      if (this.#underWay === batch) this.#underWay = undefined;
      if (error === null) this.#size += written;
      else this.#dropped += 1;
      if (this.#underWay === undefined && this.#waiting.length > 0) this.#next();
      else this.#settled?.();
    });
  }

  /** What waits, as one piece, and nothing waits any more. */
  #take(before: readonly Buffer[]): Buffer | undefined {
    const parts = [...before];
    this.#underWay = undefined;
    if (this.#dropped > 0) {
      parts.push(
        Buffer.from(
          `${JSON.stringify({ level: "warn", module: "log", message: "lines were dropped", dropped: this.#dropped })}\n`,
        ),
      );
      this.#dropped = 0;
    }
    parts.push(...this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    return parts.length === 0 ? undefined : Buffer.concat(parts);
  }

  #open(): void {
    try {
      this.#file = openSync(this.#path, "a", 0o600);
      this.#size = fstatSync(this.#file).size;
    } catch {
      this.#file = undefined;
    }
  }

  #rotate(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    try {
      renameSync(this.#path, `${this.#path}.1`);
    } catch {
      // Somebody moved it: go on with a new one.
    }
    this.#open();
  }
}
