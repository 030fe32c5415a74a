import { execFile } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { callTool } from "../../exec/index.ts";
import { createVirtualMac, setFaults, virtualXcrun } from "../../virtual/index.ts";
import type { Control, VirtualMac } from "../../virtual/index.ts";
import type { Driver } from "../driver.ts";
import type { CallTool } from "../tool-call.ts";
import { createSimulatorDriver } from "./driver.ts";
import type { SimulatorDriverOptions } from "./driver.ts";
import { failure, forever, own } from "./recorded-mac.ts";
import type { Made } from "./recorded-mac.ts";

// The driver against `simctl` as a process of its own, on a virtual Mac whose default set holds simulators that are not ours.

// Each of some hundred calls is a Node process of its own; on a busy machine one takes a second.
vi.setConfig({ testTimeout: 120_000 });
const compiled = mkdtempSync(join(tmpdir(), "simlock-compiled-"));
afterAll(() => rmSync(compiled, { recursive: true, force: true, maxRetries: 5 }));

let folder = "";
let mac: VirtualMac;
let driver: Driver;
const children: (readonly string[])[] = [];

const counted: CallTool = (call) => {
  children.push(call.args.slice(2));
  return callTool(call);
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "simlock-vmac-"));
  mac = createVirtualMac(join(folder, "mac"), { pace: "none" });
  driver = driverOf();
  children.length = 0;
});

