import { fromWireError, SimlockError, WireError } from "../contract/index.ts";

/** One line from the daemon. `noise` is no frame of the protocol: it is skipped, so that a fault in one frame costs one frame. */
export type Incoming =
  | { readonly kind: "answer"; readonly id: number; readonly payload: unknown }
  | { readonly kind: "refusal"; readonly id: number; readonly error: SimlockError }
  | { readonly kind: "push"; readonly push: string; readonly payload: unknown }
  | { readonly kind: "noise" };

const NOISE: Incoming = { kind: "noise" };

/** Checked by hand, since every chunk of a command's output comes this way; what a frame carries is parsed where it is used. */
export function readFrame(line: string): Incoming {
  let frame: unknown;
  try {
    frame = JSON.parse(line);
  } catch {
    return NOISE;
  }
  if (typeof frame !== "object" || frame === null) return NOISE;
  if ("push" in frame && typeof frame.push === "string") {
    return { kind: "push", push: frame.push, payload: "payload" in frame ? frame.payload : undefined };
  }
  // Our ids are numbers: an answer to anything else (`null`: a frame that the daemon could not read) is nobody's.
  if (!("id" in frame) || typeof frame.id !== "number") return NOISE;
  if ("ok" in frame && frame.ok === true) {
    return { kind: "answer", id: frame.id, payload: "payload" in frame ? frame.payload : undefined };
  }
  return { kind: "refusal", id: frame.id, error: refusalOf("error" in frame ? frame.error : undefined) };
}

function refusalOf(error: unknown): SimlockError {
  const wire = WireError.safeParse(error);
  if (wire.success) return fromWireError(wire.data);
  return new SimlockError(
    "UNKNOWN_DAEMON_ERROR",
    "The daemon refused the call in a form that this version can't read.",
  );
}
