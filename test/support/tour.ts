import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

export interface Tour {
  readonly blocks: number;
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a page as a newcomer would, in one shell: its blocks marked `sh tour`, each with the exit code that it promises (`sh tour exit=2`). What it
 * writes lands in a folder of its own, not in the checkout. What a page names and a test can't have, such as a port, is put in its place.
 */
export function runTour(page: string, instead: Readonly<Record<string, string>> = {}): Tour {
  const blocks = [
    ...readFileSync(join(root, page), "utf8").matchAll(/^```sh tour(?: exit=(\d+))?\n([\s\S]*?)^```$/gm),
  ].map(([, exit = "0", commands = ""]) => ({
    exit: Number(exit),
    commands: Object.entries(instead).reduce((text, [from, to]) => text.replaceAll(from, to), commands),
  }));
  const home = mkdtempSync(join(tmpdir(), "sl-tour-"));
  try {
    for (const name of ["bin", "dist", "node_modules", "package.json"]) symlinkSync(join(root, name), join(home, name));
    const script = blocks.map(
      ({ exit, commands }, at) =>
        `${commands}\nstatus=$?; [ "$status" -eq ${exit} ] || { echo "block ${at + 1} exited with $status instead of ${exit}" >&2; exit 1; }\n`,
    );
    // What a page started and did not end, because a block failed, ends with the shell.
    script.unshift("trap 'kill $(jobs -p) 2>/dev/null; declare -F simlock >/dev/null && simlock daemon stop' EXIT\n");
    const { status, stdout, stderr } = spawnSync("bash", ["-c", script.join("")], {
      cwd: home,
      encoding: "utf8",
      env: { HOME: home, PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`, NO_COLOR: "1" },
      timeout: 170_000,
    });
    return { blocks: blocks.length, status, stdout, stderr };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
