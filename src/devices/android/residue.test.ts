import fc from "fast-check";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  guarded,
  leftFiles,
  leftPackages,
  leftProcesses,
  lockedFolders,
  parsePackages,
  parsePaths,
  quoted,
} from "./residue.ts";

describe("packages", () => {
  test("are read past warnings, once each, whatever the line ends", () => {
    expect(parsePackages("WARNING: linker: x\r\npackage:com.b\r\npackage:com.a\r\npackage:com.b\r\n")).toEqual([
      "com.a",
      "com.b",
    ]);
  });

  test("that the enrolment listed stay", () => {
    expect(leftPackages(["com.a", "com.b"], ["com.a", "com.c"])).toEqual(["com.b"]);
  });
});

describe("files", () => {
  const baseline = ["/data/local/tmp/", "/data/local/tmp/mine", "/sdcard/", "/sdcard/Owner"];

  test("that were not there at the enrolment are left behind", () => {
    expect(
      leftFiles(["/data/local/tmp/", "/data/local/tmp/mine", "/data/local/tmp/x", "/sdcard/", "/sdcard/y"], baseline),
    ).toEqual(["/data/local/tmp/x", "/sdcard/y"]);
  });

  test("in a folder that the enrolment could not read are its owner's: nothing there is touched", () => {
    expect(leftFiles(["/sdcard/", "/sdcard/photo.jpg"], ["/data/local/tmp/"])).toEqual([]);
  });

  test("folders that Android itself makes stay", () => {
    expect(leftFiles(["/sdcard/Recordings", "/sdcard/Pictures", "/sdcard/Android"], baseline)).toEqual([]);
  });

  test("a folder that could be read then and can't be now is locked", () => {
    expect(lockedFolders(["/data/local/tmp/"], baseline)).toEqual(["/sdcard/"]);
    expect(lockedFolders(["/data/local/tmp/", "/sdcard/"], baseline)).toEqual([]);
  });

  test("names keep every byte", () => {
    const bytes = Buffer.from([0x2f, 0x61, 0xff, 0x0a, 0x00, 0x2f, 0x62, 0x00]);
    expect(parsePaths(bytes).map((path) => Buffer.from(path, "latin1"))).toEqual([
      Buffer.from([0x2f, 0x61, 0xff, 0x0a]),
      Buffer.from([0x2f, 0x62]),
    ]);
  });

  test("a name that a limit cut off is none", () => {
    expect(parsePaths(Buffer.from("/sdcard/\0/sdcard/a\0/sdcard/Own"))).toEqual(["/sdcard/", "/sdcard/a"]);
  });

  test("a word for the shell is one word, whatever is in it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), (word) => {
        const plain = word.replaceAll("\0", "");
        expect(execFileSync("sh", ["-c", `printf %s ${quoted(plain)}`]).toString()).toBe(plain);
      }),
      { numRuns: 30 },
    );
  });
});

describe("processes", () => {
  test("of adb commands and their orphans are left; adbd, the asking shell and app processes are not", () => {
    const said = [
      "10 1 2000 S", // adbd
      "11 10 2000 S", // a command's shell
      "12 11 2000 R", // and its child
      "13 1 2000 S", // an orphan
      "14 900 2000 S", // com.android.shell, a child of zygote
      "15 14 2000 S", // and what it started
      "16 1 2000 Z", // dead already
      "20 10 2000 R", // who asks
      "self 20",
    ].join("\n");
    expect(leftProcesses(said).sort()).toEqual([11, 12, 13]);
  });

  test("a process that calls itself adbd is found by its place, not its name", () => {
    expect(leftProcesses("10 1 2000 S\n21 1 2000 S\n20 10 2000 R\nself 20")).toEqual([21]);
  });

  test("where adb runs as root nothing is ended", () => {
    expect(leftProcesses("13 1 2000 S\nself 20")).toEqual([]);
  });

  test("parents in a circle end", () => {
    expect(leftProcesses("5 6 2000 S\n6 5 2000 S\n20 1 2000 R\nself 20")).toEqual([]);
  });
});

test("a guarded command runs only in the boot it was meant for", () => {
  const id = "11111111-2222-3333-4444-555555555555";
  expect(() => execFileSync("sh", ["-c", guarded(id, "echo ran")], { stdio: "pipe" })).toThrow(
    expect.objectContaining({ status: 86 }),
  );
  expect(guarded(undefined, "x")).toBe("x");
  expect(guarded("'; reboot", "x")).toBe("x");
});

test.runIf(process.platform === "linux")("and there it does run", () => {
  const mine = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  expect(execFileSync("sh", ["-c", guarded(mine, "echo ran")]).toString()).toBe("ran\n");
});
