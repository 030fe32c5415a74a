import { expect, test } from "vitest";
import { adbPlaces, findAdb, parseAdbVersion } from "./adb-program.ts";

test("adb is looked for in this order", () => {
  const env = { ANDROID_HOME: "/a", ANDROID_SDK_ROOT: "/r", HOME: "/h", PATH: "/p1:/p2::/usr/bin" };
  expect(adbPlaces(undefined, env).slice(0, 7)).toEqual([
    "/a/platform-tools/adb",
    "/r/platform-tools/adb",
    "/h/Library/Android/sdk/platform-tools/adb",
    "/h/Android/Sdk/platform-tools/adb",
    "/p1/adb",
    "/p2/adb",
    "/usr/bin/adb",
  ]);
  const places = adbPlaces(undefined, env);
  expect(new Set(places).size).toBe(places.length);
});

test("a named adb is the only place", () => {
  expect(adbPlaces("/x/adb", { ANDROID_HOME: "/a" })).toEqual(["/x/adb"]);
});

test("a folder of that name is no adb", () => {
  expect(() => findAdb("/tmp", {})).toThrow(expect.objectContaining({ code: "TOOL_MISSING" }));
});

test("versions of every kind of adb are read", () => {
  expect(parseAdbVersion("Android Debug Bridge version 1.0.41\nVersion 29.0.6-debian\nInstalled as x\n")).toEqual({
    protocol: 41,
    tools: "29.0.6-debian",
  });
  expect(parseAdbVersion("Android Debug Bridge version 1.0.36\nRevision 0e9850346394-android\n")).toEqual({
    protocol: 36,
    tools: "1.0.36",
  });
  expect(parseAdbVersion("nonsense")).toBeUndefined();
});
