import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { xcrunEntry } from "./entry.ts";
import { createVirtualMac, screenSize, virtualHostFacts, virtualXcrun } from "./index.ts";

test("the stand-in is started with the running Node, by absolute paths", () => {
  const { file, prefix, env } = virtualXcrun("some/mac");
  expect(file).toBe(process.execPath);
  expect(prefix).toEqual([expect.stringMatching(/^\/.*\/src\/virtual\/mac\/xcrun\.ts$/)]);
  expect(env["SIMLOCK_VIRTUAL_MAC"]).toBe(join(process.cwd(), "some/mac"));
});

test("in a bundle it is the file beside the one that asks, or above its folder of chunks", () => {
  const dist = mkdtempSync(join(tmpdir(), "dist-"));
  try {
    const entry = join(dist, "xcrun.js");
    const from = (place: string) => xcrunEntry(pathToFileURL(join(dist, place)).href);
    expect(() => from("main.js")).toThrow(/xcrun is at none of/);
    writeFileSync(entry, "");
    expect([from("main.js"), from("chunks/virtual.js")]).toEqual([entry, entry]);
  } finally {
    rmSync(dist, { recursive: true, force: true });
  }
});

test("a virtual Mac is made once and found again, with a default set", () => {
  const root = mkdtempSync(join(tmpdir(), "vmac-"));
  try {
    const made = createVirtualMac(root, { pace: "none" });
    expect(existsSync(join(made.deviceSet, "virtual.db"))).toBe(true);
    expect(createVirtualMac(root)).toEqual(made);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test("its host facts and screen sizes are its own", () => {
  expect(virtualHostFacts()).toMatchObject({ os: "macOS", cpus: 8, memoryBytes: 34_359_738_368, arch: "arm64" });
  expect(screenSize("iPhone 17")).toEqual({ width: 1206, height: 2622 });
  expect(screenSize("iPhone 99")).toBeUndefined();
});
