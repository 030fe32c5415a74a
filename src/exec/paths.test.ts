import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { confinedPaths, localPaths, protectedRoots, withoutCase } from "./paths.ts";
import type { PathPolicy } from "./types.ts";

let root: string;
const at = (...parts: string[]): string => join(root, ...parts);

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "paths-")));
  for (const name of ["home/.ssh", "home/.simlock/scratch/l1", "home/.simlock/scratch/l2", "builds", "out"]) {
    mkdirSync(at(name), { recursive: true });
  }
  writeFileSync(at("home/.ssh/id"), "key");
  writeFileSync(at("builds/a.apk"), "apk");
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const roots = () =>
  protectedRoots({ userHome: at("home"), simlockHome: at("home/.simlock"), deviceRoots: [at("devices")] });

function confined(writableRoots: readonly string[] = []): PathPolicy {
  return confinedPaths({ scratch: at("home/.simlock/scratch/l1"), writableRoots, protectedRoots: roots() });
}

const reads = (policy: PathPolicy, path: string): boolean => policy({ access: "read", path }) === undefined;
const writes = (policy: PathPolicy, path: string): boolean => policy({ access: "write", path }) === undefined;

describe("a confined caller", () => {
  test("writes below the scratch folder, although that lies in a protected one", () => {
    expect(writes(confined(), "shot.png")).toBe(true);
    expect(writes(confined(), ".")).toBe(true);
    expect(writes(confined(), "new/folder/shot.png")).toBe(true);
    expect(writes(confined(), at("home/.simlock/scratch/l1/shot.png"))).toBe(true);
  });

  test("writes nowhere else", () => {
    for (const path of ["..", "../l2/x", "../l1x", "a/../../x", at("out/x"), "/etc/x", at("home/.zshrc"), "/"]) {
      expect({ path, open: writes(confined(), path) }).toEqual({ path, open: false });
    }
  });

  test("writes below configured roots", () => {
    expect(writes(confined([at("out")]), at("out/x"))).toBe(true);
    expect(writes(confined([at("out")]), at("outer"))).toBe(false);
  });

  test("does not get out of its folder through links", () => {
    const scratch = at("home/.simlock/scratch/l1");
    symlinkSync(at("out"), join(scratch, "away"));
    symlinkSync(at("out/not-yet"), join(scratch, "dangling"));
    symlinkSync("shot.png", join(scratch, "inside"));
    symlinkSync("loop", join(scratch, "loop"));
    for (const path of ["away", "away/x", "dangling", "away/../x", "inside", "loop", "loop/x"]) {
      expect({ path, open: writes(confined(), path) }).toEqual({ path, open: false });
    }
  });

  test("reads anywhere but what is protected", () => {
    expect(reads(confined(), at("builds/a.apk"))).toBe(true);
    expect(reads(confined(), "shot.png")).toBe(true);
    symlinkSync(at("home/.ssh/id"), at("builds/key"));
    symlinkSync(at("home"), at("builds/home"));
    const closed = [at("home/.ssh/id"), at("home/.simlock/admin.token"), "../l2/x", at("devices/x"), at("builds/key")];
    for (const path of [...closed, at("builds/home/.ssh/id"), "/proc/self/environ", "/proc/self/root/proc/1/environ"]) {
      expect({ path, open: reads(confined(), path) }).toEqual({ path, open: false });
    }
  });

  test("does not read a folder that holds a protected one", () => {
    expect(reads(confined(), at("home"))).toBe(false);
    expect(reads(confined(), "/")).toBe(false);
    expect(confined()({ access: "read", path: at("home") })?.why).toMatch(/^it holds the protected /);
  });

  test("a scratch folder that is reached through a link works", () => {
    symlinkSync(at("home/.simlock/scratch/l1"), at("short"));
    const policy = confinedPaths({ scratch: at("short"), protectedRoots: roots() });
    expect(writes(policy, "x.png")).toBe(true);
    expect(writes(policy, ".")).toBe(true);
    expect(writes(policy, at("short/x.png"))).toBe(true);
    expect(writes(policy, "../l2/x.png")).toBe(false);
  });
});

describe("a local caller", () => {
  const local = (): PathPolicy => localPaths({ cwd: at("builds"), protectedRoots: roots() });

  test("reads and writes where it likes", () => {
    for (const path of ["x", "../out/x", at("home/.zshrc"), at("home"), "/etc/hosts"]) {
      expect({ path, open: writes(local(), path) }).toEqual({ path, open: true });
    }
    expect(reads(local(), "../home/.zshrc")).toBe(true);
  });

  test("but not what is protected, by whatever way", () => {
    symlinkSync(at("home/.ssh"), at("builds/keys"));
    for (const path of ["../home/.ssh/id", "keys/id", "keys", "keys/../.simlock/x", at("home/.simlock/scratch/l1/x")]) {
      expect({ path, open: writes(local(), path) }).toEqual({ path, open: false });
    }
    expect(reads(local(), at("home"))).toBe(false);
  });

  test("with its lease's scratch folder as working directory writes there", () => {
    const scratch = at("home/.simlock/scratch/l1");
    const policy = localPaths({ cwd: scratch, scratch, protectedRoots: roots() });
    expect(writes(policy, "x.png")).toBe(true);
    expect(writes(policy, "../l2/x.png")).toBe(false);
  });
});

test("a protected file is known under another name of the same file", () => {
  writeFileSync(at("home/.emulator_console_auth_token"), "token");
  linkSync(at("home/.emulator_console_auth_token"), at("builds/harmless"));
  expect(reads(confined(), at("builds/harmless"))).toBe(false);
  expect(reads(localPaths({ cwd: at("builds"), protectedRoots: roots() }), "harmless")).toBe(false);
});

test("where case and Unicode form do not count, a protected name is known in each of them", () => {
  for (const name of [".SSH", ".\u017fsh", ".s\u017fh"]) expect(withoutCase(name)).toBe(".ssh");
  expect(withoutCase("/Users/Andr\u00e9/\u212aeys")).toBe(withoutCase("/users/andre\u0301/keys"));
  expect(withoutCase("/Users/x/.ssh")).not.toBe(withoutCase("/Users/x/.ssj"));
});
