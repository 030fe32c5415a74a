import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { BackendError } from "../backend/errors.ts";
import type { PictureAnswer, PictureRequest } from "./picture-worker.ts";
import type { Picture } from "./scaled-picture.ts";

/** Some 1,000 tokens for a phone's screen, and text on it still readable. */
export const DEFAULT_SIDE = 1280;
export const MAX_PICTURE_BYTES = 1024 * 1024;
/** They wait for each other: more than these would wait too long. */
const MOST_WAITING = 32;
/** A thread that nobody needs gives its memory back. */
const IDLE_MS = 30_000;
const LIMIT_MS = 20_000;

interface Waiting {
  readonly resolve: (picture: Picture) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Scales pictures in a thread of its own, one after the other: on the thread that serves, each would hold up everybody else for a third of a second. It starts with
 * the first picture, ends when it has been idle, keeps no process alive, and is replaced when it does not come back.
 */
class PictureThread {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #next = 0;
  #timer: NodeJS.Timeout | undefined;

  scale(bytes: Uint8Array, maxSide: number, maxBytes: number): Promise<Picture> {
    if (this.#waiting.size >= MOST_WAITING) {
      throw new BackendError("rate_limited", "Too many screenshots are being scaled.", {
        hint: "Try again in a few seconds.",
      });
    }
    const worker = (this.#worker ??= this.#start());
    this.#next += 1;
    const id = this.#next;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, bytes, maxSide, maxBytes } satisfies PictureRequest);
      if (this.#waiting.size === 1) this.#watch();
    });
  }

  #start(): Worker {
    const worker = new Worker(entry(), { execArgv: [] });
    worker.unref();
    worker.on("message", (answer: PictureAnswer) => this.#answered(answer));
    worker.on("error", () => this.#lost(worker));
    worker.on("exit", () => this.#lost(worker));
    return worker;
  }

  #answered(answer: PictureAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    this.#watch();
    if ("picture" in answer) waiting?.resolve(answer.picture);
    else waiting?.reject(new BackendError("upstream_error", `The screenshot cannot be read: ${answer.unreadable}.`));
  }

  /** Each answer starts the time anew: for the next one, or for being idle. */
  #watch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#lost(this.#worker), this.#waiting.size > 0 ? LIMIT_MS : IDLE_MS);
    this.#timer.unref();
  }

  #lost(worker: Worker | undefined): void {
    if (worker === undefined || worker !== this.#worker) return;
    this.#worker = undefined;
    clearTimeout(this.#timer);
    void worker.terminate();
    for (const { reject } of this.#waiting.values()) {
      reject(new BackendError("upstream_error", "The screenshot could not be scaled."));
    }
    this.#waiting.clear();
  }
}

const thread = new PictureThread();

/**
 * A picture for a model, scaled to its longer side.
 * @throws {BackendError} `upstream_error` for what is no PNG and no JPEG, or has too many pixels; `rate_limited` where too many wait
 */
export async function pictureOf(
  bytes: Uint8Array,
  maxSide = DEFAULT_SIDE,
  maxBytes = MAX_PICTURE_BYTES,
): Promise<Picture> {
  return thread.scale(bytes, maxSide, maxBytes);
}

/** Beside this file in the sources, and beside the bundle or above its chunks when built. */
function entry(): URL {
  const candidates = ["./picture-worker.ts", "./picture-worker.js", "../picture-worker.js"].map(
    (path) => new URL(path, import.meta.url),
  );
  const found = candidates.find((url) => existsSync(url));
  if (found === undefined) throw new Error(`the thread for pictures is at none of ${candidates.join(", ")}`);
  return found;
}
