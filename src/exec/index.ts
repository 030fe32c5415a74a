/**
 * exec: one command on one device. The grammar of each device tool decides what a command may be and writes its arguments anew; the runner
 * starts it in a process group of its own, drains it within bounds, and ends it.
 */
export type * from "./types.ts";
export { callTool, type ToolAnswer, type ToolCall } from "./call-tool.ts";
export { decideCommand, readsForwards } from "./decide.ts";
export { toolEnvironment } from "./environment.ts";
export { confinedPaths, localPaths, protectedRoots } from "./paths.ts";
export { isAlive, processIdentity } from "./process-identity.ts";
export { SharedRead } from "./shared-read.ts";
export {
  commandFailure,
  failureOf,
  firstLines,
  RESTART_CORE_SIMULATOR,
  toolchainFailure,
  xcodeMismatch,
  type Failure,
} from "./simctl-failures.ts";
export {
  parseDevices,
  parseKinds,
  parseListing,
  runtimeName,
  type ApplePlatform,
  type DeviceType,
  type Runtime,
  type RunState,
  type SimDevice,
} from "./simctl-listing.ts";
export { Slots } from "./slots.ts";
export { toError } from "./refusal.ts";
export { RecordingSlot } from "./recording-slot.ts";
export { AnswerWithNote, runCommand } from "./run-command.ts";
export { endLeftovers, RunJournal } from "./run-journal.ts";
