/**
 * client: the typed client (`simlock/client`) of a daemon, over its unix socket. docs/client.md is its manual.
 */
export type * from "./types.ts";
export { connectSimlock, stopDaemon } from "./connect.ts";
// What a program needs beside the client: where its daemon listens, and the errors that it throws.
export { homeOf, identityOf, layoutOf, SimlockError } from "../contract/index.ts";
export type {
  ErrorCode,
  LeaseGrant,
  LeaseProgress,
  LeaseRecord,
  OperationInput,
  OperationName,
  OperationOutput,
  PushPayload,
} from "../contract/index.ts";
