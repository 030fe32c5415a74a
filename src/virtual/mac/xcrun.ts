/** The executable: stands in for `xcrun`, started as `node xcrun.js simctl …` with SIMLOCK_VIRTUAL_MAC naming the Mac's folder. */
import { Failure, failure } from "./failure.ts";
import { toStderr } from "./output.ts";
import { readControl } from "./faults.ts";
import type { ReadControl } from "./faults.ts";

async function main(argv: readonly string[]): Promise<number> {
  const root = process.env["SIMLOCK_VIRTUAL_MAC"];
  if (root === undefined || root === "") throw failure("notAMac");
  const read = await readControl(root);
  const [first, ...rest] = argv;
  if (first === "simctl" && (read.control.xcode ?? "installed") === "installed") return simctlOf(root, read, rest);
  const { tool } = await import("./xcode.ts");
  const answer = tool(argv, read.control);
  return typeof answer === "number" ? answer : simctlOf(root, read, answer.simctl);
}

async function simctlOf(root: string, read: ReadControl, args: readonly string[]): Promise<number> {
  const { simctl } = await import("./simctl.ts");
  return simctl(root, read, args);
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof Failure) {
    toStderr(`${error.message}\n`);
    return error.exit;
  }
  toStderr(
    `simctl: internal error of the virtual Mac: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return 70;
});
