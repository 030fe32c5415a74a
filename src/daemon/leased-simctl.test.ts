import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { DeviceId, LeaseId } from "../contract/index.ts";
import { localPaths, type Setting } from "../exec/index.ts";
import type { Device } from "../leasing/index.ts";
import { createFakeDriver } from "./fake-driver.ts";
import { leasedSimctl } from "./leased-simctl.ts";

const scratch = mkdtempSync(join(tmpdir(), "sl-leased-"));
const HOME = mkdtempSync(join(tmpdir(), "sl-home-"));
afterAll(() => [scratch, HOME].forEach((folder) => rmSync(folder, { recursive: true, force: true })));

const UDID = "6F1C0000-0000-4000-8000-000000000001";
const OTHER = "6F1C0000-0000-4000-8000-000000000002";
const leaseId = LeaseId.parse("lse_1");
const device = {
  id: DeviceId.parse("dev_1"),
  driverDeviceId: UDID,
  name: "simlock-dev_1",
  mark: "token",
  spec: { platform: "ios", model: "iPhone 17", osVersion: "26.1" },
  baseline: undefined,
} as Device;
const setting: Setting = {
  device: { kind: "simulator", udid: UDID },
  terminal: false,
  stdin: false,
  paths: localPaths({ cwd: scratch, scratch, protectedRoots: [HOME] }),
  forwards: new Map(),
  reservedPorts: new Set(),
  hostCode: "allow",
};

/** A `simctl` that prints the arguments that reached it, and what was done around it. */
function leased(exitCode = 0) {
  const told: string[] = [];
  const driver = Object.assign(createFakeDriver(), {
    remark: async (own: { deviceId: string }) => void told.push(`remark ${own.deviceId}`),
  });
  const script = `console.log(JSON.stringify(process.argv.slice(1))); process.exitCode = ${exitCode}`;
  const run = leasedSimctl({
    leaseId,
    device,
    driver,
    udid: UDID,
    setting,
    tool: { file: process.execPath, prefix: ["-e", script, "--", "simctl"], env: {} },
    environment: process.env,
    scratch,
    power: async (_lease, off) => void told.push(off ? "power off" : "power on"),
    signal: new AbortController().signal,
  });
  const ask = async (...args: readonly string[]): Promise<unknown> =>
    JSON.parse((await run({ args, timeoutMs: 10_000 })).stdout);
  return { told, run, ask };
}

test("a command on the leased device reaches it as it is", async () => {
  const { ask, told } = leased();
  expect(await ask("ui", UDID, "appearance", "dark")).toEqual(["simctl", "ui", UDID, "appearance", "dark"]);
  expect(await ask("list", "-j")).toEqual(["simctl", "list", "-j"]);
  expect(told).toEqual([]);
});

test.for([
  [["ui", OTHER, "appearance", "dark"]],
  [["erase", OTHER]],
  [["erase", "all"]],
  [["boot", OTHER]],
  [["shutdown", "all"]],
  [["bootstatus", OTHER, "-b"]],
  [["delete", UDID]],
  [["install", UDID, join(HOME, "App.app")]],
] as const)("%j is refused, whatever a plan says", async ([args]) => {
  const { run, told } = leased();
  await expect(run({ args, timeoutMs: 10_000 })).rejects.toMatchObject({ code: "PASSTHROUGH_REFUSED" });
  expect(told).toEqual([]);
});

test("the decider hears of the device's power before the tool does", async () => {
  const { ask, told } = leased();
  await ask("shutdown", UDID);
  await ask("boot", UDID);
  expect(told).toEqual(["power off", "power on"]);
});

test("an erased device is marked again, one that was not erased is left alone", async () => {
  const done = leased();
  expect(await done.ask("erase", UDID)).toEqual(["simctl", "erase", UDID]);
  expect(done.told).toEqual(["remark dev_1"]);
  const failed = leased(149);
  await failed.run({ args: ["erase", UDID], timeoutMs: 10_000 });
  expect(failed.told).toEqual([]);
});
