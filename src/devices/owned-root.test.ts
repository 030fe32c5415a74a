import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SimlockError } from "../contract/index.ts";
import { claimRoot, proveRoot, ROOT_MARKER } from "./owned-root.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "simlock-root-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function refusal(work: Promise<void>): Promise<unknown> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SimlockError)) throw new Error(`expected a SimlockError, got ${String(error)}`);
  expect(error.code).toBe("CONFIG_INVALID");
  return error.details?.["reason"];
}

test("a folder that is not there is made with its marker, and is ours from then on", async () => {
  const root = join(folder, "deep", "set");
  await claimRoot(root, "a");
  expect(JSON.parse(readFileSync(join(root, ROOT_MARKER), "utf8"))).toEqual({
    schema: 1,
    owner: "simlock",
    instanceId: "a",
  });
  writeFileSync(join(root, "device_set.plist"), "x");
  await claimRoot(root, "a");
  await proveRoot(root, "a");
  expect(readdirSync(join(folder, "deep"))).toEqual(["set"]);
});

test("an empty folder is taken", async () => {
  const root = join(folder, "empty");
  mkdirSync(root, { mode: 0o755 });
  await claimRoot(root, "a");
  expect(existsSync(join(root, ROOT_MARKER))).toBe(true);
});

test("whoever claims at the same time gets the same root", async () => {
  const root = join(folder, "set");
  await Promise.all(Array.from({ length: 10 }, () => claimRoot(root, "a")));
  expect(readdirSync(folder)).toEqual(["set"]);
});

test("a folder with files of others is refused and left as it is", async () => {
  const root = join(folder, "others");
  mkdirSync(root, { mode: 0o755 });
  writeFileSync(join(root, "file"), "theirs");
  expect(await refusal(claimRoot(root, "a"))).toBe("non-empty-unowned-root");
  expect(readdirSync(root)).toEqual(["file"]);
});

test.each([
  "",
  "{",
  "[]",
  '{"schema":2,"owner":"simlock","instanceId":"a"}',
  '{"schema":1,"owner":"x","instanceId":"a"}',
])("the marker %s is none of ours", async (text) => {
  const root = join(folder, "set");
  mkdirSync(root, { mode: 0o755 });
  writeFileSync(join(root, ROOT_MARKER), text);
  expect(await refusal(claimRoot(root, "a"))).toBe("invalid-marker");
});

test("another home's root is refused", async () => {
  const root = join(folder, "set");
  await claimRoot(root, "a");
  expect(await refusal(claimRoot(root, "b"))).toBe("wrong-instance");
});

test("a link, a file, a relative path and a folder that others may write to are refused", async () => {
  const root = join(folder, "set");
  await claimRoot(root, "a");
  symlinkSync(root, join(folder, "link"));
  expect(await refusal(claimRoot(join(folder, "link"), "a"))).toBe("symlink");
  writeFileSync(join(folder, "file"), "");
  expect(await refusal(claimRoot(join(folder, "file"), "a"))).toBe("not-a-folder");
  expect(await refusal(claimRoot("set", "a"))).toBe("not-absolute");
  chmodSync(root, 0o777);
  expect(await refusal(claimRoot(root, "a"))).toBe("wrong-permissions");
});

test("a root whose marker is gone is not proven, and proving makes nothing", async () => {
  const root = join(folder, "set");
  expect(await refusal(proveRoot(root, "a"))).toBe("missing-marker");
  expect(existsSync(root)).toBe(false);
  await claimRoot(root, "a");
  writeFileSync(join(root, "device"), "");
  rmSync(join(root, ROOT_MARKER));
  expect(await refusal(proveRoot(root, "a"))).toBe("non-empty-unowned-root");
});

test.skipIf(process.getuid?.() !== 0)("another user's folder is refused", async () => {
  const { chownSync } = await import("node:fs");
  const root = join(folder, "set");
  await claimRoot(root, "a");
  chownSync(root, 12_345, 12_345);
  expect(await refusal(claimRoot(root, "a"))).toBe("wrong-owner");
});
