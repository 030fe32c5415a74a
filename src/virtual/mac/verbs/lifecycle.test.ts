import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readXmlPlist } from "../../../plist/index.ts";
import { macForTest } from "../mac-for-test.ts";
import type { TestMac } from "../mac-for-test.ts";

let mac: TestMac;
beforeAll(() => {
  mac = macForTest();
});
afterAll(() => mac.dispose());

async function stateOf(udid: string): Promise<unknown> {
  const { devices } = JSON.parse(await mac.say("list", "-j", "devices"));
  const all: readonly { udid: string; state: string }[] = Object.values(devices).flat() as never;
  return all.find((device) => device.udid === udid)?.state;
}

test("a device is created shut down, boots, and shuts down", async () => {
  const udid = await mac.say("create", "one", "iPhone 17", "com.apple.CoreSimulator.SimRuntime.iOS-26-0");
  expect(udid).toMatch(/^[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}$/);
  expect(await stateOf(udid)).toBe("Shutdown");
  expect(await mac.simctl("boot", udid)).toMatchObject({ exit: 0, stdout: "", stderr: "" });
  expect(await stateOf(udid)).toBe("Booted");
  expect(await mac.simctl("shutdown", udid)).toMatchObject({ exit: 0, stdout: "", stderr: "" });
  expect(await stateOf(udid)).toBe("Shutdown");
});

test("the wrong state is refused with code 405, exit 149 and the state's name", async () => {
  const udid = await mac.booted("twice");
  const head = "An error was encountered processing the command (domain=com.apple.CoreSimulator.SimError, code=405):\n";
  expect(await mac.simctl("boot", udid)).toMatchObject({
    exit: 149,
    stderr: `${head}Unable to boot device in current state: Booted\n`,
  });
  expect(await mac.simctl("erase", udid)).toMatchObject({
    exit: 149,
    stderr: `${head}Unable to erase contents and settings in current state: Booted\n`,
  });
  await mac.say("shutdown", udid);
  expect(await mac.simctl("shutdown", udid)).toMatchObject({
    exit: 149,
    stderr: `${head}Unable to shutdown device in current state: Shutdown\n`,
  });
  expect(await mac.simctl("listapps", udid)).toMatchObject({
    exit: 149,
    stderr: `${head}Unable to lookup in current state: Shutdown\n`,
  });
});

test("a device that is not there is exit 164, and a wrong type or runtime is told apart", async () => {
  const answers = await Promise.all([
    mac.simctl("shutdown", "nobody"),
    mac.simctl("boot", "--help"),
    mac.simctl("boot", "nobody"),
    mac.simctl("create", "x", "iPhone 99"),
    mac.simctl("create", "x", "iPhone 17", "com.apple.CoreSimulator.SimRuntime.iOS-9-0"),
    mac.simctl("create", "x", "iPhone 17", "com.apple.CoreSimulator.SimRuntime.iOS-18-5"),
    mac.simctl("create", "x"),
  ]);
  expect(answers.map((answer) => [answer.exit, answer.stderr.split("\n").at(-2)])).toEqual([
    [164, "Invalid device: nobody"],
    [164, "Invalid device or device pair: --help"],
    [164, "Invalid device or device pair: nobody"],
    [161, "Invalid device type: iPhone 99"],
    [162, "Invalid runtime: com.apple.CoreSimulator.SimRuntime.iOS-9-0"],
    [147, "Incompatible device"],
    [2, "usage: simctl create <name> <device type id> [<runtime id>]"],
  ]);
});

test("without a runtime a device gets the newest one that its type pairs with", async () => {
  const udid = await mac.say("create", "old", "iPhone XR");
  const { devices } = JSON.parse(await mac.say("list", "-j", "devices", "old"));
  expect(devices["com.apple.CoreSimulator.SimRuntime.iOS-18-5"]).toEqual([
    expect.objectContaining({ udid, name: "old" }),
  ]);
});

test("a boot is Booting before it is Booted, and bootstatus tells the steps to its end", async ({ signal }) => {
  const slow = macForTest({ pace: "none", latencyMs: { boot: 1500, bootstatus: 600 } });
  try {
    const udid = await slow.say("create", "slow", "iPhone 17");
    const booting = slow.simctl("boot", udid);
    const states = new Set<string>();
    // Looks until the state that ends it is there.
    while (!states.has("Booted") && !signal.aborted) {
      const { devices } = JSON.parse(await slow.say("list", "-j", "devices", "slow"));
      states.add(devices["com.apple.CoreSimulator.SimRuntime.iOS-26-1"][0].state);
    }
    expect([...states]).toEqual(["Shutdown", "Booting", "Booted"].slice(states.has("Shutdown") ? 0 : 1));
    const status = await slow.say("bootstatus", udid);
    expect((await booting).exit).toBe(0);
    expect(status).toMatch(
      /^(Monitoring boot status for slow \(.*\)\.\n)(Status=\d, isTerminal=NO, Elapsed=\d\d:\d\d\.\n\tWaiting on .*\n)*(Status=4294967295, isTerminal=YES, Elapsed=\d\d:\d\d\.\n\tFinished|Device already booted, nothing to do\.)$/,
    );
    expect(await slow.say("bootstatus", udid)).toContain("Device already booted, nothing to do.");
  } finally {
    await slow.dispose();
  }
});

test("bootstatus -b boots a device that is shut down, and two at once share one boot", async () => {
  const udid = await mac.say("create", "shared", "iPhone 17");
  const both = await Promise.all([mac.simctl("bootstatus", udid, "-b"), mac.simctl("bootstatus", udid, "-bd")]);
  expect(both.map((each) => each.exit)).toEqual([0, 0]);
  expect(await stateOf(udid)).toBe("Booted");
});

