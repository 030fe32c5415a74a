import { parseArgs } from "node:util";

/** Flags that every command takes, in front of its name or behind it. */
export interface Globals {
  readonly virtual?: boolean;
  readonly home?: string;
  readonly agentId?: string;
  readonly token?: string;
}

const FLAGS = {
  virtual: { type: "boolean" },
  home: { type: "string" },
  "agent-id": { type: "string" },
  token: { type: "string" },
} as const;

/**
 * Reads a command line that is nothing but global flags and the given words. Undefined for any other: those go to the full parser, which
 * costs more to load.
 */
export function readBare(argv: readonly string[], words: readonly string[]): Globals | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: FLAGS,
      allowPositionals: true,
      strict: true,
    });
    if (positionals.length !== words.length || positionals.some((word, at) => word !== words[at])) return undefined;
    return {
      ...(values.virtual === undefined ? {} : { virtual: values.virtual }),
      ...(values.home === undefined ? {} : { home: values.home }),
      ...(values["agent-id"] === undefined ? {} : { agentId: values["agent-id"] }),
      ...(values.token === undefined ? {} : { token: values.token }),
    };
  } catch {
    return undefined;
  }
}
