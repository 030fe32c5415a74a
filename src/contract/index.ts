/**
 * contract: what may be asked of Simlock and what it answers. Operations, pushes, events, roles and the configuration as zod schemas; the one
 * table of error codes; the frames of the wire. Imports no other room.
 */
export * from "./config.ts";
export * from "./device.ts";
export * from "./errors.ts";
export * from "./events.ts";
export * from "./exec.ts";
export * from "./home.ts";
export * from "./identity.ts";
export * from "./ids.ts";
export * from "./lease.ts";
export * from "./operations.ts";
export * from "./pushes.ts";
export * from "./state.ts";
export * from "./status.ts";
export * from "./wire.ts";
