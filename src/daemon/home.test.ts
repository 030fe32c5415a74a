import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Home } from "../contract/index.ts";
import { claimedHomeRecord, openHomeFolder, readHomeRecord } from "./home.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync("/tmp/slh-");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (name: string, virtual = false): Home => ({ path: join(root, name), virtual });
const codeOf = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : error;
  }
  return undefined;
};

describe("the folder", () => {
  test("is made for the owner only, parents too", () => {
    const home = at("a/b");
    openHomeFolder(home);
    expect(statSync(home.path).mode & 0o777).toBe(0o700);
  });

  test("that others may read is closed to them", () => {
    mkdirSync(at("h").path, { mode: 0o755 });
    openHomeFolder(at("h"));
    expect(statSync(at("h").path).mode & 0o777).toBe(0o700);
  });

  test("that others may write to is refused", () => {
    for (const mode of [0o770, 0o702]) {
      const home = at(`h${mode}`);
      mkdirSync(home.path);
      chmodSync(home.path, mode);
      expect(codeOf(() => openHomeFolder(home))).toBe("HOME_UNUSABLE");
    }
  });

  test("may not be a symlink, nor a file", () => {
    mkdirSync(join(root, "real"));
    symlinkSync(join(root, "real"), join(root, "link"));
    writeFileSync(join(root, "file"), "");
    expect(codeOf(() => openHomeFolder(at("link")))).toBe("HOME_UNUSABLE");
    expect(codeOf(() => openHomeFolder(at("file")))).toBe("HOME_UNUSABLE");
  });

  test("of something else is refused, and left as it is", () => {
    const home = at("project");
    mkdirSync(home.path, { mode: 0o755 });
    writeFileSync(join(home.path, "package.json"), "{}");
    expect(codeOf(() => openHomeFolder(home))).toBe("HOME_UNUSABLE");
    expect(statSync(home.path).mode & 0o777).toBe(0o755);
  });

  test("that holds only a configuration and a log is taken", () => {
    const home = at("h");
    mkdirSync(home.path);
    for (const name of ["config.json", "daemon.log.1", "simlock.db-wal", ".DS_Store"]) {
      writeFileSync(join(home.path, name), "");
    }
    openHomeFolder(home);
  });

  test("whose socket path is too long is refused with the way out, before it is made", () => {
    const home = at("x".repeat(120));
    expect(() => openHomeFolder(home)).toThrow(
      expect.objectContaining({ code: "HOME_UNUSABLE", hint: expect.stringContaining("SIMLOCK_HOME") }),
    );
    expect(codeOf(() => statSync(home.path))).toBe("ENOENT");
  });
});

describe("the record", () => {
  test("is made once and names the home for life", () => {
    const home = at("h");
    openHomeFolder(home);
    const first = claimedHomeRecord(home, 1000);
    openHomeFolder(home);
    expect(claimedHomeRecord(home, 2000)).toEqual(first);
    expect(first).toMatchObject({ kind: "real", createdAt: 1000 });
  });

  test("refuses a home of the other kind, both ways", () => {
    for (const virtual of [true, false]) {
      const home = at(`h${virtual}`, virtual);
      openHomeFolder(home);
      claimedHomeRecord(home, 0);
      const other = { ...home, virtual: !virtual };
      expect(codeOf(() => openHomeFolder(other))).toBe("HOME_MISMATCH");
      expect(codeOf(() => claimedHomeRecord(other, 0))).toBe("HOME_MISMATCH");
    }
  });

  test("is not made anew beside a database, which would know no device as its own any more", () => {
    const home = at("h");
    openHomeFolder(home);
    writeFileSync(join(home.path, "simlock.db"), "");
    expect(codeOf(() => claimedHomeRecord(home, 0))).toBe("HOME_UNUSABLE");
    expect(readHomeRecord(home)).toBeUndefined();
  });

  test("leaves nothing of a start that was killed amid writing it", () => {
    const home = at("h");
    openHomeFolder(home);
    const left = [join(home.path, "home.json.77.0a1b2c3d"), join(home.path, "admin.token.77.0a1b2c3d")];
    const others = [join(home.path, "home.json.backup")];
    for (const path of [...left, ...others]) writeFileSync(path, "x");
    claimedHomeRecord(home, 0);
    expect(left.filter((path) => existsSync(path))).toEqual([]);
    expect(others.filter((path) => existsSync(path))).toEqual(others);
  });

  test("that is damaged or of a newer schema is refused, never replaced", () => {
    const home = at("h");
    openHomeFolder(home);
    for (const text of ["", "{", JSON.stringify({ schema: 2, kind: "real", instanceId: "x", createdAt: 0 })]) {
      writeFileSync(join(home.path, "home.json"), text);
      expect(codeOf(() => readHomeRecord(home))).toBe("HOME_UNUSABLE");
      expect(codeOf(() => openHomeFolder(home))).toBe("HOME_UNUSABLE");
    }
  });
});
