import type { Command } from "commander";
import type { OperationInput } from "../contract/index.ts";
import type { StateAction } from "./state/invocation.ts";

/** What an MCP server can serve, by the names of the command line. */
export const TOOLSETS = ["leases", "state", "cloud"] as const;
export type ToolsetName = (typeof TOOLSETS)[number];

/** What a lease command asks for: the part of the operation's input that has a flag. */
export type Ask = Omit<OperationInput<"lease.request">, "requesterId" | "owner">;

/** One command line, understood: what to do and with what. Parsing makes it, dispatch carries it out. */
export type Invocation =
  | { readonly command: "lease"; readonly ask: Ask; readonly detach: boolean; readonly exportEnv: boolean }
  | { readonly command: "with"; readonly ask: Ask; readonly argv: readonly string[] }
  | { readonly command: "renew"; readonly lease: string | undefined; readonly ttlMs: number | undefined }
  | {
      readonly command: "release";
      readonly lease: string | undefined;
      readonly all: boolean;
      readonly force: boolean;
      readonly yes: boolean;
    }
  | RunInvocation
  | { readonly command: "status" }
  | { readonly command: "catalog"; readonly platform: "ios" | "android" | undefined; readonly refresh: boolean }
  | { readonly command: "device add"; readonly serial: string; readonly shared: boolean }
  | { readonly command: "device list" }
  | { readonly command: "device remove"; readonly device: string }
  | { readonly command: "doctor"; readonly fix: boolean; readonly purgeOrphans: boolean; readonly yes: boolean }
  | { readonly command: "daemon start" }
  | { readonly command: "daemon stop" }
  | { readonly command: "daemon restart" }
  | { readonly command: "daemon status" }
  | { readonly command: "daemon logs"; readonly follow: boolean; readonly lines: number }
  | { readonly command: "daemon run" }
  | {
      readonly command: "state";
      readonly action: StateAction;
      readonly compact: boolean;
      /** As `ios-sim-state`: its exit codes, and errors as text. */
      readonly dropIn: boolean;
    }
  | { readonly command: "mcp"; readonly toolsets: readonly ToolsetName[]; readonly http: boolean }
  | { readonly command: "virtual mobilerun"; readonly port: number }
  | { readonly command: "instructions" }
  | { readonly command: "config get"; readonly key: string | undefined }
  | { readonly command: "config set"; readonly key: string; readonly value: string }
  | { readonly command: "events"; readonly follow: boolean; readonly sinceMs: number | undefined }
  | { readonly command: "demo" }
  | { readonly command: "version" };

export interface RunInvocation {
  readonly command: "run";
  readonly tool: string;
  readonly args: readonly string[];
  readonly lease: string | undefined;
  readonly dryRun: boolean;
  /** Give the command this process's own standard streams, terminal or not. */
  readonly raw: boolean;
  /** `wait`: read standard input to its end, however long. `none`: give the command none. */
  readonly stdin: "auto" | "wait" | "none";
}

/** Called by a command's action with what it understood. */
export type Understood = (command: Command, invocation: Invocation) => void;
