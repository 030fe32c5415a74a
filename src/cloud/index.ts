/**
 * cloud: phones of the Mobilerun platform. Its API as a table of endpoints with a typed client, and the tools that are built on it.
 */
export * from "./api/index.ts";
export { BackendError } from "./backend/index.ts";
export type { Backend, BackendCode } from "./backend/index.ts";
export type * as ports from "./backend/index.ts";
export { backendOverApi } from "./backend/over-api/index.ts";
export { ALL_TOOL_NAMES, buildCloudTools, cloudTools, createOriginals } from "./tools/index.ts";
export type { Clock, CloudTool, Original, Originals, ToolCtx } from "./tools/index.ts";
export { CLOUD_INSTRUCTIONS } from "./instructions.ts";
