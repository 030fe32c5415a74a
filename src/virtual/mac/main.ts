import { Failure, failure } from "./failure.ts";
import { readControl } from "./faults.ts";
import type { ReadControl } from "./faults.ts";
import type { Outside } from "./outside.ts";

/** Answers one `xcrun …` and ends with its exit code. */
export async function main(argv: readonly string[], outside: Outside): Promise<number> {
  try {
    return await answer(argv, outside);
  } catch (error) {
    if (error instanceof Failure) {
      outside.err(`${error.message}\n`);
      return error.exit;
    }
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    outside.err(`simctl: internal error of the virtual Mac: ${what}\n`);
    return 70;
  }
}

async function answer(argv: readonly string[], outside: Outside): Promise<number> {
  const root = outside.env["SIMLOCK_VIRTUAL_MAC"];
  if (root === undefined || root === "") throw failure("notAMac");
  const read = await readControl(root);
  const [first, ...rest] = argv;
  const installed = (read.control.xcode ?? "installed") === "installed";
  if (first === "simctl" && installed) return simctlOf(root, read, rest, outside);
  const { tool } = await import("./xcode.ts");
  const answered = tool(argv, read.control, outside);
  return typeof answered === "number" ? answered : simctlOf(root, read, answered.simctl, outside);
}

async function simctlOf(root: string, read: ReadControl, args: readonly string[], outside: Outside): Promise<number> {
  const { simctl } = await import("./simctl.ts");
  return simctl(root, read, args, outside);
}
