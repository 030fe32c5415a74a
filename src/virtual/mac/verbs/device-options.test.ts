import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSampleApp } from "../../index.ts";
import { macForTest } from "../mac-for-test.ts";
import type { TestMac } from "../mac-for-test.ts";

let mac: TestMac;
let udid: string;
beforeAll(async () => {
  mac = macForTest();
  udid = await mac.booted();
  await mac.say(
    "install",
    udid,
    makeSampleApp(mac.files, { bundleId: "com.example.demo", name: "Demo", urlSchemes: ["demo"] }),
  );
});
afterAll(() => mac.dispose());

const exits = async (...calls: readonly (readonly string[])[]) =>
  (await Promise.all(calls.map((call) => mac.simctl(...call)))).map((answer) => answer.exit);

const BAR_HEAD = "Current Status Bar Overrides:\n=============================";

test("a status bar is overridden field by field, read back in the tool's numbers, and cleared", async () => {
  expect(await mac.say("status_bar", udid, "list")).toBe(BAR_HEAD);
  await mac.say("status_bar", udid, "override", "--time", "9:41", "--dataNetwork", "5g-uc", "--wifiMode", "active");
  await mac.say("status_bar", udid, "override", "--wifiBars", "2", "--cellularMode", "failed", "--operatorName", "");
  await mac.say("status_bar", udid, "override", "--batteryState", "charged", "--batteryLevel", "7");
  expect(await mac.say("status_bar", udid, "list")).toBe(
    [
      BAR_HEAD,
      "Time: 9:41",
      "DataNetworkType: 14",
      "WiFi Mode: 3, WiFi Bars: 2",
      "Cell Mode: 2, Cell Bars: 0",
      "Operator Name: ",
      "Battery State: 2, Battery Level: 7, Not Charging: 0",
    ].join("\n"),
  );
  await mac.say("status_bar", udid, "clear");
  expect(await mac.say("status_bar", udid, "list")).toBe(BAR_HEAD);
});

test("a status bar's values are checked", async () => {
  const bar = (...words: readonly string[]) => ["status_bar", udid, "override", ...words];
  expect(
    await exits(
      bar("--wifiBars", "4"),
      bar("--cellularBars", "-1"),
      bar("--batteryLevel", "101"),
      bar("--batteryLevel", "1e1"),
      bar("--dataNetwork", "6g"),
      bar("--nothing", "1"),
      bar(),
    ),
  ).toEqual([22, 22, 22, 22, 22, 2, 2]);
});

test("overrides do not outlive the boot, settings do", async () => {
  const other = await mac.booted("other");
  await mac.say("status_bar", other, "override", "--time", "1:00");
  await mac.say("ui", other, "increase_contrast", "enabled");
  await mac.say("shutdown", other);
  await mac.say("boot", other);
  expect(await mac.say("status_bar", other, "list")).toBe(BAR_HEAD);
  expect(await mac.say("ui", other, "increase_contrast")).toBe("enabled");
});

test("ui options are read, set, stepped and checked", async () => {
  expect(await mac.say("ui", udid, "appearance")).toBe("light");
  expect(await mac.say("ui", udid, "content_size")).toBe("large");
  await mac.say("ui", udid, "appearance", "dark");
  await mac.say("ui", udid, "content_size", "accessibility-extra-extra-extra-large");
  await mac.say("ui", udid, "content_size", "increment");
  expect(await mac.say("ui", udid, "content_size")).toBe("accessibility-extra-extra-extra-large");
  await mac.say("ui", udid, "content_size", "decrement");
  expect(await mac.say("ui", udid, "content_size")).toBe("accessibility-extra-extra-large");
  expect(await mac.say("ui", udid, "appearance")).toBe("dark");
  expect(await exits(["ui", udid, "appearance", "blue"], ["ui", udid, "volume"])).toEqual([22, 2]);
});

