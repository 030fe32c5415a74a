import { SimlockError } from "../contract/index.ts";

type Comparator = ">=" | "<=" | ">" | "<";

/** What a request accepts as OS version: one exact text (`26.0`, `Baklava`), or comparators that must all hold. */
export type OsRequirement =
  | { readonly kind: "exact"; readonly version: string }
  | {
      readonly kind: "range";
      readonly text: string;
      readonly all: readonly { op: Comparator; version: readonly number[] }[];
    };

const DOTTED = /^\d+(\.\d+)*$/;
const COMPARATOR = /^(>=|<=|>|<)(\d+(?:\.\d+)*)$/;
/** Characters and words that only a range of some other tool's grammar has. */
const LOOKS_LIKE_RANGE = /[<>^~*|=,]|\s|(^|\.)[xX](\.|$)/;

/**
 * Reads an OS requirement. A bare text is compared as it is. A range is comparators, each on dotted integers, parted by single blanks, or `A - B`.
 * Throws `BAD_REQUEST` on anything that looks like a range and is none, naming the forms.
 */
export function parseOsRequirement(text: string): OsRequirement {
  const between = /^(\d+(?:\.\d+)*) - (\d+(?:\.\d+)*)$/.exec(text);
  if (between?.[1] !== undefined && between[2] !== undefined) {
    return { kind: "range", text, all: [bound(">=", between[1]), bound("<=", between[2])] };
  }
  const parts = text.split(" ");
  if (parts.every((part) => COMPARATOR.test(part))) {
    const all = parts.map((part) => {
      const [, op, version] = COMPARATOR.exec(part) ?? [];
      return bound(op as Comparator, version ?? "");
    });
    return { kind: "range", text, all };
  }
  if (LOOKS_LIKE_RANGE.test(text)) {
    throw new SimlockError("BAD_REQUEST", `osVersion: "${text}" is neither a version nor a range.`, {
      hint: 'Write an exact version ("26.0"), comparators parted by single blanks (">=18 <26"), or "18 - 26".',
    });
  }
  return { kind: "exact", version: text };
}

function bound(op: Comparator, version: string): { op: Comparator; version: readonly number[] } {
  return { op, version: version.split(".").map(Number) };
}

/** A partial version in a range covers its prefix: `<=26` takes 26.4 in, `>26` leaves it out. A version that is not dotted fits no range. */
export function acceptsOs(requirement: OsRequirement, version: string): boolean {
  if (requirement.kind === "exact") return requirement.version === version;
  if (!DOTTED.test(version)) return false;
  const have = version.split(".").map(Number);
  return requirement.all.every(({ op, version: want }) => {
    const order = comparePrefix(have, want);
    if (op === ">=") return order >= 0;
    if (op === "<=") return order <= 0;
    return op === ">" ? order > 0 : order < 0;
  });
}

function comparePrefix(have: readonly number[], want: readonly number[]): number {
  for (const [at, number] of want.entries()) {
    const difference = (have[at] ?? 0) - number;
    if (difference !== 0) return difference;
  }
  return 0;
}
