import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createAndroidDriver } from "../../src/devices/android/driver.ts";
import type { Driver } from "../../src/devices/driver.ts";
import { callTool } from "../../src/exec/index.ts";
import { attached, refusal, watched } from "./asking.ts";
import { describeInBed, enrolled, openBed, type Bed, type BedDevice } from "./bed.ts";

let bed: Bed;
let phone: BedDevice;
let neighbour: BedDevice;
let folder: string;
const drivers: Driver[] = [];

function openDriver(options: { pollMs?: number } = {}): Driver {
  const driver = createAndroidDriver({
    call: callTool,
    adb: { file: "/usr/bin/adb" },
    serverPort: bed.serverPort,
    pollMs: options.pollMs ?? 200,
    settleMs: 500,
  });
  drivers.push(driver);
  return driver;
}

describeInBed("the android driver with a real adb and real adbd", () => {
  beforeAll(async () => {
    bed = await openBed();
    [phone, neighbour] = await Promise.all([
      bed.device("phone", { "ro.product.model": "Pixel 8", "ro.build.version.release": "15" }),
      bed.device("neighbour"),
    ]);
    folder = await mkdtemp(join(tmpdir(), "adb-test-"));
  });

  afterEach(async () => {
    await Promise.all(drivers.splice(0).map((driver) => driver.dispose()));
    for (const { serial } of await bed.server.devices()) await bed.disconnect(serial);
  });

  afterAll(async () => {
    await bed.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("a device is identified by what it says of itself", async () => {
    const serial = await bed.connect(phone.port);
    const identity = await attached(openDriver()).identify(serial);
    expect(identity).toMatchObject({ serial, spec: { platform: "android", model: "Pixel 8", osVersion: "15" } });
    expect(identity.id).toMatch(/^android-[0-9a-f]{32}$/);
  });

  test("the same device is known again under another serial, after a reboot, and another device is not taken for it", async () => {
    const driver = openDriver();
    const first = await attached(driver).identify(await bed.connect(phone.port));
    const other = await attached(driver).identify(await bed.connect(neighbour.port));
    await phone.stop();
    await phone.start(phone.port + 1);
    const again = await attached(driver).identify(await bed.connect(phone.port));
    expect(again.serial).not.toBe(first.serial);
    expect(again.id).toBe(first.id);
    expect(other.id).not.toBe(first.id);
  });

  test("a serial that is not there is unknown, and the error names those that are", async () => {
    const serial = await bed.connect(phone.port);
    const error = await refusal(attached(openDriver()).identify("R58M-none"));
    expect(error.code).toBe("UNKNOWN_DEVICE");
    expect(error.hint).toContain(serial);
  });

  test("watch tells of a device that comes and of one that goes", async () => {
    const driver = openDriver();
    const seen = watched(driver);
    await seen.until(() => seen.told.length > 0);
    expect(seen.last()).toEqual([]);
    const serial = await bed.connect(phone.port);
    await seen.until(() => seen.last().length === 1);
    expect(seen.last()).toMatchObject([{ address: serial, runState: "running", spec: { model: "Pixel 8" } }]);
    // adb 29 does not tell of a TCP device that has gone: the poll sees it.
    await phone.stop();
    await seen.until(() => seen.last().length === 0);
    seen.end();
    await phone.start();
  });

  test("two ways to one device are one device", async () => {
    const twice = await bed.device("twice");
    const one = await bed.connect(twice.port);
    const two = await bed.announce(twice.port);
    const driver = openDriver();
    const devices = await driver.read();
    expect(devices).toHaveLength(1);
    expect([one, two]).toContain(devices[0]?.address);
    const listed = await attached(driver).list();
    expect(listed.map(({ leasable }) => leasable).sort()).toEqual([false, true]);
    await twice.stop();
  });

  test("two devices that say the same of themselves can't be used", async () => {
    const clones = await Promise.all(
      ["a", "b"].map((name) => bed.device(name, { "ro.serialno": "CLONE1", android_id: "00000000000000aa" })),
    );
    const [serial] = await Promise.all(clones.map((clone) => bed.connect(clone.port)));
    const driver = openDriver();
    expect(await driver.read()).toMatchObject([{ runState: "transitioning", address: undefined }]);
    const error = await refusal(attached(driver).identify(serial ?? ""));
    expect(error.code).toBe("AMBIGUOUS");
    await Promise.all(clones.map((clone) => clone.stop()));
  });

  test("a device without a serial number or Android id of its own is not leasable", async () => {
    const nameless = await bed.device("nameless", { "ro.serialno": "0123456789ABCDEF", android_id: "null" });
    const serial = await bed.connect(nameless.port);
    const driver = openDriver();
    expect(await attached(driver).list()).toMatchObject([{ serial, state: "device", leasable: false }]);
    expect((await refusal(attached(driver).identify(serial))).code).toBe("DEVICE_NOT_LEASABLE");
    await nameless.stop();
  });

  test("a device that is still starting is not leasable yet, and then is", async () => {
    const booting = await bed.device("booting", { "sys.boot_completed": "0" });
    const serial = await bed.connect(booting.port);
    const driver = openDriver();
    const error = await refusal(attached(driver).identify(serial));
    expect(error.code).toBe("DEVICE_NOT_LEASABLE");
    expect(error.message).toContain("still starting");
    await bed.adb("-s", serial, "shell", "setprop sys.boot_completed 1");
    expect((await attached(driver).identify(serial)).id).toMatch(/^android-/);
    await booting.stop();
  });

  test("target is the device's serial of now", async () => {
    const driver = openDriver();
    const serial = await bed.connect(phone.port);
    const device = await enrolled(driver, serial);
    expect(await driver.target(device)).toEqual({ kind: "android", serial });
    await phone.stop();
    await phone.start(phone.port + 1);
    const moved = await bed.connect(phone.port);
    expect(await driver.target(device)).toEqual({ kind: "android", serial: moved });
  });

  test("another device behind the serial of before is never the target", async () => {
    const driver = openDriver();
    const serial = await bed.connect(phone.port);
    const device = await enrolled(driver, serial);
    expect(await driver.target(device)).toEqual({ kind: "android", serial });
    const port = phone.port;
    await phone.stop();
    const impostor = await bed.device("impostor");
    await impostor.stop();
    await impostor.start(port);
    // The server connects to it by itself, and keeps serial and transport id.
    await bed.listed(serial, "device");
    const shell = await bed.server.shell({ serial, transportId: undefined }, "getprop ro.product.model");
    expect(shell.stdout.toString().trim()).toBe("Bed Phone");
    const error = await refusal(driver.target(device));
    expect(error.code).toBe("DEVICE_UNAVAILABLE");
    await impostor.stop();
    await phone.start();
  });

  test("clean removes what the enrolment did not list, and only that", async () => {
    const driver = openDriver();
    const serial = await bed.connect(phone.port);
    const s = ["-s", serial] as const;
    const apk = async (name: string): Promise<string> => {
      const file = join(folder, `${name}.apk`);
      await writeFile(file, `package=${name}\n`);
      return file;
    };
    await bed.adb(...s, "install", "--no-streaming", await apk("com.owner.app"));
    await bed.adb(
      ...s,
      "shell",
      "echo mine > /data/local/tmp/owner.txt; mkdir /sdcard/Owner; echo x > /sdcard/Owner/f",
    );
    const device = await enrolled(driver, serial);

    expect((await bed.adb(...s, "install", "--no-streaming", await apk("com.holder.app"))).stdout).toContain("Success");
    await bed.adb(
      ...s,
      "shell",
      [
        "echo secret > /data/local/tmp/left.txt",
        "mkdir -p '/data/local/tmp/a b/c' && echo x > '/data/local/tmp/a b/c/d' && chmod 000 '/data/local/tmp/a b/c'",
        "ln -s /sdcard/Owner /data/local/tmp/link",
        `touch "/data/local/tmp/it's \\$(odd)" /data/local/tmp/.hidden`,
        `touch "$(printf '/data/local/tmp/\\377\\nx')"`,
        "screencap -p /sdcard/screen.png",
      ].join("; "),
    );
    await bed.adb(...s, "forward", "tcp:0", "tcp:1234");
    await bed.adb(...s, "reverse", "tcp:9999", "tcp:9998");

    const cleaned = await driver.clean(device, AbortSignal.timeout(60_000));
    expect(cleaned).toEqual({ state: "ready", strategy: "uninstall", address: serial });
    expect((await bed.adb(...s, "shell", "pm list packages -3")).stdout).toBe("package:com.owner.app\n");
    expect(readdirSync(join(phone.root, "data/local/tmp"))).toEqual(["owner.txt"]);
    expect(readdirSync(join(phone.root, "sdcard")).sort()).toEqual(["Android", "DCIM", "Download", "Owner"]);
    expect(existsSync(join(phone.root, "sdcard/Owner/f"))).toBe(true);
    expect((await bed.adb(...s, "forward", "--list")).stdout.trim()).toBe("");
    expect((await bed.adb(...s, "reverse", "--list")).stdout.trim()).toBe("");
    // A second time finds nothing to do.
    await driver.clean(device, AbortSignal.timeout(60_000));
  });

  test("clean comes through a folder that is fuller than one look can list", async () => {
    const driver = openDriver();
    const serial = await bed.connect(phone.port);
    const device = await enrolled(driver, serial);
    const name = "n".repeat(200);
    const made = await bed.adb(
      "-s",
      serial,
      "shell",
      `cd /data/local/tmp; seq 1 25000 | sed s/$/${name}/ | xargs touch`,
    );
    expect(made).toMatchObject({ exitCode: 0, stderr: "" });
    await driver.clean(device, AbortSignal.timeout(100_000));
    expect(readdirSync(join(phone.root, "data/local/tmp"))).not.toContain(`1${name}`);
    expect(readdirSync(join(phone.root, "data/local/tmp")).length).toBeLessThan(10);
  });

  test("clean ends what still runs on the device, and nothing of its neighbour", async () => {
    const driver = openDriver();
    const serial = await bed.connect(phone.port);
    const other = await bed.connect(neighbour.port);
    const device = await enrolled(driver, serial);
    for (const each of [serial, other]) {
      await bed.adb(
        "-s",
        each,
        "shell",
        "nohup sleep 1000000 >/dev/null 2>&1 & (setsid sleep 1000001 >/dev/null 2>&1 &)",
      );
    }
    const sleeping = async (each: string): Promise<string[]> =>
      (await bed.adb("-s", each, "shell", "ps -A -o ARGS | grep '[s]leep 100000'; true")).stdout.trim().split("\n");
    expect(await sleeping(serial)).toHaveLength(2);
    await driver.clean(device, AbortSignal.timeout(60_000));
    expect(await sleeping(serial)).toEqual([""]);
    expect(await sleeping(other)).toHaveLength(2);
  });

  test("clean leaves the forwards of other devices alone", async () => {
    const driver = openDriver();
    const serial = await bed.connect(phone.port);
    const other = await bed.connect(neighbour.port);
    const device = await enrolled(driver, serial);
    await bed.adb("-s", serial, "forward", "tcp:0", "tcp:1");
    await bed.adb("-s", other, "forward", "tcp:0", "tcp:2");
    await driver.clean(device, AbortSignal.timeout(60_000));
    expect([...((await driver.forwards?.()) ?? new Map()).values()]).toEqual([other]);
  });

  test("clean fails when something can't be removed, and says what", async () => {
    const driver = openDriver();
    const serial = await bed.connect(phone.port);
    const device = await enrolled(driver, serial);
    const file = join(folder, "admin.apk");
    writeFileSync(file, "package=com.holder.admin\n");
    await bed.adb("-s", serial, "install", "--no-streaming", file);
    await bed.adb("-s", serial, "shell", "touch /data/app/com.holder.admin/.admin");
    const error = await refusal(driver.clean(device, AbortSignal.timeout(60_000)));
    expect(error.code).toBe("TOOL_FAILED");
    expect(error.message).toContain("com.holder.admin");
    await bed.adb("-s", serial, "shell", "rm /data/app/com.holder.admin/.admin");
    await driver.clean(device, AbortSignal.timeout(60_000));
  });

  test("a link that is dead is seen although adb still says device, and the healthy one stays", async () => {
    const driver = openDriver();
    const dead = await bed.device("dead");
    const serial = await bed.connect(dead.port);
    const healthy = await bed.connect(phone.port);
    const device = await enrolled(driver, serial);
    dead.freeze();
    expect((await bed.server.devices()).find((one) => one.serial === serial)?.state).toBe("device");
    const started = performance.now();
    const error = await refusal(driver.target(device));
    expect(error.code).toBe("DEVICE_UNAVAILABLE");
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(await driver.read()).toMatchObject([{ address: healthy }]);
    dead.thaw();
    await dead.stop();
  });

  test("a server that was restarted is followed, and its devices are proven anew", async () => {
    const driver = openDriver();
    const seen = watched(driver);
    const device = await enrolled(driver, await bed.connect(phone.port));
    await seen.until(() => seen.last().length === 1);
    await bed.stopServer();
    await seen.until(() => seen.failures.length > 0);
    const before = seen.told.length;
    await bed.startServer();
    const serial = await bed.connect(phone.port);
    await seen.until(() => seen.told.slice(before).some((devices) => devices.length === 1));
    expect(await driver.target(device)).toEqual({ kind: "android", serial });
    seen.end();
  });

  test("boot waits for a device that is connected to answer, and fails within bounds where it is not there", async () => {
    const driver = openDriver();
    const serial = await bed.connect(phone.port);
    const device = await enrolled(driver, serial);
    expect(await driver.boot(device, AbortSignal.timeout(60_000))).toEqual({ address: serial });
    await bed.disconnect(serial);
    const error = await refusal(driver.boot(device, AbortSignal.timeout(1_000)));
    expect(["CANCELLED", "DEVICE_UNAVAILABLE"]).toContain(error.code);
  });
});
