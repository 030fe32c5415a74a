import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSampleApp, virtualXcrun } from "../../virtual/index.ts";
import { macForTest } from "../../virtual/mac/mac-for-test.ts";
import type { TestMac } from "../../virtual/mac/mac-for-test.ts";
import type { DeviceReader, StatusBar } from "../types.ts";
import { createReader } from "./reader.ts";
import { simctlRunner } from "./simctl-runner.ts";

// The reader against `simctl` as a process of its own.

let mac: TestMac;
let reader: DeviceReader;
let udid: string;

beforeAll(async () => {
  mac = macForTest();
  reader = createReader(simctlRunner({ xcrun: virtualXcrun(mac.root), env: process.env }));
  udid = await mac.booted();
});
afterAll(() => mac.dispose());

const CLEAN: StatusBar = { time: "09:41", dataNetwork: "wifi", batteryState: "charged", batteryLevel: 100 };

test("what was set on a booted device is read back", async () => {
  const demo = makeSampleApp(mac.files, { bundleId: "com.acme.demo", name: "Demo é; {}", version: "2.5" });
  await mac.say("install", udid, demo);
  await mac.say("launch", udid, "com.acme.demo");
  const bar = Object.entries(CLEAN).flatMap(([key, value]) => [`--${key}`, String(value)]);
  await mac.say("status_bar", udid, "override", ...bar);
  await mac.say("ui", udid, "appearance", "dark");
  await mac.say("ui", udid, "increase_contrast", "enabled");
  await mac.say("ui", udid, "content_size", "accessibility-medium");
  await mac.say("privacy", udid, "grant", "photos", "com.acme.other");
  await mac.say("privacy", udid, "revoke", "camera", "com.acme.other");
  const write = (...words: readonly string[]) => mac.say("spawn", udid, "defaults", "write", ...words);
  await write("com.acme.demo", "seen", "-bool", "false");
  await write("com.acme.demo", "count", "-int", "3");
  await write("com.acme.demo", "ratio", "-float", "1.5");
  await write("com.acme.demo", "mixed", "<array><true/><integer>1</integer><string>1; {x}</string></array>");
  await write("-g", "AppleLanguages", "-array", "de-DE", "en");
  await mac.here(["simctl", "pbcopy", udid], { stdin: "é\n" });

  const { state, capabilities } = await reader.snapshot({
    udid,
    domains: ["com.acme.demo", "com.acme.never"],
    pasteboard: true,
  });

  expect(state.applications.find((app) => app.bundleIdentifier === "com.acme.demo")).toMatchObject({
    bundlePath: expect.stringMatching(/Demo é; \{\}\.app$/),
    running: true,
    version: "2.5",
    build: "2.5",
    type: "User",
  });
  expect(state.applications.find((app) => app.bundleIdentifier === "com.apple.Maps")?.running).toBe(false);
  expect(state).toMatchObject({
    power: "booted",
    statusBar: CLEAN,
    appearance: "dark",
    increaseContrast: true,
    contentSize: "accessibility-medium",
    localization: { languages: ["de-DE", "en"] },
    privacy: [
      { service: "camera", bundleIdentifier: "com.acme.other", access: "denied" },
      { service: "photos", bundleIdentifier: "com.acme.other", access: "granted" },
    ],
    pasteboard: "é\n",
    preferenceDomains: ["com.acme.demo", "com.acme.never"],
  });
  expect(Object.fromEntries(state.preferences.map(({ key, value }) => [key, value]))).toEqual({
    seen: false,
    count: 3,
    ratio: 1.5,
    mixed: [true, 1, "1; {x}"],
  });
  expect(Object.values(capabilities).filter((each) => !each.readable)).toHaveLength(5);
});

test("a device that is shut down, one that is no phone and one that is not there", async () => {
  const { devices } = await reader.inventory();
  const shutDown = devices.find((device) => device.name === "iPhone 17 Pro");
  expect(await reader.snapshot({ udid: shutDown?.udid ?? "" })).toMatchObject({
    state: { power: "shutdown", statusBar: {}, privacy: [] },
    capabilities: { applications: { readable: false }, privacy: { readable: true } },
  });
  await expect(reader.snapshot({ udid: "booted" })).rejects.toMatchObject({ code: "UNKNOWN_DEVICE" });
  const television = devices.find((device) => device.name.startsWith("Apple TV"));
  await mac.say("bootstatus", television?.udid ?? "", "-b");
  expect((await reader.snapshot({ udid: television?.udid ?? "" })).capabilities.appearance?.support).toBe(
    "unsupported",
  );
});

test("DEVELOPER_DIR reaches xcrun, and what could load code into it does not", async () => {
  const print =
    "process.stdout.write([process.env.DEVELOPER_DIR, process.env.LD_PRELOAD, ...process.argv.slice(1)].join())";
  const run = simctlRunner({
    xcrun: { file: process.execPath, prefix: ["-e", print, "--"], env: {} },
    env: { ...process.env, DEVELOPER_DIR: "/X", LD_PRELOAD: "" },
    deviceSet: join("/", "set"),
  });
  expect((await run({ args: ["list", "-j"], timeoutMs: 20_000 })).stdout).toBe("/X,,simctl,--set,/set,list,-j");
});
