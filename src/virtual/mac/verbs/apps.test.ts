import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readPlist } from "../../../plist/index.ts";
import { makeSampleApp } from "../../index.ts";
import { heard, macForTest } from "../mac-for-test.ts";
import type { TestMac } from "../mac-for-test.ts";

let mac: TestMac;
let udid: string;
beforeAll(async () => {
  mac = macForTest();
  udid = await mac.booted();
});
afterAll(() => mac.dispose());

const launched = (bundleId: string) => new RegExp(`^${bundleId}: \\d+$`);

test("an app is installed from its bundle, listed, found, launched, ended and removed", async () => {
  const app = makeSampleApp(mac.files, { bundleId: "com.example.demo", name: "Demo", version: "2.5" });
  expect(await mac.simctl("install", udid, app)).toMatchObject({ exit: 0, stdout: "", stderr: "" });

  const apps = await readPlist(Buffer.from(await mac.say("listapps", udid)));
  expect(apps).toMatchObject({
    "com.example.demo": {
      ApplicationType: "User",
      CFBundleIdentifier: "com.example.demo",
      CFBundleName: "Demo",
      CFBundleVersion: "2.5",
    },
    "com.apple.Preferences": { ApplicationType: "System", CFBundleDisplayName: "Settings" },
  });
  const bundle = await mac.say("get_app_container", udid, "com.example.demo");
  expect(readFileSync(join(bundle, "Info.plist"))).toEqual(readFileSync(join(app, "Info.plist")));
  const data = await mac.say("get_app_container", udid, "com.example.demo", "data");
  expect(existsSync(join(data, "Documents"))).toBe(true);
  expect(await mac.say("appinfo", udid, "com.example.demo")).toContain(`Path = "${bundle}";`);

  expect(await mac.say("launch", udid, "com.example.demo")).toMatch(launched("com.example.demo"));
  expect(await mac.simctl("terminate", udid, "com.example.demo")).toMatchObject({ exit: 0, stdout: "" });
  expect(await mac.simctl("uninstall", udid, "com.example.demo")).toMatchObject({ exit: 0, stdout: "" });
  expect(existsSync(bundle) || existsSync(data)).toBe(false);
  expect((await mac.simctl("get_app_container", udid, "com.example.demo")).exit).toBe(2);
});

test("an app that is installed again keeps its data and gets its new bundle", async () => {
  const at = (name: string) => join(mac.files, name);
  await mac.say(
    "install",
    udid,
    makeSampleApp(at("v1"), { bundleId: "com.example.twice", name: "Twice", version: "1" }),
  );
  const data = await mac.say("get_app_container", udid, "com.example.twice", "data");
  writeFileSync(join(data, "Documents", "kept"), "1");
  const before = await mac.say("get_app_container", udid, "com.example.twice");
  await mac.say(
    "install",
    udid,
    makeSampleApp(at("v2"), { bundleId: "com.example.twice", name: "Twice", version: "2" }),
  );
  expect(await mac.say("get_app_container", udid, "com.example.twice", "data")).toBe(data);
  expect(readdirSync(join(data, "Documents"))).toEqual(["kept"]);
  expect(existsSync(before)).toBe(false);
  expect(await mac.say("appinfo", udid, "com.example.twice")).toContain("CFBundleVersion = 2;");
});

test("what is no bundle is refused with the installer's codes", async () => {
  const empty = join(mac.files, "Empty.app");
  const broken = join(mac.files, "Broken.app");
  mkdirSync(empty);
  mkdirSync(broken);
  writeFileSync(join(broken, "Info.plist"), "<?xml version='1.0'?><plist><dict><key>a</key></dict></plist>");
  const answers = await Promise.all([
    mac.simctl("install", udid, join(mac.files, "nothing.app")),
    mac.simctl("install", udid, empty),
    mac.simctl("install", udid, broken),
  ]);
  expect(answers.map((answer) => answer.exit)).toEqual([2, 13, 22]);
  expect(answers[0]?.stderr).toContain("(domain=NSPOSIXErrorDomain, code=2):");
  expect(answers[1]?.stderr).toContain("Missing bundle ID.");
});

