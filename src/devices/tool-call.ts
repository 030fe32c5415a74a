/** One short command of a platform tool: no shell, an environment of its own, a time limit and a limit on what it may print. */
export interface ToolCall {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  readonly stdin?: string | undefined;
}

export interface ToolAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs one to its end. The exec room's `callTool` is the real one; tests replay recorded answers. Throws `TOOL_MISSING` where the file is not
 * there and `TOOL_FAILED` where the command came to no end within its limits.
 */
export type CallTool = (call: ToolCall) => Promise<ToolAnswer>;
