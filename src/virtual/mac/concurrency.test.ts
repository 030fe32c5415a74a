import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSampleApp } from "../index.ts";
import { macForTest } from "./mac-for-test.ts";
import type { TestMac } from "./mac-for-test.ts";

const MANY = 50;
const MINUTES = 60_000;

let mac: TestMac;
beforeAll(() => {
  mac = macForTest({ pace: "none", latencyMs: { boot: 50, create: 20 } });
});
afterAll(() => mac.dispose(), 60_000);

interface Listed {
  readonly udid: string;
  readonly name: string;
  readonly state: string;
}

const all = async (term: string): Promise<readonly Listed[]> =>
  Object.values<readonly Listed[]>(JSON.parse(await mac.say("list", "-j", "devices", term)).devices).flat();

test(
  "fifty processes at once create, boot, install and delete: each of its own devices is as it left it",
  async () => {
    const app = makeSampleApp(mac.files, { bundleId: "com.example.demo", name: "Demo" });
    const workers = Array.from({ length: MANY }, async (_, worker) => {
      const simctl = (...args: readonly string[]) => mac.xcrun(["simctl", ...args]);
      const created = await simctl("create", `worker ${worker}`, "iPhone 17");
      const udid = created.stdout.trim();
      const booted = await simctl("boot", udid);
      const installed = await simctl("install", udid, app);
      return { udid, exits: [created.exit, booted.exit, installed.exit] };
    });
    const done = await Promise.all(workers);
    expect(done.map((worker) => worker.exits)).toEqual(done.map(() => [0, 0, 0]));
    expect(new Set(done.map((worker) => worker.udid)).size).toBe(MANY);
    const listed = await all("worker");
    expect(listed.map((device) => device.state)).toEqual(listed.map(() => "Booted"));
    expect(listed).toHaveLength(MANY);
    for (const { udid } of listed) {
      expect(existsSync(join(await mac.say("get_app_container", udid, "com.example.demo"), "Info.plist"))).toBe(true);
      expect(readdirSync(join(mac.deviceSet, udid, "data/Containers/Bundle/Application"))).toHaveLength(1);
    }
  },
  5 * MINUTES,
);

test(
  "of many that boot one device one succeeds, and the others are told its state",
  async () => {
    const udid = await mac.say("create", "wanted", "iPhone 17");
    const answers = await Promise.all(Array.from({ length: 20 }, () => mac.xcrun(["simctl", "boot", udid])));
    expect(answers.filter((answer) => answer.exit === 0)).toHaveLength(1);
    for (const { exit, stderr } of answers.filter((answer) => answer.exit !== 0)) {
      expect(exit).toBe(149);
      expect(stderr).toMatch(/current state: (Booting|Booted)\n$/);
    }
  },
  2 * MINUTES,
);

test(
  "a new set made by many callers at once is made once",
  async () => {
    const set = join(mac.files, "new set");
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, index) => mac.xcrun(["simctl", "--set", set, "create", `d${index}`, "iPhone 17"])),
    );
    expect(made.map((answer) => answer.stderr)).toEqual(made.map(() => ""));
    const { devices } = JSON.parse(await mac.say("--set", set, "list", "-j", "devices"));
    expect(Object.values(devices).flat()).toHaveLength(20);
  },
  2 * MINUTES,
);

test(
  "callers that are killed at any moment leave a set that the others can use",
  async () => {
    const victims = Array.from({ length: 30 }, (_, index) => {
      const child = mac.start(["simctl", "create", `victim ${index}`, "iPhone 17"]);
      const closed = new Promise((done) => child.once("close", done));
      // Spread over the whole life of a call, its start included.
      setTimeout(() => child.kill("SIGKILL"), index * 15);
      return closed;
    });
    const survivors = Array.from({ length: 10 }, (_, index) =>
      mac.xcrun(["simctl", "create", `survivor ${index}`, "iPhone 17"]),
    );
    await Promise.all(victims);
    expect((await Promise.all(survivors)).map((answer) => answer.exit)).toEqual(Array.from({ length: 10 }, () => 0));
    expect(await all("survivor")).toHaveLength(10);
    // Whoever is listed has a folder and can be booted.
    for (const { udid } of await all("victim")) {
      expect(existsSync(join(mac.deviceSet, udid, "data"))).toBe(true);
      await mac.say("bootstatus", udid, "-b");
    }
  },
  2 * MINUTES,
);
