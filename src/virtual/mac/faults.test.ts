import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { SimlockError } from "../../contract/index.ts";
import { setFaults } from "../index.ts";
import type { Control, Fault } from "../index.ts";
import { macForTest } from "./mac-for-test.ts";
import type { TestMac } from "./mac-for-test.ts";

let mac: TestMac;
beforeAll(() => {
  mac = macForTest();
});
afterEach(() => setFaults(mac.root, { pace: "none" }));
afterAll(() => mac.dispose());

const faults = (...list: readonly Fault[]) => setFaults(mac.root, { pace: "none", faults: [...list] });
const listing = () => mac.simctl("list", "-j", "devices");
const names = async () =>
  Object.values<readonly { name: string; state: string; udid: string }[]>(
    JSON.parse((await listing()).stdout).devices,
  ).flat();

test("a call fails as often as it was told, after as many that pass", async () => {
  faults({ verb: "list", skip: 1, times: 2, fail: { exit: 3, stderr: "no\n" } });
  const exits = [];
  for (let call = 0; call < 5; call++) exits.push((await listing()).exit);
  expect(exits).toEqual([0, 3, 3, 0, 0]);
});

test("each of many callers at once takes one turn of a fault", async () => {
  faults({ verb: "list", times: 5, fail: { exit: 9 } });
  const answers = await Promise.all(Array.from({ length: 12 }, listing));
  expect(answers.filter((answer) => answer.exit === 9)).toHaveLength(5);
});

test("the same faults set again start anew", async () => {
  const once: Fault = { verb: "list", times: 1, fail: { exit: 9 } };
  faults(once);
  expect([(await listing()).exit, (await listing()).exit]).toEqual([9, 0]);
  faults(once);
  expect([(await listing()).exit, (await listing()).exit]).toEqual([9, 0]);
});

test("noise comes before the output and leaves it whole", async () => {
  faults({
    verb: "list",
    noise: { stdout: "Install Started\n", stderr: "simctl[12:34] CoreSimulator detected Xcode.app relocation\n" },
  });
  const { exit, stdout, stderr } = await listing();
  expect(exit).toBe(0);
  expect(stdout.startsWith('Install Started\n{\n  "devices" : {')).toBe(true);
  expect(stderr).toContain("Xcode.app relocation");
});

test("exit 0 can be a lie: the call did nothing", async () => {
  faults({ verb: "create", fail: { exit: 0 } });
  const before = await names();
  expect(await mac.simctl("create", "lie", "iPhone 17")).toMatchObject({ exit: 0, stdout: "" });
  expect(await names()).toEqual(before);
});

test("a failure can be one as well: the call did its work and says that it did not", async () => {
  faults({ verb: "create", times: 1, failAfter: { exit: 60, stderr: "timed out\n" } });
  expect(await mac.simctl("create", "made all the same", "iPhone 17")).toMatchObject({
    exit: 60,
    stdout: "",
    stderr: "timed out\n",
  });
  expect(await names()).toContainEqual(expect.objectContaining({ name: "made all the same" }));
});

test("a fault hits the device or the words that it names, and no other", async () => {
  const one = await mac.booted("one");
  const two = await mac.booted("two");
  faults({ verb: "io screenshot", device: one, fail: { exit: 5 } }, { verb: "spawn launchctl", fail: { exit: 6 } });
  const exit = async (...words: readonly string[]) => (await mac.simctl(...words)).exit;
  expect([
    await exit("io", one, "screenshot", "-"),
    await exit("io", two, "screenshot", "-"),
    await exit("io", one, "enumerate"),
    await exit("spawn", one, "launchctl", "list"),
    await exit("spawn", one, "defaults", "domains"),
  ]).toEqual([5, 0, 0, 6, 0]);
});