test("an erase takes the data and keeps what lies beside it", async () => {
  const udid = await mac.booted("erased");
  await mac.say("ui", udid, "appearance", "dark");
  await mac.say("shutdown", udid);
  const folder = join(mac.deviceSet, udid);
  writeFileSync(join(folder, "durable.json"), "1");
  writeFileSync(join(folder, "data", "erasable.json"), "1");
  await mac.say("erase", udid);
  expect(existsSync(join(folder, "durable.json"))).toBe(true);
  expect(existsSync(join(folder, "data", "erasable.json"))).toBe(false);
  expect(existsSync(join(folder, "data", "Library", "Preferences"))).toBe(true);
  expect(readdirSync(folder).toSorted()).toEqual(["data", "device.plist", "durable.json"]);
  await mac.say("boot", udid);
  expect(await mac.say("ui", udid, "appearance")).toBe("light");
});

test("a deleted device is gone with its folder, also when it was booted", async () => {
  const udid = await mac.booted("deleted");
  const { devices } = JSON.parse(await mac.say("list", "-j", "devices", "deleted"));
  const { logPath } = devices["com.apple.CoreSimulator.SimRuntime.iOS-26-1"][0];
  expect(readdirSync(logPath)).toEqual(["system.log"]);
  expect(await mac.simctl("delete", udid)).toMatchObject({ exit: 0, stderr: "" });
  expect(existsSync(logPath)).toBe(false);
  expect(existsSync(join(mac.deviceSet, udid))).toBe(false);
  expect(readdirSync(mac.deviceSet).filter((name) => name.startsWith("."))).toEqual([]);
  expect((await mac.simctl("boot", udid)).exit).toBe(164);
});

test("a clone carries data and settings under a UDID of its own", async () => {
  const udid = await mac.booted("source");
  await mac.say("ui", udid, "content_size", "small");
  await mac.say("spawn", udid, "defaults", "write", "com.example", "key", "value");
  expect((await mac.simctl("clone", udid, "copy")).exit).toBe(149);
  await mac.say("shutdown", udid);
  const copy = await mac.say("clone", udid, "copy");
  expect(copy).not.toBe(udid);
  await mac.say("boot", copy);
  expect(await mac.say("ui", copy, "content_size")).toBe("small");
  expect(await mac.say("spawn", copy, "defaults", "read", "com.example", "key")).toBe("value");
});

test("a name survives as it is, and finds its device", async () => {
  const name = 'Jané\'s iPhone 🙂 \u00a0"quoted" back\\slash';
  const udid = await mac.say("create", "plain", "iPhone SE (3rd generation)");
  await mac.say("rename", udid, name);
  const { devices } = JSON.parse(await mac.say("list", "-j", "devices"));
  expect(Object.values(devices).flat()).toContainEqual(expect.objectContaining({ udid, name }));
  await mac.say("boot", name);
  expect(await stateOf(udid)).toBe("Booted");
  const record = readXmlPlist(readFileSync(join(mac.deviceSet, udid, "device.plist"), "utf8"));
  expect(record).toMatchObject({ UDID: udid, name, state: 3n });
});

test("a UDID is taken in any case; of several with one name the booted one is meant", async () => {
  const first = await mac.say("create", "twin", "iPhone 17");
  const second = await mac.say("create", "twin", "iPhone 17");
  await mac.say("boot", second.toLowerCase());
  expect(await mac.say("getenv", "twin", "SIMULATOR_UDID")).toBe(second);
  expect(await stateOf(first)).toBe("Shutdown");
});

test("an upgrade moves a shut-down device to a runtime that it pairs with", async () => {
  const udid = await mac.say("create", "up", "iPhone 16 Pro", "iOS 18.5");
  expect((await mac.simctl("upgrade", udid, "com.apple.CoreSimulator.SimRuntime.tvOS-26-1")).exit).toBe(147);
  await mac.say("upgrade", udid, "com.apple.CoreSimulator.SimRuntime.iOS-26-1");
  await mac.say("boot", udid);
  expect(await mac.say("getenv", udid, "SIMULATOR_RUNTIME_VERSION")).toBe("26.1");
});

test("shutdown all and erase all take every device of the set, and of no other", async () => {
  const set = join(mac.files, "own set");
  const own = await mac.say("--set", set, "create", "a", "iPhone 17");
  await mac.say(`--set=${set}`, "create", "b", "iPhone 17");
  await mac.say("--set", set, "boot", own);
  const elsewhere = await mac.booted("elsewhere");
  await mac.say("--set", set, "shutdown", "all");
  await mac.say("--set", set, "erase", "all");
  await mac.say("--set", set, "delete", "all");
  const { devices } = JSON.parse(await mac.say("--set", set, "list", "-j", "devices"));
  expect(Object.values(devices).flat()).toEqual([]);
  expect(await stateOf(elsewhere)).toBe("Booted");
});

test("a watch and a phone make a pair, and its UUID boots both", async () => {
  const watch = await mac.say("create", "watch", "Apple Watch Series 11 (46mm)");
  const phone = await mac.say("create", "its phone", "iPhone 17");
  expect((await mac.simctl("pair", phone, watch)).exit).toBe(147);
  const pair = await mac.say("pair", watch, phone);
  const { pairs } = JSON.parse(await mac.say("list", "-j", "pairs"));
  expect(pairs[pair]).toEqual({
    watch: { name: "watch", udid: watch, state: "Shutdown" },
    phone: { name: "its phone", udid: phone, state: "Shutdown" },
    state: "(active, disconnected)",
  });
  await mac.say("boot", pair);
  expect([await stateOf(watch), await stateOf(phone)]).toEqual(["Booted", "Booted"]);
  await mac.say("unpair", pair);
  expect((await mac.simctl("pair_activate", pair)).exit).toBe(164);
});