test("permissions stand in the device's privacy database, and a change ends the app", async () => {
  const row = (service: string) => {
    const db = new DatabaseSync(join(mac.deviceSet, udid, "data/Library/TCC/TCC.db"), { readOnly: true });
    try {
      return db
        .prepare("SELECT auth_value FROM access WHERE service = ? AND client = 'com.example.demo'")
        .get(service)?.["auth_value"];
    } finally {
      db.close();
    }
  };
  await mac.say("launch", udid, "com.example.demo");
  await mac.say("privacy", udid, "grant", "photos", "com.example.demo");
  expect(row("kTCCServicePhotos")).toBe(2);
  expect((await mac.simctl("terminate", udid, "com.example.demo")).exit).toBe(3);
  await mac.say("privacy", udid, "revoke", "photos", "com.example.demo");
  expect(row("kTCCServicePhotos")).toBe(0);
  await mac.say("privacy", udid, "grant", "all", "com.example.demo");
  expect([row("kTCCServicePhotos"), row("kTCCServiceCamera"), row("location")]).toEqual([2, 2, 2]);
  await mac.say("privacy", udid, "reset", "all");
  expect(row("kTCCServicePhotos")).toBeUndefined();
  expect(
    await exits(
      ["privacy", udid, "grant", "teeth", "com.example.demo"],
      ["privacy", udid, "grant", "photos"],
      ["privacy", udid, "ask", "photos"],
    ),
  ).toEqual([22, 2, 2]);
});

test("a location is a place, a scenario or a route, southern and western ones too", async () => {
  expect(await mac.say("location", udid, "list")).toContain("City Run");
  expect(
    await exits(
      ["location", udid, "set", "-33.8688,-151.2093"],
      ["location", udid, "run", "Freeway Drive"],
      ["location", udid, "start", "--speed=30", "-33.8,151.2", "-33.9,151.3"],
      ["location", udid, "clear"],
      ["location", udid, "set", "91,0"],
      ["location", udid, "set", "somewhere"],
      ["location", udid, "run", "Home"],
      ["location", udid, "start", "1,2"],
      ["location", udid, "start", "--speed=0", "1,2", "3,4"],
    ),
  ).toEqual([0, 0, 0, 0, 22, 22, 22, 2, 22]);
  const route = await mac.here(["simctl", "location", udid, "start", "-"], { stdin: "1,2\n3,4\n" });
  expect(route.exit).toBe(0);
});

test("a push is an object with aps, at most 4096 bytes, from a file or standard input", async () => {
  const send = (payload: string, ...words: readonly string[]) =>
    mac.here(["simctl", "push", udid, ...words, "-"], { stdin: payload });
  const file = join(mac.files, "payload.apns");
  writeFileSync(
    file,
    JSON.stringify({ "Simulator Target Bundle": "com.example.demo", aps: { alert: { title: "Hi" } } }),
  );
  expect(await mac.say("push", udid, file)).toBe("Notification sent to 'com.example.demo'");
  expect((await send('{"aps":{}}', "com.example.demo")).stdout).toBe("Notification sent to 'com.example.demo'\n");
  const large = join(mac.files, "large.apns");
  writeFileSync(large, JSON.stringify({ aps: {}, pad: "x".repeat(4096) }));
  expect((await mac.simctl("push", udid, "com.example.demo", large)).exit).toBe(22);
  const refused = await Promise.all([
    send('{"aps":{}}'),
    send("[]", "com.example.demo"),
    send("{", "com.example.demo"),
    send('{"alert":1}', "com.example.demo"),
    send(JSON.stringify({ aps: {}, pad: "x".repeat(4096) }), "com.example.demo"),
    send('{"aps":{}}', "com.example.absent"),
  ]);
  expect(refused.map((answer) => answer.exit)).toEqual([22, 22, 22, 22, 22, 22]);
});

test("a pasteboard keeps bytes, is one a device, and host is the virtual Mac's", async () => {
  const text = "naïve\u0000\r\n日本";
  await mac.here(["simctl", "pbcopy", udid], { stdin: text });
  expect((await mac.simctl("pbpaste", udid)).stdout).toBe(text);
  await mac.say("pbsync", udid, "host");
  expect((await mac.simctl("pbpaste", "host")).stdout).toBe(text);
  expect(await mac.say("pbinfo", udid)).toContain(`${Buffer.byteLength(text)} bytes`);
});

test("a URL opens the app of its scheme, and an unknown scheme exits 194", async () => {
  await mac.say("openurl", udid, "demo://path?q=a&b");
  expect(await mac.say("spawn", udid, "launchctl", "list")).toContain("UIKitApplication:com.example.demo[");
  const unknown = await mac.simctl("openurl", udid, "unknown://x");
  expect(unknown.exit).toBe(194);
  expect(unknown.stderr).toContain("(domain=NSOSStatusErrorDomain, code=-10814):");
  expect((await mac.simctl("openurl", udid, "no url")).exit).toBe(22);
});

