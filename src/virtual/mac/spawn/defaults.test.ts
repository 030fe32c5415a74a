import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readXmlPlist } from "../../../plist/index.ts";
import { macForTest } from "../mac-for-test.ts";
import type { TestMac } from "../mac-for-test.ts";

let mac: TestMac;
let udid: string;
beforeAll(async () => {
  mac = macForTest();
  udid = await mac.booted();
});
afterAll(() => mac.dispose());

const defaults = (...words: readonly string[]) => mac.simctl("spawn", udid, "defaults", ...words);
const say = (...words: readonly string[]) => mac.say("spawn", udid, "defaults", ...words);

test("each type is kept: read, typed and exported as it was written", async () => {
  const written: readonly (readonly string[])[] = [
    ["text", "-string", "a b"],
    ["bare", "word"],
    ["numeral", "42"],
    ["whole", "-int", "42"],
    ["real", "-float", "1.5"],
    ["roundReal", "-float", "2"],
    ["yes", "-bool", "YES"],
    ["bytes", "-data", "00ff10"],
    ["when", "-date", "2026-01-02T03:04:05Z"],
    ["list", "-array", "a", "-int", "1", "(x, y)"],
    ["map", "-dict", "on", "-bool", "true", "deep", "{ a = 1; }"],
    ["empty", "-string", ""],
    ["none", "-array"],
  ];
  for (const words of written)
    expect(await defaults("write", "com.example.types", ...words)).toMatchObject({ exit: 0, stderr: "" });
  expect(readXmlPlist(await say("export", "com.example.types", "-"))).toEqual({
    text: "a b",
    bare: "word",
    numeral: "42",
    whole: 42n,
    real: 1.5,
    roundReal: 2,
    yes: true,
    bytes: new Uint8Array([0, 255, 16]),
    when: new Date("2026-01-02T03:04:05Z"),
    list: ["a", 1n, ["x", "y"]],
    map: { on: true, deep: { a: "1" } },
    empty: "",
    none: [],
  });
  const reads = ["text", "whole", "real", "yes", "bytes", "when", "list"].map((key) =>
    say("read", "com.example.types", key),
  );
  expect(await Promise.all(reads)).toEqual([
    "a b",
    "42",
    "1.5",
    "1",
    "{length = 3, bytes = 0x00ff10}",
    "2026-01-02 03:04:05 +0000",
    "(\n    a,\n    1,\n        (\n        x,\n        y\n    )\n)",
  ]);
  const types = ["numeral", "whole", "roundReal", "yes", "list", "map"].map((key) =>
    say("read-type", "com.example.types", key),
  );
  expect(await Promise.all(types)).toEqual([
    "Type is string",
    "Type is integer",
    "Type is float",
    "Type is boolean",
    "Type is array",
    "Type is dictionary",
  ]);
});

test("awkward strings and keys come back as they were", async () => {
  const values = ['quote " and \\', "tab\tline\nend", " both ends ", "日本 🙂", "<a>&amp;</a>", "-dash", "\u0001"];
  for (const [index, value] of values.entries())
    await say("write", "com.example.odd", `key ${index} "日"`, "-string", value);
  const read = await Promise.all(values.map((_, index) => defaults("read", "com.example.odd", `key ${index} "日"`)));
  expect(read.map((answer) => answer.stdout)).toEqual(values.map((value) => `${value}\n`));
});

test("what is not there exits 1 with the tool's words", async () => {
  await say("write", "com.example.some", "key", "1");
  const [noKey, noDomain, noDelete] = await Promise.all([
    defaults("read", "com.example.some", "other"),
    defaults("read", "com.example.none"),
    defaults("delete", "com.example.some", "other"),
  ]);
  expect([noKey?.exit, noDomain?.exit, noDelete?.exit]).toEqual([1, 1, 1]);
  expect(noKey?.stderr).toMatch(
    /defaults\[\d+:\d+\] \nThe domain\/default pair of \(com\.example\.some, other\) does not exist\n$/,
  );
  expect(noDomain?.stderr).toContain("Domain com.example.none does not exist");
  expect(noDelete?.stderr).toContain("Defaults have not been changed.");
});

test("values are added to, renamed, removed, imported and found", async () => {
  await say("write", "com.example.more", "list", "-array", "a");
  await say("write", "com.example.more", "list", "-array-add", "b");
  await say("write", "com.example.more", "map", "-dict-add", "k", "-int", "1");
  await say("rename", "com.example.more", "map", "renamed");
  const file = join(mac.files, "import.plist");
  writeFileSync(file, await say("export", "com.example.more", "-"));
  await say("import", "com.example.copy", file);
  expect(readXmlPlist(await say("export", "com.example.copy", "-"))).toEqual({ list: ["a", "b"], renamed: { k: 1n } });
  expect(await say("domains")).toContain("com.example.copy, com.example.more");
  await say("delete", "com.example.copy");
  expect((await defaults("read", "com.example.copy")).exit).toBe(1);
  await say("write", "com.example.more", "{ whole = yes; }");
  expect(await say("read", "com.example.more")).toBe("{\n    whole = yes;\n}");
});

test("a wrong value changes nothing", async () => {
  await say("write", "com.example.kept", "key", "before");
  const answers = await Promise.all([
    defaults("write", "com.example.kept", "key", "-int", "many"),
    defaults("write", "com.example.kept", "key", "-bool", "perhaps"),
    defaults("write", "com.example.kept", "key", "-data", "xyz"),
    defaults("write", "com.example.kept", "key", "( unclosed"),
    defaults("write", "com.example.kept", "key", "-array-add", "x"),
    defaults("frobnicate", "com.example.kept"),
  ]);
  expect(answers.map((answer) => answer.exit)).toEqual([1, 1, 1, 1, 1, 255]);
  expect(await say("read", "com.example.kept", "key")).toBe("before");
});

test("the global domain has its own file, and domains lie where a device keeps them", async () => {
  await say("write", "-g", "AppleLocale", "de_DE");
  expect(await say("read", "NSGlobalDomain", "AppleLocale")).toBe("de_DE");
  const file = join(mac.deviceSet, udid, "data/Library/Preferences/.GlobalPreferences.plist");
  expect(readXmlPlist(readFileSync(file, "utf8"))).toEqual({ AppleLocale: "de_DE" });
});

test("twenty writers at once lose no value", async () => {
  const keys = Array.from({ length: 20 }, (_, index) => `key${index}`);
  await Promise.all(keys.map((key) => say("write", "com.example.many", key, "-int", "1")));
  const values = readXmlPlist(await say("export", "com.example.many", "-"));
  expect(values).toEqual(Object.fromEntries(keys.map((key) => [key, 1n])));
});
