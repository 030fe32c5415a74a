/**
 * client: the typed client (`simlock/client`) of a daemon, over its unix socket.
 */
export type * from "./types.ts";
export { connectSimlock, stopDaemon } from "./connect.ts";
export { identityOf } from "./identity.ts";
