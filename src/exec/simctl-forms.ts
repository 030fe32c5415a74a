import type { Flag, RefusalReason } from "./types.ts";

/** How a value stands to its option: `--x=V`; `--x V`; `--x=V` or `--x V`, written attached. */
type ValueForm = "attached" | "separate" | "either";

export interface SimctlOption {
  readonly names: readonly string[];
  readonly value?: ValueForm;
  /** What the value must be: one of these words, or a host path that is written. */
  readonly words?: readonly string[];
  readonly writes?: true;
  /** The name it is written with, where that is not the one that was given. */
  readonly writtenAs?: string;
  readonly flags?: readonly Flag[];
  readonly refused?: { readonly reason: RefusalReason; readonly why: string; readonly hint: string };
}

export interface SimctlOperand {
  readonly name: string;
  readonly is: "bundle" | "path" | "word" | "text" | "coordinates";
  /** A host path is read or written. "File or url" says that simctl takes a URL there too. */
  readonly access?: "read" | "write";
  readonly url?: true;
  readonly words?: readonly string[];
  /** What a lone `-` stands for in its place. */
  readonly dash?: "stdin" | "stdout";
  readonly optional?: true;
  readonly many?: true;
}

/** What may stand behind a verb, or behind the action of a verb that has some. */
export interface SimctlForm {
  readonly options?: readonly SimctlOption[];
  /** On which side of the device the options are written. */
  readonly side?: "before" | "after";
  /** Single letters that may be written together, as in `-bcd`. */
  readonly grouped?: true;
  readonly operands?: readonly SimctlOperand[];
  /** Options end at the first operand; what follows the last operand belongs to the app or program and is not read. */
  readonly rest?: true;
  readonly needsOption?: true;
  /** It reads its text from standard input, but an empty one is no mistake of form. */
  readonly takesStdin?: true;
  readonly flags?: readonly Flag[];
}

export type SimctlVerb =
  | { readonly kind: "device"; readonly form: SimctlForm }
  | { readonly kind: "actions"; readonly actions: Readonly<Record<string, SimctlForm>> }
  | { readonly kind: "open"; readonly form: SimctlForm }
  | { readonly kind: "runtime" }
  | { readonly kind: "refused"; readonly reason: RefusalReason; readonly why: string; readonly hint: string };
