import type { Flag, RefusalReason } from "./types.ts";

/** Which reader takes what stands behind a verb. */
export type AdbReader =
  | "nothing"
  | "shell"
  | "exec"
  | "text"
  | "logcat"
  | "push"
  | "pull"
  | "ls"
  | "install"
  | "uninstall"
  | "track"
  | "bugreport"
  | "backup"
  | "restore"
  | "forward"
  | "reverse"
  | "emu"
  | "wait-for";

export type AdbVerb =
  | { readonly kind: "open"; readonly options?: readonly string[] }
  | { readonly kind: "device"; readonly reader: AdbReader; readonly flags?: readonly Flag[] }
  | { readonly kind: "refused"; readonly reason: RefusalReason; readonly why: string; readonly hint: string };