test("a binary Info.plist is read as well", async () => {
  const app = join(mac.files, "Binary.app");
  mkdirSync(app);
  // {CFBundleIdentifier: "com.example.binary"}, as plutil -convert binary1 writes it.
  const key = Buffer.from("CFBundleIdentifier");
  const value = Buffer.from("com.example.binary");
  const objects = Buffer.concat([
    Buffer.from([0xd1, 1, 2]),
    Buffer.from([0x5f, 0x10, key.length]),
    key,
    Buffer.from([0x5f, 0x10, value.length]),
    value,
  ]);
  const offsets = Buffer.from([8, 11, 11 + 3 + key.length]);
  const trailer = Buffer.alloc(32);
  trailer.set([1, 1], 6);
  trailer.writeBigUInt64BE(3n, 8);
  trailer.writeBigUInt64BE(0n, 16);
  trailer.writeBigUInt64BE(BigInt(8 + objects.length), 24);
  writeFileSync(join(app, "Info.plist"), Buffer.concat([Buffer.from("bplist00"), objects, offsets, trailer]));
  await mac.say("install", udid, app);
  expect(await mac.say("get_app_container", udid, "com.example.binary")).toMatch(/\/Binary\.app$/);
});

test("launching what is not there, and ending what does not run, exit 4 and 3", async () => {
  const missing = await mac.simctl("launch", udid, "com.example.nowhere");
  expect(missing.exit).toBe(4);
  expect(missing.stderr).toContain("(domain=FBSOpenApplicationServiceErrorDomain, code=4):");
  const idle = await mac.simctl("terminate", udid, "com.apple.Preferences");
  expect(idle.exit).toBe(3);
  expect(idle.stderr).toContain("found nothing to terminate");
});

test("a running app keeps its pid at a second launch, unless it is to be ended first", async () => {
  const first = await mac.say("launch", udid, "com.apple.Preferences", "-a");
  expect(await mac.say("launch", udid, "com.apple.Preferences")).toBe(first);
  const again = await mac.say("launch", "--terminate-running-process", udid, "com.apple.Preferences");
  expect(again).not.toBe(first);
  const list = await mac.say("spawn", udid, "launchctl", "list");
  const pid = again.split(": ")[1];
  expect(list).toMatch(
    new RegExp(`^${pid}\t0\tUIKitApplication:com\\.apple\\.Preferences\\[[0-9a-f]{4}\\]\\[rb-legacy\\]$`, "m"),
  );
});

test("arguments belong to the app, and its output goes where it was sent", async () => {
  const out = join(mac.files, "app.out");
  const args = ["launch", `--stdout=${out}`, udid, "com.apple.Maps", "--set", "x", "-AppleLanguages", "(de)"];
  const answer = await mac.here(["simctl", ...args], { env: { SIMCTL_CHILD_MODE: "test" } });
  expect(answer.stdout.trim()).toMatch(launched("com.apple.Maps"));
  expect(readFileSync(out, "utf8")).toBe('arguments: ["--set","x","-AppleLanguages","(de)"]\nenvironment: MODE=test\n');
});

test("launch --console stays until the app ends", async () => {
  const child = mac.start(["simctl", "launch", "--console", udid, "com.apple.news"]);
  const exit = new Promise((done) => child.once("close", done));
  await heard(child, "com.apple.news: ");
  await mac.say("terminate", udid, "com.apple.news");
  expect(await exit).toBe(0);
});

test("listapps --json is JSON, or the property list where this Mac's simctl ignores it", async () => {
  expect(JSON.parse(await mac.say("listapps", "--json", udid))["com.apple.Maps"].CFBundleName).toBe("Maps");
});

test("group containers are made when they are asked for, and listed", async () => {
  const app = makeSampleApp(mac.files, { bundleId: "com.example.grouped", name: "Grouped" });
  await mac.say("install", udid, app);
  const path = await mac.say("get_app_container", udid, "com.example.grouped", "group.com.example");
  expect(existsSync(path)).toBe(true);
  expect(await mac.say("get_app_container", udid, "com.example.grouped", "groups")).toBe(`group.com.example\t${path}`);
});

test("an app's name beyond ASCII goes out as \\U escapes and comes back as it was", async () => {
  const name = 'Kalender 日历 "x" 🙂';
  const app = makeSampleApp(join(mac.files, "unicode"), { bundleId: "com.example.unicode", name: "Unicode" });
  const info = join(app, "Info.plist");
  writeFileSync(
    info,
    readFileSync(info, "utf8").replace(
      "<string>Unicode</string>",
      `<string>${name.replaceAll('"', "&quot;")}</string>`,
    ),
  );
  await mac.say("install", udid, app);
  const text = await mac.say("appinfo", udid, "com.example.unicode");
  expect(text).toContain('CFBundleDisplayName = "Kalender \\U65e5\\U5386 \\"x\\" \\Ud83d\\Ude42";');
  expect(await readPlist(Buffer.from(text))).toMatchObject({ CFBundleDisplayName: name });
});
