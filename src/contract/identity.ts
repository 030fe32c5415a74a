/**
 * Who the caller is: an explicit id, `SIMLOCK_AGENT_ID`, the agent's session variable, else what the frontend falls back on
 * (`user:<uid>` for the CLI, `mcp:<pid>` for MCP).
 */
export function identityOf(
  env: Readonly<Record<string, string | undefined>>,
  options: { explicit?: string | undefined; fallback: string },
): string {
  const claude = env["CLAUDE_CODE_SESSION_ID"];
  const codex = env["CODEX_SESSION_ID"];
  return (
    options.explicit ||
    env["SIMLOCK_AGENT_ID"] ||
    (claude ? `claude-code:${claude}` : undefined) ||
    (codex ? `codex:${codex}` : undefined) ||
    options.fallback
  );
}
