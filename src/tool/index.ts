/**
 * tool: the form in which an MCP tool is declared, the effects that policies and annotations are computed from, and the audit event.
 */
export * from "./tool.ts";