test("a call killed before, during or after its work leaves a set that the next call can use", async () => {
  faults(
    { verb: "create", times: 1, kill: "before" },
    { verb: "create", skip: 1, times: 1, kill: "during" },
    { verb: "create", skip: 2, times: 1, kill: "after" },
  );
  const create = (name: string) => mac.xcrun(["simctl", "create", name, "iPhone 17"]);
  const killed = [await create("k1"), await create("k2"), await create("k3")];
  expect(killed.map((answer) => [answer.signal, answer.stdout])).toEqual([
    ["SIGKILL", ""],
    ["SIGKILL", ""],
    ["SIGKILL", ""],
  ]);
  expect(
    (await names()).filter((device) => /^k\d$/.test(device.name)).map((device) => [device.name, device.state]),
  ).toEqual([
    ["k2", "Shutdown"],
    ["k3", "Shutdown"],
  ]);
  await mac.say("bootstatus", "k2", "-b");
});

test("a boot goes on when its caller is killed, as the service does it", async () => {
  const udid = await mac.say("create", "orphan", "iPhone 17");
  setFaults(mac.root, { pace: "none", latencyMs: { boot: 300 }, faults: [{ verb: "boot", kill: "during" }] });
  expect((await mac.xcrun(["simctl", "boot", udid])).signal).toBe("SIGKILL");
  setFaults(mac.root, { pace: "none" });
  await mac.say("bootstatus", udid);
  expect((await names()).find((device) => device.udid === udid)?.state).toBe("Booted");
});

test("an erase killed in the middle has happened whole or not at all", async () => {
  const udid = await mac.booted("half");
  await mac.say("spawn", udid, "defaults", "write", "com.example", "key", "1");
  await mac.say("shutdown", udid);
  faults({ verb: "erase", times: 1, kill: "during" });
  expect((await mac.xcrun(["simctl", "erase", udid])).signal).toBe("SIGKILL");
  await mac.say("erase", udid);
  await mac.say("boot", udid);
  expect((await mac.simctl("spawn", udid, "defaults", "read", "com.example")).exit).toBe(1);
});

test("a boot that never ends stays in Booting until a shutdown", async ({ signal }) => {
  const udid = await mac.say("create", "stuck", "iPhone 17");
  faults({ verb: "boot", boot: "never" });
  const boot = mac.simctl("boot", udid);
  const state = async () => (await names()).find((device) => device.udid === udid)?.state;
  while ((await state()) !== "Booting" && !signal.aborted);
  expect((await mac.simctl("boot", udid)).stderr).toContain("Unable to boot device in current state: Booting");
  await mac.say("shutdown", udid);
  expect((await boot).exit).toBe(149);
  expect(await state()).toBe("Shutdown");
});

test("a call that hangs ends on a signal", async () => {
  faults({ verb: "list", hang: true, noise: { stderr: "hanging" } });
  const child = mac.start(["simctl", "list"]);
  const closed = new Promise((done) => child.once("close", (_, signal) => done(signal)));
  child.stderr.once("data", () => child.kill("SIGTERM"));
  expect(await closed).toBe("SIGTERM");
});

test("a control file written by hand is checked, and told what is wrong with it", async () => {
  const write = (text: string) => writeFileSync(join(mac.root, "faults.json"), text);
  write('{"faults":[{"verb":"list","times":1,"fail":{"exit":7}}]}');
  expect([(await listing()).exit, (await listing()).exit]).toEqual([7, 0]);
  write('{"faults":[{"verb":"list","fail":{"exit":700}}]}');
  expect(await listing()).toMatchObject({ exit: 1, stderr: expect.stringContaining("faults.0.fail.exit") });
  write("{");
  expect((await listing()).stderr).toContain("faults.json can't be used");
  rmSync(join(mac.root, "faults.json"));
  expect((await listing()).exit).toBe(0);
});

test("faults that are wrong are refused when they are set", () => {
  const wrong: Control = { latencyMs: { boot: -1 } };
  expect(() => setFaults(mac.root, wrong)).toThrow(SimlockError);
  expect(() => setFaults(mac.root, wrong)).toThrow(/latencyMs\.boot/);
});
