import { createInterface } from "node:readline/promises";
import { SimlockError } from "../contract/index.ts";
import type { Context } from "./context.ts";

/** Asks before something that can't be undone. Without a terminal nobody can answer: `--yes` must have been said. Throws `USAGE`, `CANCELLED`. */
export async function confirm(
  context: Context,
  options: { readonly yes: boolean; readonly question: string },
): Promise<void> {
  if (options.yes) return;
  const { stdin, stderr } = context.io;
  if (stdin.isTTY !== true || stderr.isTTY !== true) {
    throw new SimlockError("USAGE", "This can't be undone, and there is no terminal to ask on.", {
      hint: "Say --yes if you mean it.",
    });
  }
  const asking = createInterface({ input: stdin, output: stderr });
  try {
    const answer = await asking.question(`${options.question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new SimlockError("CANCELLED", "Nothing was done.");
  } finally {
    asking.close();
  }
}
