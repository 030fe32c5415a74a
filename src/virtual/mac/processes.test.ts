import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSampleApp } from "../index.ts";
import { macForTest } from "./mac-for-test.ts";
import type { CallOptions, TestMac } from "./mac-for-test.ts";

const MINUTES = 60_000;

let mac: TestMac;
beforeAll(() => {
  mac = macForTest();
});
afterAll(() => mac.dispose(), MINUTES);

test(
  "every verb works as a process: arguments, standard streams, exit code",
  async () => {
    const udid = await mac.booted("real");
    const spare = await mac.say("create", "spare", "iPhone 17");
    const watch = await mac.say("create", "watch", "Apple Watch Series 11 (46mm)");
    const app = makeSampleApp(mac.files, { bundleId: "com.example.demo", name: "Demo" });
    const payload = join(mac.files, "p.apns");
    writeFileSync(payload, '{"aps":{"alert":"hi"}}');

    /** Runs `words` and expects `exit` and `output` on stdout, or where nothing is printed there on stderr. */
    const run = async (words: readonly string[], exit: number, output: RegExp, options: CallOptions = {}) => {
      const answer = await mac.xcrun(["simctl", ...words], options);
      const said = answer.stdout === "" ? answer.stderr : answer.stdout;
      return answer.exit === exit && output.test(said)
        ? []
        : [{ words, exit: answer.exit, said, stderr: answer.stderr }];
    };
    const inOrder = [
      () => run(["install", udid, app], 0, /^$/),
      () => run(["launch", udid, "com.example.demo", "arg"], 0, /^com\.example\.demo: \d+\n$/),
      () => run(["terminate", udid, "com.example.demo"], 0, /^$/),
      () => run(["get_app_container", udid, "com.example.demo"], 0, /\/Demo\.app\n$/),
      () => run(["appinfo", udid, "com.example.demo"], 0, /CFBundleName = Demo;/),
      () => run(["push", udid, "com.example.demo", "-"], 0, /^Notification sent/, { stdin: '{"aps":{}}' }),
      () => run(["push", udid, "com.example.demo", payload], 0, /^Notification sent/),
      () => run(["privacy", udid, "grant", "camera", "com.example.demo"], 0, /^$/),
      () => run(["uninstall", udid, "com.example.demo"], 0, /^$/),
      () => run(["pbcopy", udid], 0, /^$/, { stdin: "copied" }),
      () => run(["pbpaste", udid], 0, /^copied$/),
      () =>
        run(["spawn", udid, "defaults", "import", "d", "-"], 0, /^$/, {
          stdin: "<plist><dict><key>k</key><integer>1</integer></dict></plist>",
        }),
      () => run(["spawn", udid, "defaults", "read", "d", "k"], 0, /^1\n$/),
    ];
    const anyOrder = [
      () => run(["list", "devices"], 0, /^== Devices ==\n/),
      () => run(["create", "x"], 2, /usage/),
      () => run(["clone", spare, "copy"], 0, /^[0-9A-F-]{36}\n$/),
      () => run(["boot", udid], 149, /current state: Booted/),
      () => run(["bootstatus", udid, "-b"], 0, /^Monitoring boot status for real \(/),
      () => run(["listapps", udid], 0, /^\{\n {4}"com\.apple\./),
      () => run(["status_bar", udid, "list"], 0, /^Current Status Bar Overrides:/),
      () => run(["ui", udid, "appearance"], 0, /^light\n$/),
      () => run(["location", udid, "start", "-"], 0, /^$/, { stdin: "1,2\n3,4\n" }),
      () => run(["openurl", udid, "https://example.com"], 0, /^$/),
      () => run(["pbinfo", udid], 0, /^Items: /),
      () => run(["pbsync", udid, "host"], 0, /^$/),
      () => run(["addmedia", udid, join(mac.files, "none")], 2, /No such file/),
      () => run(["keychain", udid, "reset"], 0, /^$/),
      () => run(["getenv", udid, "SIMULATOR_UDID"], 0, new RegExp(`^${udid}\n$`)),
      () => run(["icloud_sync", udid], 144, /iCloud/),
      () => run(["install_app_data", udid, "x"], 1, /not available on the virtual Mac/),
      () => run(["logverbose", "enable"], 0, /^$/),
      () => run(["io", udid, "enumerate"], 0, /Default height: 2622/),
      () => run(["runtime", "list"], 0, /^== Disk Images ==/),
      () => run(["pair", watch, spare], 0, /^[0-9A-F-]{36}\n$/),
      () => run(["unpair", "x"], 164, /Invalid device pair: x/),
      () => run(["pair_activate", "x"], 164, /Invalid device pair: x/),
      () => run(["diagnose"], 1, /not available on the virtual Mac/),
      () => run(["help", "boot"], 0, /^Boot a device/),
      () => run(["rename", watch, "renamed"], 0, /^$/),
      () => run(["upgrade", spare, "nothing"], 162, /Invalid runtime: nothing/),
    ];
    const atTheEnd = [
      () => run(["shutdown", udid], 0, /^$/),
      () => run(["erase", udid], 0, /^$/),
      () => run(["delete", udid, spare], 0, /^$/),
    ];

    const wrong: unknown[] = [];
    for (const step of inOrder) wrong.push(...(await step()));
    wrong.push(...(await Promise.all(anyOrder.map((step) => step()))).flat());
    for (const step of atTheEnd) wrong.push(...(await step()));
    expect(wrong).toEqual([]);
  },
  5 * MINUTES,
);

test(
  "a reader that goes away ends the call, and one that stays gets everything",
  async () => {
    const udid = await mac.booted("loud");
    const megabytes = "x".repeat(5_000_000);
    await mac.here(["simctl", "pbcopy", udid], { stdin: megabytes });
    const gone = mac.start(["simctl", "pbpaste", udid]);
    const closed = new Promise((done) => gone.once("exit", (code, signal) => done(code ?? signal)));
    gone.stdout.once("data", () => gone.stdout.destroy());
    expect(await closed).toBe(141);

    const whole = await mac.xcrun(["simctl", "pbpaste", udid]);
    expect(whole.bytes.length).toBe(5_000_000);
  },
  MINUTES,
);
