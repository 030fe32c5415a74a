/**
 * tool: the form in which an MCP tool is declared, the effects that policies and annotations are computed from, the gate through which tools
 * are called, and the audit event. It knows no MCP SDK.
 */
export * from "./attachment.ts";
export type { ToolCallEvent, ToolCallSink } from "./audit.ts";
export * from "./auth.ts";
export * from "./billed-limit.ts";
export * from "./failure.ts";
export * from "./gate.ts";
export * from "./listed-schema.ts";
export * from "./listing.ts";
export * from "./policy.ts";
export * from "./profile-file.ts";
export * from "./profiles.ts";
export * from "./tool.ts";
