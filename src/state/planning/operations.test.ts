import fc from "fast-check";
import { expect, test } from "vitest";
import { readXmlPlist } from "../../plist/index.ts";
import type { JsonValue, OperationAction } from "../types.ts";
import { canonicalJson, digestOf } from "./canonical.ts";
import { actOf, ACTIONS } from "./operations.ts";
import { plistFragment } from "./plist-fragment.ts";
import { UDID } from "./profile.fixture.ts";

const line = (action: OperationAction, given: unknown) =>
  actOf(action, given)
    .commands("U")
    .map(({ args }) => args.join(" "));

test.each<[OperationAction, { readonly [name: string]: JsonValue }, string[], string]>([
  ["createDevice", { name: "n", deviceType: "t", runtime: "r" }, ["create n t r"], "reversible"],
  ["createDevice", { name: "n", cloneFrom: UDID }, [`clone ${UDID} n`], "reversible"],
  ["erase", {}, ["erase U"], "destructive"],
  ["boot", {}, ["boot U", "bootstatus U -b"], "reversible"],
  ["shutdown", {}, ["shutdown U"], "reversible"],
  ["installApplication", { bundleIdentifier: "a.b", sourcePath: "/A.app" }, ["install U /A.app"], "reversible"],
  ["uninstallApplication", { bundleIdentifier: "a.b" }, ["uninstall U a.b"], "destructive"],
  [
    "launchApplication",
    { bundleIdentifier: "a.b", launchArguments: ["-x", "1"] },
    ["launch --terminate-running-process U a.b -x 1"],
    "reversible",
  ],
  ["terminateApplication", { bundleIdentifier: "a.b" }, ["terminate U a.b"], "reversible"],
  ["setPreference", { domain: "d", key: "k", value: null }, ["spawn U defaults delete d k"], "reversible"],
  ["setPreference", { domain: "d", key: "k", value: true }, ["spawn U defaults write d k -bool true"], "reversible"],
  ["setPreference", { domain: "d", key: "k", value: 7 }, ["spawn U defaults write d k -int 7"], "reversible"],
  ["setPreference", { domain: "d", key: "k", value: "-s" }, ["spawn U defaults write d k -string -s"], "reversible"],
  [
    "setPreference",
    { domain: "d", key: "k", value: 1.5 },
    ["spawn U defaults write d k <real>1.5</real>"],
    "reversible",
  ],
  [
    "setPreference",
    { domain: "d", key: "k", value: ["a", 1, false] },
    ["spawn U defaults write d k <array><string>a</string><integer>1</integer><false/></array>"],
    "reversible",
  ],
  [
    "setStatusBar",
    { wifiBars: 3, time: "09:41" },
    ["status_bar U clear", "status_bar U override --time 09:41 --wifiBars 3"],
    "reversible",
  ],
  ["setAppearance", { appearance: "dark" }, ["ui U appearance dark"], "reversible"],
  ["setIncreaseContrast", { increaseContrast: true }, ["ui U increase_contrast enabled"], "reversible"],
  ["setContentSize", { contentSize: "small" }, ["ui U content_size small"], "reversible"],
  [
    "setLocalization",
    { locale: "de_DE", use24HourClock: true },
    [
      "spawn U defaults write NSGlobalDomain AppleLocale -string de_DE",
      "spawn U defaults write NSGlobalDomain AppleICUForce24HourTime -bool true",
      "spawn U launchctl stop com.apple.SpringBoard",
    ],
    "reversible",
  ],
  [
    "setPrivacy",
    { service: "photos", bundleIdentifier: "a.b", access: "unset" },
    ["privacy U reset photos a.b"],
    "reversible",
  ],
  [
    "setLocation",
    { location: { point: { latitude: 1e-7, longitude: -2 } } },
    ["location U set 0.000000100000,-2"],
    "reversible",
  ],
  ["setLocation", { location: { clear: true } }, ["location U clear"], "reversible"],
  ["setPasteboard", { pasteboard: "x" }, ["pbcopy U"], "reversible"],
  ["addMedia", { path: "/p" }, ["addmedia U /p"], "reversible"],
  ["addRootCertificate", { path: "/c" }, ["keychain U add-root-cert /c"], "reversible"],
  ["sendPush", { bundleIdentifier: "a.b", payload: { aps: {} }, index: 0 }, ["push U a.b -"], "reversible"],
  ["openURL", { url: "acme://x" }, ["openurl U acme://x"], "reversible"],
])("%s %j", (action, given, commands, risk) => {
  expect(line(action, given)).toEqual(commands);
  expect(actOf(action, given).risk).toBe(risk);
});

test("every action refuses an argument that it does not know, without its value in the message", () => {
  for (const action of ACTIONS) {
    expect(() => actOf(action, { surprise: "hunter2" })).toThrow(
      expect.objectContaining({ code: "STATE_INVALID", message: expect.not.stringContaining("hunter2") }),
    );
  }
});

test("an app's environment goes to it, and a push and a pasteboard over standard input", () => {
  const [launch] = actOf("launchApplication", {
    bundleIdentifier: "a.b",
    launchArguments: [],
    launchEnvironment: { MODE: "x" },
  }).commands("U");
  expect(launch?.environment).toEqual({ SIMCTL_CHILD_MODE: "x" });
  const [push] = actOf("sendPush", { bundleIdentifier: "a.b", payload: { aps: { badge: 1 } }, index: 0 }).commands("U");
  expect(push?.stdin).toBe('{"aps":{"badge":1}}');
});

test("every command has a time limit", () => {
  const boot = actOf("boot", {}).commands("U");
  expect(boot.map(({ timeoutMs }) => timeoutMs)).toEqual([60_000, 600_000]);
});

test("a fragment reads back as the value and the types that went in", () => {
  const scalar = fc.oneof(
    fc.boolean(),
    fc.string({ unit: "grapheme" }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  fc.assert(
    fc.property(fc.array(scalar), (values) => {
      const back = readXmlPlist(`<plist>${plistFragment(values)}</plist>`);
      fc.pre(!/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(JSON.stringify(values)));
      expect(back).toEqual(
        values.map((each) => (typeof each === "number" && Number.isSafeInteger(each) ? BigInt(each) : each)),
      );
    }),
  );
  expect(plistFragment({ $data: "AP8Q" })).toBe("<data>AP8Q</data>");
  expect(plistFragment({ a: { $date: "2026-01-02T03:04:05.000Z" } })).toBe(
    "<dict><key>a</key><date>2026-01-02T03:04:05Z</date></dict>",
  );
});

test("equal values give the same digest whatever the order of their keys; others another", () => {
  const shuffled = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([key, each]) => [key, shuffled(each)]),
    );
  };
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      expect(digestOf(shuffled(value))).toBe(digestOf(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
  expect(digestOf({ a: 1, b: undefined })).toBe(digestOf({ a: 1 }));
  expect(digestOf({ a: 1 })).not.toBe(digestOf({ a: "1" }));
});
