import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { claimHome } from "./claim.ts";

let root: string;
let path: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  root = mkdtempSync("/tmp/slc-");
  path = join(root, "claim.db");
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

/** Another process that claims, says what came of it, and then lives until its stdin ends. */
async function claimer(): Promise<{ child: ChildProcess; said: string }> {
  const module = new URL("./claim.ts", import.meta.url).pathname;
  const source = `import { claimHome } from ${JSON.stringify(module)};
    try { claimHome(${JSON.stringify(path)}); console.log("claimed"); } catch (error) { console.log(error.code); }
    process.stdin.resume(); process.stdin.on("end", () => process.exit(0));`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", source], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  const [chunk]: unknown[] = await once(child.stdout, "data");
  return { child, said: String(chunk).trim() };
}

test("a second process is refused while the first lives, and gets it once the first was killed", async () => {
  const first = await claimer();
  expect(first.said).toBe("claimed");
  expect((await claimer()).said).toBe("DAEMON_ALREADY_RUNNING");
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  expect((await claimer()).said).toBe("claimed");
});

test("of many at once on a fresh home exactly one wins", async () => {
  const said = (await Promise.all(Array.from({ length: 4 }, claimer))).map((each) => each.said);
  expect(said.filter((word) => word === "claimed")).toHaveLength(1);
  expect(said.filter((word) => word === "DAEMON_ALREADY_RUNNING")).toHaveLength(3);
});

test("a claim that was given back can be taken again", () => {
  claimHome(path).release();
  const again = claimHome(path);
  expect(() => claimHome(path)).toThrow(expect.objectContaining({ code: "DAEMON_ALREADY_RUNNING" }));
  again.release();
  again.release();
});

test("a file that is no lock of ours is refused", () => {
  writeFileSync(path, "this is somebody's text, and long enough to be looked at as a database header".repeat(20));
  expect(() => claimHome(path)).toThrow(expect.objectContaining({ code: "HOME_UNUSABLE" }));
});
