import { readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { Config, SimlockError } from "../contract/index.ts";
import { isMissing } from "./files.ts";

export interface LoadedConfig {
  readonly config: Config;
  /** Keys that no version of ours knows, as dotted paths: told of, not refused. */
  readonly unknownKeys: readonly string[];
}

/**
 * The configuration in effect: the home's `config.json` over the defaults. A missing file is all defaults. Throws `CONFIG_INVALID`, which names
 * the path of the value that is wrong.
 */
export function loadConfig(path: string): LoadedConfig {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return { config: Config.parse({}), unknownKeys: [] };
    throw invalid(path, "it can't be read", error);
  }
  return parseConfig(path, text);
}

export function parseConfig(path: string, text: string): LoadedConfig {
  let raw: unknown;
  try {
    // A file saved by some editors starts with a byte order mark.
    raw = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw invalid(path, `it is not JSON (${error instanceof Error ? error.message : "unreadable"})`, error);
  }
  const parsed = Config.safeParse(raw);
  if (!parsed.success) {
    const issues = parsed.error.issues.slice(0, 20);
    throw invalid(
      path,
      issues.map((issue) => `${issue.path.map(String).join(".") || "the file"}: ${issue.message}`).join("; "),
    );
  }
  const config = parsed.data;
  if (config.lease.defaultTtlMs > config.lease.maxTtlMs) {
    throw invalid(
      path,
      `lease.defaultTtlMs: ${config.lease.defaultTtlMs} is more than lease.maxTtlMs (${config.lease.maxTtlMs})`,
    );
  }
  for (const [key, folder] of absolutePaths(config)) {
    if (!isAbsolute(folder)) throw invalid(path, `${key}: "${folder}" is not an absolute path`);
  }
  return { config, unknownKeys: unknownKeysOf(raw, config) };
}

function absolutePaths(config: Config): (readonly [string, string])[] {
  return [
    ...(config.ios.deviceSet === undefined ? [] : [["ios.deviceSet", config.ios.deviceSet] as const]),
    ...config.exec.writableRoots.map((root, index) => [`exec.writableRoots.${index}`, root] as const),
  ];
}

/** What is in the file and not in what was read of it: parsing drops keys that it does not know. */
function unknownKeysOf(raw: unknown, read: unknown, at = ""): string[] {
  if (!isPlain(raw) || !isPlain(read)) return [];
  return Object.entries(raw).flatMap(([key, value]) => {
    const path = at === "" ? key : `${at}.${key}`;
    return Object.hasOwn(read, key) ? unknownKeysOf(value, read[key], path) : [path];
  });
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(path: string, why: string, cause?: unknown): SimlockError {
  return new SimlockError("CONFIG_INVALID", `${path} is refused: ${why}.`, {
    hint: "Correct the file (`simlock config get` shows every key with its value), then start the daemon again.",
    cause,
  });
}
