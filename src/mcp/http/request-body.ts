import type { IncomingMessage } from "node:http";

export type Body =
  | { readonly kind: "bytes"; readonly bytes: Buffer }
  | { readonly kind: "too-large" }
  /** The client went away, or the time was up. */
  | { readonly kind: "broken" };

/** Whether a body that says its length is over the limit: it need not be read to be refused. */
export function declaredTooLarge(incoming: IncomingMessage, limitBytes: number): boolean {
  return Number(incoming.headers["content-length"] ?? 0) > limitBytes;
}

/** Reads a body up to a limit and stops reading beyond it. */
export function readBody(incoming: IncomingMessage, limitBytes: number, signal: AbortSignal): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let received = 0;
    const settle = (body: Body) => {
      incoming.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken);
      signal.removeEventListener("abort", onBroken);
      resolve(body);
    };
    const onData = (chunk: Buffer) => {
      received += chunk.length;
      if (received > limitBytes) {
        incoming.pause();
        settle({ kind: "too-large" });
      } else chunks.push(chunk);
    };
    const onEnd = () =>
      settle({
        kind: "bytes",
        bytes: chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks),
      });
    const onBroken = () => settle({ kind: "broken" });
    if (signal.aborted) return onBroken();
    incoming.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken);
    signal.addEventListener("abort", onBroken, { once: true });
  });
}
