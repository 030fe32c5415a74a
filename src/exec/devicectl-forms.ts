import type { Flag, RefusalReason } from "./types.ts";

export interface DevicectlOption {
  readonly names: readonly string[];
  /** None; one value, separated or attached with `=`; or all that follow up to the next option. */
  readonly value?: "one" | "list";
  /** The value is a path of the host. */
  readonly access?: "read" | "write";
  /** Words that stand for standard output instead of a path. */
  readonly streams?: readonly string[];
}

export interface DevicectlForm {
  readonly options?: readonly DevicectlOption[];
  /** Names of the operands that must be there; `operands` at most may be. */
  readonly needs?: readonly string[];
  readonly operands?: number;
  /** The operands are host paths that are read. */
  readonly reads?: true;
  /** What follows the first operand belongs to the app. */
  readonly rest?: true;
  /**
   * The help of its sub-commands is not known word for word: plain words in front of the options count as such, and options may be given whose
   * values are numbers.
   */
  readonly family?: true;
  /** A host folder is written to when this option is left out. */
  readonly writesUnless?: string;
  readonly flags?: readonly Flag[];
  /** Not L when this option is there. */
  readonly endsWith?: string;
  /** L when this option is there. */
  readonly longWith?: string;
}

export type DevicectlCommand =
  | { readonly kind: "device"; readonly form: DevicectlForm }
  | { readonly kind: "open"; readonly form: DevicectlForm }
  | { readonly kind: "refused"; readonly reason: RefusalReason; readonly why: string; readonly hint: string };
