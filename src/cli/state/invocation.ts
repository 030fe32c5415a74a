/** A document to lay over a profile, in the order of the command line. */
export type OverlayArgument = { readonly layer: string } | { readonly preset: string };

export interface ProfileArguments {
  /** A file, or `-` for standard input. */
  readonly profile: string;
  readonly overlays: readonly OverlayArgument[];
}

interface Compared {
  readonly source: ProfileArguments;
  readonly snapshot: string | undefined;
  readonly device: string | undefined;
}

/** One command of `simlock state`, understood. */
export type StateAction =
  | { readonly kind: "inventory" }
  | { readonly kind: "presets" }
  | {
      readonly kind: "snapshot";
      readonly device: string | undefined;
      readonly domains: readonly string[];
      readonly pasteboard: boolean;
    }
  | {
      readonly kind: "export";
      readonly device: string | undefined;
      readonly snapshot: string | undefined;
      readonly domains: readonly string[];
      readonly format: "yaml" | "json";
    }
  | { readonly kind: "compose"; readonly source: ProfileArguments; readonly format: "json" | "yaml" }
  | { readonly kind: "lint"; readonly source: ProfileArguments; readonly exitCode: boolean }
  | ({ readonly kind: "diff"; readonly exitCode: boolean } & Compared)
  | ({ readonly kind: "plan"; readonly format: "json" | "text" | "markdown" | undefined } & Compared)
  | {
      readonly kind: "verify";
      readonly source: ProfileArguments;
      readonly device: string | undefined;
      readonly exitCode: boolean;
    }
  | {
      readonly kind: "apply";
      readonly plan: string;
      readonly confirm: boolean;
      readonly report: string | undefined;
      readonly allowStale: boolean;
    }
  | {
      readonly kind: "recover";
      readonly journal: string;
      readonly how: "resume" | "rollback";
      readonly confirm: boolean;
      readonly report: string | undefined;
    }
  | { readonly kind: "explain"; readonly plan: string; readonly format: "text" | "markdown" }
  | { readonly kind: "provenance"; readonly source: ProfileArguments };
