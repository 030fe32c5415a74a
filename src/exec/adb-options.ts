import { refuse } from "./refusal.ts";

export interface OptionTable {
  /** Single letters that take no value, and those that take the next argument. */
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlySet<string>;
}

export interface TokenRead {
  readonly token: string;
  readonly is: "option" | "value" | "operand" | "end";
}

/**
 * Reads options that may stand anywhere among the operands, up to `--`, as adb's own loops over `push`, `pull` and `install` do. A token that
 * starts with a dash and is not in the table is refused.
 */
export function readScattered(verb: string, tokens: readonly string[], table: OptionTable, ends: boolean): TokenRead[] {
  const read: TokenRead[] = [];
  let over = false;
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] ?? "";
    if (over || !token.startsWith("-")) {
      read.push({ token, is: "operand" });
    } else if (ends && token === "--") {
      over = true;
      read.push({ token, is: "end" });
    } else if (table.flags.has(token)) {
      read.push({ token, is: "option" });
    } else if (table.values.has(token)) {
      const value = tokens[++index];
      if (value === undefined) refuse("malformed", token, "its value is missing.", `See \`adb help\` for ${verb}.`);
      read.push({ token, is: "option" }, { token: value, is: "value" });
    } else {
      refuse(
        "unknown-option",
        token,
        `\`${verb}\` has no such option that Simlock knows.`,
        `See \`adb help\` for ${verb}.`,
      );
    }
  }
  return read;
}

export const operandsOf = (read: readonly TokenRead[]): string[] =>
  read.filter(({ is }) => is === "operand").map(({ token }) => token);

export function needs(verb: string, operands: readonly string[], least: number, form: string): void {
  if (operands.length < least) refuse("malformed", verb, `it needs ${form}.`, `Use \`${verb} ${form}\`.`);
  const empty = operands.find((operand) => operand === "");
  if (empty !== undefined) refuse("malformed", empty, "an operand can't be empty.", `Use \`${verb} ${form}\`.`);
}

export function atMost(verb: string, operands: readonly string[], most: number): void {
  const extra = operands[most];
  if (extra !== undefined)
    refuse("malformed", extra, `\`${verb}\` takes no such operand.`, `See \`adb help\` for ${verb}.`);
}
