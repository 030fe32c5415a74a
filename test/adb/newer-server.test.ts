import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createAndroidDriver, type Driver } from "../../src/devices/index.ts";
import { callTool } from "../../src/exec/index.ts";
import { attached, refusal, watched } from "./asking.ts";
import { describeInBed, enrolled, openBed, type Bed, type BedDevice } from "./bed.ts";

let bed: Bed;
let phone: BedDevice;
let driver: Driver;

// What differs from adb 29: it tells at once that a TCP device has gone, and connects again sooner.
describeInBed("the android driver on an adb server of version 34", () => {
  beforeAll(async () => {
    bed = await openBed({ server: "newer" });
    phone = await bed.device("phone34", { "ro.product.model": "Pixel 8" });
    driver = createAndroidDriver({
      call: callTool,
      adb: { file: "/usr/bin/adb" },
      serverPort: bed.serverPort,
      settleMs: 500,
    });
  });

  afterEach(async () => {
    for (const { serial } of await bed.server.devices()) await bed.disconnect(serial);
  });

  afterAll(async () => {
    await driver?.dispose();
    await bed?.close();
  });

  test("a device is identified, cleaned, and found again under another serial", async () => {
    const device = await enrolled(driver, await bed.connect(phone.port));
    const serial = `127.0.0.1:${phone.port}`;
    await bed.adb("-s", serial, "shell", "echo x > /data/local/tmp/left");
    await bed.adb("-s", serial, "forward", "tcp:0", "tcp:1");
    await bed.adb("-s", serial, "reverse", "tcp:9999", "tcp:9998");
    expect(await driver.clean(device, AbortSignal.timeout(60_000))).toEqual({
      state: "ready",
      strategy: "uninstall",
      address: serial,
    });
    expect((await bed.adb("-s", serial, "shell", "ls -A /data/local/tmp")).stdout).toBe("");
    expect((await bed.adb("-s", serial, "forward", "--list")).stdout.trim()).toBe("");
    expect((await bed.adb("-s", serial, "reverse", "--list")).stdout.trim()).toBe("");
    await phone.stop();
    await phone.start(phone.port + 1);
    const moved = await bed.connect(phone.port);
    expect(moved).not.toBe(serial);
    expect(await driver.target(device)).toEqual({ kind: "android", serial: moved });
  });

  test("another device behind the serial of before is never the target", async () => {
    const serial = await bed.connect(phone.port);
    const device = await enrolled(driver, serial);
    expect(await driver.target(device)).toEqual({ kind: "android", serial });
    const port = phone.port;
    await phone.stop();
    const impostor = await bed.device("impostor34");
    await impostor.stop();
    await impostor.start(port);
    await bed.listed(serial, "device");
    expect((await refusal(driver.target(device))).code).toBe("DEVICE_UNAVAILABLE");
    await impostor.stop();
    await phone.start();
  });

  test("watch is told of a device that goes, without waiting for a poll", async () => {
    // A poll that never comes within this test.
    const patient = createAndroidDriver({
      call: callTool,
      adb: { file: "/usr/bin/adb" },
      serverPort: bed.serverPort,
      settleMs: 500,
      pollMs: 3_600_000,
    });
    try {
      const seen = watched(patient);
      const serial = await bed.connect(phone.port);
      await seen.until(() => seen.last().length === 1);
      await phone.stop();
      await seen.until(() => seen.last().length === 0);
      expect((await attached(patient).list()).find((one) => one.serial === serial)).toMatchObject({ leasable: false });
      await phone.start();
    } finally {
      await patient.dispose();
    }
  });
});
