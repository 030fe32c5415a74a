import { z } from "zod";
import { OutputStream } from "./exec.ts";
import { EventEnvelope } from "./events.ts";
import { DeviceId, LeaseId } from "./ids.ts";
import { LeaseProgress } from "./lease.ts";
import { StateProgress } from "./state.ts";

/** The id of the frame that a push belongs to. */
const frame = z.object({ requestId: z.union([z.string(), z.number()]) });

/** What the daemon says without being asked. Request-scoped pushes carry the id of the request's frame. */
export const PUSHES = {
  progress: frame.extend({ progress: LeaseProgress }),
  /** The command was started: from here on it is answered with an exit code or `EXEC_TIMEOUT`. */
  started: frame,
  output: frame.extend({ stream: OutputStream, chunk: z.string() }),
  /** With `keepLast`: how many characters each stream has brought so far, at most once a second while output arrives. */
  activity: frame.extend({ stdout: z.number(), stderr: z.number() }),
  "state-progress": frame.extend({ progress: StateProgress }),
  "lease-lost": z.object({
    leaseId: LeaseId,
    deviceId: DeviceId,
    /** `released`: by its owner, on another connection. */
    reason: z.enum(["expired", "killed", "device-lost", "holder-gone", "released"]),
  }),
  "device-unhealthy": z.object({ leaseId: LeaseId, deviceId: DeviceId, reason: z.string() }),
  "device-recovered": z.object({ leaseId: LeaseId, deviceId: DeviceId, attempts: z.int() }),
  event: z.object({ subscriptionId: z.string(), event: EventEnvelope }),
} as const;

export type PushKind = keyof typeof PUSHES;
export type PushPayload<K extends PushKind> = z.infer<(typeof PUSHES)[K]>;
export type Push = { [K in PushKind]: { readonly push: K; readonly payload: PushPayload<K> } }[PushKind];

/** What a client says without wanting an answer: it can take this many more characters of a command's output. */
export const CLIENT_PUSHES = { credit: frame.extend({ characters: z.int().min(1) }) } as const;
/** How much output may be under way to a client that has not asked for more, in characters. */
export const INITIAL_OUTPUT_CREDIT = 1_048_576;
