import { pino, type Logger } from "pino";
import type { Config } from "../contract/index.ts";
import { RotatingFile } from "./rotating-file.ts";

/** Where a log line goes. `flush` is for the last words of a process. */
export interface LogDestination {
  write(line: string): void;
  flush?(): void;
  close?(): Promise<void>;
}

export type Log = Logger;

export interface DaemonLog {
  /** The log of one part of the daemon: each line carries its name as `module`. */
  of(module: string): Log;
  flush(): void;
  close(): Promise<void>;
}

/** JSON lines `{timestamp, level, module, message, …}`. Arguments, secrets and output of commands never go in. */
export function createLog(level: Config["log"]["level"], destination: LogDestination): DaemonLog {
  const root = pino(
    {
      level,
      base: null,
      messageKey: "message",
      errorKey: "error",
      timestamp: () => `,"timestamp":${Date.now()}`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeError },
    },
    destination,
  );
  return {
    of: (module) => root.child({ module }),
    flush: () => destination.flush?.(),
    close: async () => destination.close?.(),
  };
}

export function fileDestination(path: string, rotateBytes: number): LogDestination {
  const file = new RotatingFile(path, rotateBytes);
  return {
    write: (line) => file.write(line),
    flush: () => file.flushSync(),
    close: async () => file.close(),
  };
}

/** The text and the causes of an error, cut short: what a tool printed can be long. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error).slice(0, 2000);
  return {
    name: error.name,
    ...("code" in error ? { code: error.code } : {}),
    message: error.message.slice(0, 2000),
    stack: error.stack?.slice(0, 4000),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
