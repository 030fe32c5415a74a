import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";

/** The README's tour, run line by line in one shell as a newcomer would: blocks marked `sh tour`, each with the exit code that it promises. */

const root = join(import.meta.dirname, "..", "..");
const home = mkdtempSync(join(tmpdir(), "sl-tour-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const blocks = [
  ...readFileSync(join(root, "README.md"), "utf8").matchAll(/^```sh tour(?: exit=(\d+))?\n([\s\S]*?)^```$/gm),
].map(([, exit = "0", commands = ""]) => ({ exit: Number(exit), commands }));

test("every block of the README's tour does what it says", { timeout: 180_000 }, () => {
  expect(blocks.length).toBeGreaterThan(6);
  // What the tour writes lands here, not in the checkout.
  for (const name of ["bin", "dist", "node_modules", "package.json"]) symlinkSync(join(root, name), join(home, name));
  const script = blocks.map(
    ({ exit, commands }, at) =>
      `${commands}\nstatus=$?; [ "$status" -eq ${exit} ] || { echo "block ${at + 1} exited with $status instead of ${exit}" >&2; simlock daemon stop; exit 1; }\n`,
  );
  const { status, stdout, stderr } = spawnSync("bash", ["-c", script.join("")], {
    cwd: home,
    encoding: "utf8",
    env: { HOME: home, PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`, NO_COLOR: "1" },
  });
  expect(stderr).not.toContain("exited with");
  if (status !== 0) throw new Error(`the tour ended with ${status}: ${stderr}`);
  expect(stdout).toContain("com.apple.Preferences: ");
  expect(stdout).toContain("iPhone 17 Pro");
  expect(stderr).toContain("PASSTHROUGH_REFUSED");
});