afterEach(async () => {
  await driver.dispose();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

function xcrun() {
  const { file, prefix, env } = virtualXcrun(mac.root);
  return { file, prefix, env: { ...env, NODE_COMPILE_CACHE: compiled } };
}

function driverOf(more: Partial<SimulatorDriverOptions> = {}): Driver {
  return createSimulatorDriver({
    xcrun: xcrun(),
    call: counted,
    defaultSet: mac.deviceSet,
    instanceId: "instance-a",
    bootTimeoutMs: 100_000,
    ...more,
  });
}

const spec = { platform: "ios", model: "iPhone 17", osVersion: "26.0" } as const;

async function made(id: string): Promise<Made> {
  const device = own(id, { spec });
  return { ...device, driverDeviceId: (await driver.create(device, forever())).driverDeviceId };
}

/** What somebody else does on this Mac. */
async function simctl(...args: readonly string[]): Promise<string> {
  const { file, prefix, env } = xcrun();
  const { stdout } = await promisify(execFile)(file, [...prefix, "simctl", ...args], {
    env: { ...process.env, ...env },
  });
  return stdout;
}

function faults(control: Control): void {
  setFaults(mac.root, { pace: "none", ...control });
}

function markFile(device: Made, which: "durable" | "erasable"): string {
  return join(mac.deviceSet, device.driverDeviceId, which === "durable" ? "" : "data", "simlock-mark.json");
}

/** Everything of the set that is not `mine`: what simctl lists and every file with its time and content. */
async function foreign(mine: readonly string[]): Promise<unknown> {
  const listing: unknown = JSON.parse(await simctl("list", "-j", "devices"));
  const files = readdirSync(mac.deviceSet, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(join(mac.deviceSet, "virtual.db")))
    .filter((path) => !mine.some((udid) => relative(mac.deviceSet, path).startsWith(udid)))
    .map((path) => [relative(mac.deviceSet, path), statSync(path).mtimeMs, readFileSync(path, "utf8")] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { devices: devicesOf(listing).filter(({ udid }) => !mine.includes(udid)), files };
}

function devicesOf(listing: unknown): readonly { readonly udid: string }[] {
  if (typeof listing !== "object" || listing === null || !("devices" in listing)) throw new Error("no devices");
  const { devices } = listing;
  if (typeof devices !== "object" || devices === null) throw new Error("no devices");
  return Object.values(devices).flat();
}

test("a simulator's whole life: made, booted, cleaned, booted again, shut down, destroyed", async () => {
  const device = await made("a");
  expect(await driver.read()).toMatchObject([
    {
      driverDeviceId: device.driverDeviceId,
      name: "simlock-dev_a",
      runState: "stopped",
      durableMark: "token-a",
      erasableMark: "token-a",
    },
  ]);
  expect(await driver.boot(device, forever())).toEqual({ address: device.driverDeviceId });
  expect(await driver.read()).toMatchObject([{ runState: "running" }]);
  writeFileSync(join(mac.deviceSet, device.driverDeviceId, "data", "secret"), "of the last holder");
  expect(await driver.clean(device, forever())).toEqual({ state: "shutdown", strategy: "erase" });
  expect(existsSync(join(mac.deviceSet, device.driverDeviceId, "data", "secret"))).toBe(false);
  expect(await driver.read()).toMatchObject([{ runState: "stopped", durableMark: "token-a", erasableMark: "token-a" }]);
  await driver.boot(device, forever());
  await driver.shutdown(device, forever());
  expect(await driver.read()).toMatchObject([{ runState: "stopped" }]);
  await driver.destroy(device, forever());
  expect(await driver.read()).toEqual([]);
});

test("twenty readings at once start one child", async () => {
  await made("a");
  children.length = 0;
  const all = await Promise.all(Array.from({ length: 20 }, () => driver.read()));
  expect(children).toEqual([["list", "-j", "devices"]]);
  expect(new Set(all.map((devices) => JSON.stringify(devices))).size).toBe(1);
});

test("nothing that we do touches a simulator that is not ours", async () => {
  const theirs = (await simctl("create", "iPhone 17", "iPhone 17", "iOS 26.0")).trim();
  await simctl("boot", theirs);
  const alike = (await simctl("create", "simlock-dev_x", "iPhone 17", "iOS 26.0")).trim();
  const before = await foreign([]);
  const device = await made("a");
  const mine = [device.driverDeviceId];
  await driver.catalog();
  await driver.prerequisites();
  await driver.boot(device, forever());
  await driver.clean(device, forever());
  for (const udid of [theirs, alike]) {
    const claimed = own("x", { driverDeviceId: udid });
    const acts = [driver.clean, driver.shutdown, driver.destroy, driver.boot];
    const refused = await Promise.all(acts.map((act) => failure(Promise.resolve(act(claimed, forever())))));
    expect(refused.map((error) => error.code)).toEqual(acts.map(() => "DEVICE_UNAVAILABLE"));
  }
  expect(await foreign(mine)).toEqual(before);
  await driver.destroy(device, forever());
  await driver.destroy(own("never-made"), forever());
  expect(await foreign([])).toEqual(before);
});

test.each(["before", "during", "after"] as const)(
  "a create whose command dies %s its work ends with one device, marked",
  async (kill) => {
    faults({ faults: [{ verb: "create", times: 1, kill }] });
    await driver.create(own("a", { spec }), forever()).catch(() => undefined);
    await driver.create(own("a", { spec }), forever());
    const listed = await driver.read();
    expect(listed).toMatchObject([{ name: "simlock-dev_a", durableMark: "token-a", erasableMark: "token-a" }]);
  },
);

test("a create that answers as if it had failed is taken over by the next attempt, or destroyed by name", async () => {
  faults({ faults: [{ verb: "create", times: 2, failAfter: { exit: 1, stderr: "CoreSimulator went away\n" } }] });
  for (const id of ["a", "b"])
    expect((await failure(driver.create(own(id, { spec }), forever()))).code).toBe("TOOL_FAILED");
  await driver.destroy(own("b"), forever());
  const device = await made("a");
  expect(await driver.read()).toMatchObject([{ driverDeviceId: device.driverDeviceId, durableMark: "token-a" }]);
});

test("an erase behind our back is seen", async () => {
  const device = await made("a");
  await simctl("erase", device.driverDeviceId);
  expect(await driver.read()).toMatchObject([{ durableMark: "token-a", erasableMark: undefined }]);
});

test("a clone of ours is neither shown as ours nor in the way", async () => {
  const device = await made("a");
  const clone = (await simctl("clone", device.driverDeviceId, "simlock-dev_a copy")).trim();
  expect((await driver.read()).map((one) => one.driverDeviceId)).toEqual([device.driverDeviceId]);
  await driver.destroy(device, forever());
  expect(await simctl("list", "devices")).toContain(clone);
});

test("devices whose marks were swapped are not touched", async () => {
  const [a, b] = [await made("a"), await made("b")];
  const aside = join(folder, "aside");
  renameSync(markFile(a, "durable"), aside);
  renameSync(markFile(b, "durable"), markFile(a, "durable"));
  renameSync(aside, markFile(b, "durable"));
  for (const device of [a, b]) {
    expect((await failure(driver.clean(device, forever()))).details).toMatchObject({ provenance: "mark-mismatch" });
    expect((await failure(driver.destroy(device, forever()))).details).toMatchObject({ provenance: "mark-mismatch" });
  }
  expect(await driver.read()).toHaveLength(2);
});

test("a device that was deleted behind our back is gone for every act but its own destruction", async () => {
  const device = await made("a");
  await simctl("delete", device.driverDeviceId);
  const acts = [driver.boot, driver.clean, driver.shutdown];
  const refused = await Promise.all(acts.map((act) => failure(Promise.resolve(act(device, forever())))));
  expect(refused.map((error) => error.details)).toEqual(
    acts.map(() => expect.objectContaining({ provenance: "gone" })),
  );
  await driver.destroy(device, forever());
});

test("a boot that never ends is shut down at its time limit", async () => {
  const device = await made("a");
  faults({
    faults: [
      { verb: "boot", boot: "never", hang: true },
      { verb: "bootstatus", boot: "never" },
    ],
  });
  const impatient = driverOf({ bootTimeoutMs: 3_000 });
  expect((await failure(impatient.boot(device, forever()))).code).toBe("DEVICE_START_FAILED");
  await impatient.dispose();
  expect(await driver.read()).toMatchObject([{ runState: "stopped" }]);
});

test("a device that comes up without a screen is booted once more", async () => {
  const device = await made("a");
  faults({ faults: [{ verb: "boot", times: 1, boot: "no-display" }] });
  expect(await driver.boot(device, forever())).toEqual({ address: device.driverDeviceId });
  expect(children.filter(([verb]) => verb === "boot")).toHaveLength(2);
});

test("a clean that dies halfway is finished by the next one", async () => {
  const device = await made("a");
  await driver.boot(device, forever());
  faults({ faults: [{ verb: "erase", times: 1, kill: "during" }] });
  await failure(driver.clean(device, forever()));
  await driver.clean(device, forever());
  expect(await driver.read()).toMatchObject([{ runState: "stopped", durableMark: "token-a", erasableMark: "token-a" }]);
});

test("text in front of every answer, and the oldest form of listings, change nothing", async () => {
  faults({
    format: "legacy",
    faults: [
      {
        verb: "list",
        noise: { stdout: "Install Started\nInstall Failed: Error Domain=X {code=3}\n", stderr: "warning\n" },
      },
    ],
  });
  const device = await made("a");
  expect(await driver.read()).toMatchObject([{ durableMark: "token-a", erasableMark: "token-a" }]);
  await driver.clean(device, forever());
  await driver.destroy(device, forever());
  expect(await driver.read()).toEqual([]);
});

test("without Xcode every act says so", async () => {
  const device = await made("a");
  faults({ xcode: "command-line-tools" });
  expect((await failure(driver.read())).code).toBe("TOOL_MISSING");
  expect((await failure(driver.boot(device, forever()))).code).toBe("TOOL_MISSING");
  expect(await driver.prerequisites()).toMatchObject([{ prerequisite: "xcode" }]);
  expect(await driver.hostTools()).toEqual([]);
});

test("a host without runtimes has models, and says what is missing", async () => {
  const { runtimes } = await driver.catalog();
  expect(runtimes).toEqual(["26.1", "26.0", "18.5", "17.5"]);
  expect(await driver.prerequisites()).toEqual([]);
  expect(await driver.hostTools()).toMatchObject([{ name: "xcode", version: "26.1" }]);
});

test("a set of our own holds our devices, and the default set stays as it was", async () => {
  const before = await foreign([]);
  const deviceSet = join(folder, "own set");
  const contained = driverOf({ deviceSet });
  const device = own("a", { spec });
  const { driverDeviceId } = await contained.create(device, forever());
  expect(existsSync(join(deviceSet, driverDeviceId, "simlock-mark.json"))).toBe(true);
  await contained.boot({ ...device, driverDeviceId }, forever());
  expect(await contained.read()).toMatchObject([{ driverDeviceId, runState: "running" }]);
  expect(await driver.read()).toEqual([]);
  expect(await foreign([])).toEqual(before);
  await contained.destroy({ ...device, driverDeviceId }, forever());
  expect(await contained.read()).toEqual([]);
  await contained.dispose();
});

test("a set that another home owns is refused before anything runs", async () => {
  const deviceSet = join(folder, "own set");
  const first = driverOf({ deviceSet });
  await first.read();
  const other = driverOf({ deviceSet, instanceId: "instance-b" });
  children.length = 0;
  expect((await failure(other.read())).details).toMatchObject({ reason: "wrong-instance" });
  expect(children).toEqual([]);
});

test("many devices at once: made, cleaned and destroyed, each its own", async () => {
  const devices = await Promise.all(["a", "b", "c", "d"].map(made));
  expect(new Set(devices.map((device) => device.driverDeviceId)).size).toBe(4);
  await Promise.all(devices.map((device) => driver.clean(device, forever())));
  expect((await driver.read()).map((device) => device.erasableMark)).toHaveLength(4);
  await Promise.all(devices.map((device) => driver.destroy(device, forever())));
  expect(await driver.read()).toEqual([]);
});

test("a hanging command ends when the driver is disposed of", async () => {
  const device = await made("a");
  faults({ faults: [{ verb: "erase", hang: true }] });
  const cleaning = failure(driver.clean(device, forever()));
  await expect.poll(() => children.some(([verb]) => verb === "erase"), { timeout: 10_000 }).toBe(true);
  await driver.dispose();
  expect((await cleaning).code).toBe("CANCELLED");
});
