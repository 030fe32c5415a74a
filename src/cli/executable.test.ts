import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { executableOf } from "./executable.ts";
import { exportLines } from "./render/export-env.ts";
import { execFileSync } from "node:child_process";
import { wrapperScript } from "./tool-folder.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sl-cli-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function script(path: string, text = "#!/bin/sh\n"): string {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

test("the first executable file of that name on PATH is meant, never a folder or a file that can't be run", () => {
  mkdirSync(join(folder, "a", "tool"), { recursive: true });
  mkdirSync(join(folder, "b"));
  mkdirSync(join(folder, "c"));
  writeFileSync(join(folder, "b", "tool"), "");
  const found = script(join(folder, "c", "tool"));
  const env = { PATH: ["a", "b", "", "c"].map((name) => (name === "" ? "" : join(folder, name))).join(":") };
  expect(executableOf("tool", { env, cwd: "/" })).toBe(found);
  expect(executableOf("./c/tool", { env, cwd: folder })).toBe(found);
  expect(() => executableOf("nope", { env, cwd: folder })).toThrow(/no command "nope"/);
  expect(() => executableOf("", { env, cwd: folder })).toThrow(/no command/);
  // An empty part of PATH is the current folder to a shell: a trap that is left out.
  expect(() => executableOf("tool", { env: { PATH: ":" }, cwd: join(folder, "c") })).toThrow(/no command/);
});

test("a shell reads exported values back as they were", () => {
  const nasty = `it's "$HOME" \`id\`\n$(touch ${folder}/pwned) \\`;
  const lines = exportLines({ A: nasty, B: "" });
  const read = execFileSync("/bin/sh", ["-c", `${lines}printf '%s|%s' "$A" "$B"`]).toString();
  expect(read).toBe(`${nasty}|`);
});

test("the stand-in for xcrun hands its arguments on as they are, with its own in front", () => {
  const path = script(
    join(folder, "xcrun"),
    wrapperScript({ file: "/bin/sh", prefix: ["-c", 'printf "%s\\n" "$MAC" "$@"', "it's"], env: { MAC: "a'b c" } }),
  );
  expect(execFileSync(path, ["simctl", "list devices", "$HOME", "'"]).toString()).toBe(
    "a'b c\nsimctl\nlist devices\n$HOME\n'\n",
  );
});