test("media is copied into the camera roll by what it is, not by what it is called", async () => {
  const png = join(mac.files, "a.png");
  const fake = join(mac.files, "b.png");
  await mac.say("io", udid, "screenshot", png);
  writeFileSync(fake, "not a picture");
  await mac.say("addmedia", udid, png, png);
  expect(readdirSync(join(mac.deviceSet, udid, "data/Media/DCIM/100APPLE")).toSorted()).toEqual([
    "IMG_0001.PNG",
    "IMG_0002.PNG",
  ]);
  expect(await exits(["addmedia", udid, fake], ["addmedia", udid, join(mac.files, "none.png")])).toEqual([
    3302 & 0xff,
    2,
  ]);
});

test("certificates are taken in PEM or DER, and anything else is refused", async () => {
  const pem = join(mac.files, "ca.pem");
  const junk = join(mac.files, "junk.pem");
  writeFileSync(pem, CERTIFICATE);
  writeFileSync(junk, "junk");
  await mac.say("keychain", udid, "add-root-cert", pem);
  const roots = join(mac.deviceSet, udid, "data/Library/Keychains/roots");
  expect(readdirSync(roots)).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.cer$/)]);
  expect(
    await exits(["keychain", udid, "add-cert", junk], ["keychain", udid, "add-cert", join(mac.files, "no.pem")]),
  ).toEqual([-25257 & 0xff, 2]);
  await mac.say("keychain", udid, "reset");
  expect(() => readdirSync(roots)).toThrow(/ENOENT/);
});

test("a variable of the device is printed, and SIMCTL_CHILD_ ones reach it at boot", async () => {
  expect(await mac.say("getenv", udid, "SIMULATOR_UDID")).toBe(udid);
  expect(await mac.say("getenv", udid, "HOME")).toBe(join(mac.deviceSet, udid, "data"));
  const own = await mac.say("create", "env", "iPhone 17");
  await mac.here(["simctl", "boot", own], { env: { SIMCTL_CHILD_COLOUR: "green" } });
  expect(await mac.say("getenv", own, "COLOUR")).toBe("green");
});

test("what the virtual Mac can't do is refused, not pretended", async () => {
  mkdirSync(join(mac.files, "x.xcappdata"));
  expect(
    await exits(
      ["diagnose"],
      ["icloud_sync", udid],
      ["install_app_data", udid, join(mac.files, "x.xcappdata")],
      ["monitor"],
      ["logverbose", udid, "maybe"],
    ),
  ).toEqual([1, 400 & 0xff, 1, 2, 2]);
  expect(await exits(["logverbose", "enable"], ["logverbose", udid, "disable"])).toEqual([0, 0]);
});

test("help names every verb, and a verb's help its form", async () => {
  const help = await mac.say("help");
  const source = readFileSync(new URL("../simctl.ts", import.meta.url), "utf8");
  const verbs = [...source.matchAll(/^ {2}(\w+): async \(\) =>/gm)].map((match) => match[1]);
  expect(verbs.length).toBeGreaterThan(40);
  const named = [...help.matchAll(/^\t(\w+) /gm)].map((match) => match[1]);
  expect(named).toEqual(verbs);
  expect(await mac.say("help", "install")).toContain("Usage: simctl install <device> <path>");
  expect(await exits(["help", "teleport"], ["--help"], [])).toEqual([2, 0, 2]);
});

const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBjjCCATOgAwIBAgIUaEnVqRa57i7KfzacHs63hFU/lZcwCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQVmlydHVhbCBNYWMgdGVzdDAgFw0yNjExMzAyMTA5MTBaGA8y
MTI2MTEwNjIxMDkxMFowGzEZMBcGA1UEAwwQVmlydHVhbCBNYWMgdGVzdDBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABHAhVtSX1wVIH/uBH7etq6i4TZVofzWB098U
wahygXsmvTKx4DllvQ9inF6OVzwNrA1La8mqYHcYasuGhghuYgSjUzBRMB0GA1Ud
DgQWBBT2Xl/EGe3IRat+XavUvccXLKHuzzAfBgNVHSMEGDAWgBT2Xl/EGe3IRat+
XavUvccXLKHuzzAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQDR
IsuY872ci9No3TYBE4z9BhMxkr1YMXauAQLzdXS4rAIhAL0C5wUWjOmasZq6H77y
Thdo+giBAjO0da5BLVM3mWkG
-----END CERTIFICATE-----`;
