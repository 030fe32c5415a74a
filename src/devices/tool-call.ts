import type { ToolAnswer, ToolCall } from "../exec/index.ts";

/** How a driver runs one short command: the exec room's `callTool`; tests replay recorded answers. */
export type CallTool = (call: ToolCall) => Promise<ToolAnswer>;
