import { afterEach, describe, expect, test } from "vitest";
import { DeviceId, SimlockError } from "../../contract/index.ts";
import type { Driver, Observed, OwnDevice } from "../driver.ts";
import type { CallTool } from "../tool-call.ts";
import {
  fakeAdbServer,
  fakePhone,
  type FakeBehaviour,
  type FakeDevice,
  type FakeServer,
} from "./adb-server.fixture.ts";
import { createAndroidDriver, type AndroidDriverOptions } from "./driver.ts";

const running: FakeServer[] = [];
const drivers: Driver[] = [];
afterEach(async () => {
  await Promise.all(drivers.splice(0).map((driver) => driver.dispose()));
  await Promise.all(running.splice(0).map((fake) => fake.stop()));
});

const VERSION = "Android Debug Bridge version 1.0.41\nVersion 35.0.2-12147458\nInstalled as /sdk/platform-tools/adb\n";
const versionOnly: CallTool = async () => ({ exitCode: 0, stdout: VERSION, stderr: "" });

async function fakeServer(behaviour: FakeBehaviour = {}): Promise<FakeServer> {
  const fake = await fakeAdbServer(behaviour);
  running.push(fake);
  return fake;
}

function driverOf(fake: FakeServer, options: Partial<AndroidDriverOptions> = {}): Driver {
  const driver = createAndroidDriver({
    call: versionOnly,
    adb: { file: "/bin/sh" },
    serverPort: fake.port,
    pollMs: 50,
    settleMs: 200,
    env: {},
    ...options,
  });
  drivers.push(driver);
  return driver;
}

function attachedOf(driver: Driver): NonNullable<Driver["attached"]> {
  if (driver.attached === undefined) throw new Error("not an attached kind");
  return driver.attached;
}

async function ownDevice(driver: Driver): Promise<OwnDevice> {
  const [observed] = await driver.read();
  if (observed?.spec === undefined) throw new Error("no device");
  return {
    deviceId: DeviceId.parse("dev_1"),
    driverDeviceId: observed.driverDeviceId,
    name: "simlock-dev_1",
    mark: "mark",
    spec: observed.spec,
    baseline: [],
  };
}

async function refusal(work: Promise<unknown>): Promise<SimlockError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof SimlockError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

/** Readings of a watch, and a wait for one that shows a fact. */
function watching(driver: Driver) {
  const readings: (readonly Observed[])[] = [];
  const failures: unknown[] = [];
  let wake = (): void => undefined;
  const end = attachedOf(driver).watch(
    (devices) => (readings.push(devices), wake()),
    (error) => (failures.push(error), wake()),
  );
  const until = async (fact: () => boolean): Promise<void> => {
    while (!fact()) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { readings, failures, until, end, last: () => readings.at(-1) };
}

const unidentified = (line: string, transportId: number): FakeDevice => ({ line, transportId });

describe("list", () => {
  test("every device is there with adb's own word, and only one that says who it is can be leased", async () => {
    const fake = await fakeServer({
      devices: [
        fakePhone({ serial: "R1", transportId: 1 }),
        unidentified(
          "A1                     no permissions (user in plugdev group); see [http://x/y] usb:1-2 transport_id:2",
          2,
        ),
        unidentified("A2                     unauthorized usb:1-3 transport_id:3", 3),
        unidentified("A3                     levitating usb:1-4 transport_id:4", 4),
        unidentified("emulator-5562          offline transport_id:5", 5),
      ],
    });
    const listed = await attachedOf(driverOf(fake)).list();
    expect(listed.map(({ serial, state, leasable }) => [serial, state, leasable])).toEqual([
      ["R1", "device", true],
      ["A1", "no permissions", false],
      ["A2", "unauthorized", false],
      ["A3", "levitating", false],
      ["emulator-5562", "offline", false],
    ]);
    expect(listed[0]).toMatchObject({ model: "Pixel 8", osVersion: "15" });
    expect(listed[0]).not.toHaveProperty("reason");
    for (const device of listed.slice(1))
      expect([device.reason, device.hint].every((text) => text !== undefined)).toBe(true);
    expect(listed[1]?.reason).toContain("plugdev");
  });

  test("a serial that two have, or that is none, can't be leased", async () => {
    const fake = await fakeServer({
      devices: [
        fakePhone({ serial: "????????????", transportId: 1, serialNumber: "S1" }),
        fakePhone({ serial: "????????????", transportId: 2, serialNumber: "S2" }),
        fakePhone({ serial: "0123456789ABCDEF", transportId: 3, serialNumber: "S3" }),
        fakePhone({ serial: "0123456789ABCDEF", transportId: 4, serialNumber: "S4" }),
        fakePhone({ serial: "R5", transportId: 5 }),
      ],
    });
    const driver = driverOf(fake);
    expect((await attachedOf(driver).list()).map(({ leasable }) => leasable)).toEqual([
      false,
      false,
      false,
      false,
      true,
    ]);
    expect(await driver.read()).toMatchObject([{ address: "R5" }]);
    expect((await refusal(attachedOf(driver).identify("0123456789ABCDEF"))).code).toBe("AMBIGUOUS");
  });

  test("a device without a serial can't be addressed, even alone", async () => {
    const fake = await fakeServer({
      devices: [fakePhone({ serial: "????????????", transportId: 1, serialNumber: "S1" })],
    });
    const driver = driverOf(fake);
    expect(await attachedOf(driver).list()).toMatchObject([{ leasable: false }]);
    expect(await driver.read()).toEqual([]);
  });

  test("a device whose question fails does not hide the healthy one", async () => {
    const fake = await fakeServer({
      devices: [
        { ...fakePhone({ serial: "emulator-5562", transportId: 1 }), shell: () => "close" },
        fakePhone({ serial: "emulator-5554", transportId: 2 }),
      ],
    });
    const driver = driverOf(fake);
    expect(await driver.read()).toMatchObject([{ address: "emulator-5554" }]);
    const listed = await attachedOf(driver).list();
    expect(listed).toMatchObject([{ leasable: false }, { leasable: true }]);
    expect(listed[0]?.reason).toContain("closed the connection");
  });

  test("a device that answers emptily once and then well is known", async () => {
    let asked = 0;
    const phone = fakePhone({ serial: "R1", transportId: 1 });
    const fake = await fakeServer({
      devices: [
        {
          ...phone,
          shell: (command) => {
            asked += 1;
            return asked === 1 ? { stdout: "" } : (phone.shell?.(command) ?? { code: 1 });
          },
        },
      ],
    });
    expect(await attachedOf(driverOf(fake)).list()).toMatchObject([{ serial: "R1", leasable: true }]);
  });

  test("a device that tells no exit codes is not leasable", async () => {
    const fake = await fakeServer({ devices: [{ ...fakePhone({ serial: "R1", transportId: 1 }), features: "cmd" }] });
    const [listed] = await attachedOf(driverOf(fake)).list();
    expect(listed?.leasable).toBe(false);
    expect(listed?.reason).toContain("exit codes");
  });
});

describe("a server that can't be read is an error, never an empty list", () => {
  test("no server", async () => {
    const fake = await fakeServer();
    await fake.stop();
    const driver = driverOf(fake);
    const error = await refusal(driver.read());
    expect(error.code).toBe("TOOL_FAILED");
    expect(error.hint).toContain("start-server");
    expect((await refusal(driver.forwards?.() ?? Promise.resolve())).code).toBe("TOOL_FAILED");
  });

  test("something else on its port", async () => {
    const fake = await fakeServer({ raw: (_service, socket) => socket.write("SSH-2.0-OpenSSH\r\n") });
    expect((await refusal(driverOf(fake).read())).message).toContain("no adb server");
  });
});

describe("starting the user's server", () => {
  async function stoppedServer() {
    const fake = await fakeServer({ devices: [fakePhone({ serial: "R1", transportId: 1 })] });
    await fake.stop();
    const calls: (readonly string[])[] = [];
    const call: CallTool = async ({ args, env }) => {
      if (args[0] === "version") return { exitCode: 0, stdout: VERSION, stderr: "" };
      calls.push(args);
      expect(env).toEqual({ HOME: "/home/user", ADB_VENDOR_KEYS: "/keys" });
      await fake.start();
      return { exitCode: 0, stdout: "", stderr: "" };
    };
    const env = { HOME: "/home/user", ADB_VENDOR_KEYS: "/keys", ANDROID_SERIAL: "R9", ADB_SERVER_SOCKET: "tcp:1" };
    return { fake, calls, driver: driverOf(fake, { call, env }) };
  }

  test("list starts one, with the user's environment but for what points elsewhere", async () => {
    const { fake, calls, driver } = await stoppedServer();
    expect(await attachedOf(driver).list()).toMatchObject([{ serial: "R1", leasable: true }]);
    expect(calls).toEqual([["-P", String(fake.port), "start-server"]]);
  });

  test("a server that has just started is given time to find its devices", async () => {
    const { fake, driver } = await stoppedServer();
    fake.change({ devices: [] });
    const listing = attachedOf(driver).list();
    while (!fake.asked.includes("host:devices-l")) await new Promise((resolve) => setImmediate(resolve));
    fake.change({ devices: [fakePhone({ serial: "R1", transportId: 1 })] });
    expect(await listing).toMatchObject([{ serial: "R1", leasable: true }]);
  });

  test("an agent's command and a plain reading never do", async () => {
    const { calls, driver } = await stoppedServer();
    await refusal(driver.read());
    await refusal(
      driver.target({
        deviceId: DeviceId.parse("dev_1"),
        driverDeviceId: "android-x",
        name: "simlock-dev_1",
        mark: "",
        spec: { platform: "android", model: "M", osVersion: "1" },
        baseline: [],
      }),
    );
    expect(calls).toEqual([]);
  });

  test("one that was ended while we watched is left to whoever ended it", async () => {
    const { fake, calls, driver } = await stoppedServer();
    await fake.start();
    const seen = watching(driver);
    await seen.until(() => seen.last()?.length === 1);
    await fake.stop();
    await seen.until(() => seen.failures.length >= 5);
    expect(calls).toEqual([]);
    await fake.start();
    const before = seen.readings.length;
    await seen.until(() => seen.readings.slice(before).some((devices) => devices.length === 1));
  });

  test("a start that fails is told with what adb said, and is tried once", async () => {
    const fake = await fakeServer();
    await fake.stop();
    let starts = 0;
    const call: CallTool = async ({ args }) => {
      if (args[0] === "version") return { exitCode: 0, stdout: VERSION, stderr: "" };
      starts += 1;
      return { exitCode: 1, stdout: "", stderr: "* failed to start daemon\nerror: cannot connect to daemon\n" };
    };
    const driver = driverOf(fake, { call });
    expect((await refusal(attachedOf(driver).list())).message).toContain("cannot connect to daemon");
    await refusal(attachedOf(driver).list());
    expect(starts).toBe(1);
  });
});

describe("target", () => {
  test("a proven connection costs one question to the server and none to the device", async () => {
    const fake = await fakeServer({ devices: [fakePhone({ serial: "R1", transportId: 1 })] });
    const driver = driverOf(fake);
    const device = await ownDevice(driver);
    await driver.target(device);
    const before = fake.asked.length;
    expect(await driver.target(device)).toEqual({ kind: "android", serial: "R1" });
    expect(fake.asked.slice(before)).toEqual(["host:devices-l"]);
  });

  test("a network connection is asked each time: the server may have made it anew to another device", async () => {
    const at = { serial: "10.0.0.7:5555", transportId: 1, fields: "" };
    const fake = await fakeServer({ devices: [fakePhone({ ...at, serialNumber: "S1" })] });
    const driver = driverOf(fake);
    const device = await ownDevice(driver);
    expect(await driver.target(device)).toEqual({ kind: "android", serial: at.serial });
    fake.change({
      devices: [fakePhone({ ...at, serialNumber: "S2", bootId: "99999999-2222-3333-4444-555555555555" })],
    });
    expect((await refusal(driver.target(device))).code).toBe("DEVICE_UNAVAILABLE");
  });

  test("a device that was offline in between is asked again, whatever its serial and number", async () => {
    const at = { serial: "R1", transportId: 1 };
    const fake = await fakeServer({ devices: [fakePhone({ ...at, serialNumber: "S1" })] });
    const driver = driverOf(fake);
    const device = await ownDevice(driver);
    fake.change({ devices: [fakePhone({ ...at, state: "offline" })] });
    fake.change({ devices: [fakePhone({ ...at, serialNumber: "S2" })] });
    expect((await refusal(driver.target(device))).code).toBe("DEVICE_UNAVAILABLE");
    fake.change({ devices: [fakePhone({ ...at, state: "offline" })] });
    fake.change({ devices: [fakePhone({ serial: "R1", transportId: 2, serialNumber: "S1" })] });
    expect(await driver.target(device)).toEqual({ kind: "android", serial: "R1" });
  });

  test("a new server's connection with the old number is asked again", async () => {
    const fake = await fakeServer({
      devices: [fakePhone({ serial: "emulator-5554", transportId: 1, serialNumber: "S1" })],
    });
    const driver = driverOf(fake);
    const device = await ownDevice(driver);
    expect(await driver.target(device)).toEqual({ kind: "android", serial: "emulator-5554" });
    await fake.stop();
    fake.change({ devices: [fakePhone({ serial: "emulator-5554", transportId: 1, serialNumber: "S2" })] });
    await fake.start();
    expect((await refusal(driver.target(device))).code).toBe("DEVICE_UNAVAILABLE");
  });

  test("two devices that say the same are neither", async () => {
    const same = { serialNumber: "S1" };
    const fake = await fakeServer({ devices: [fakePhone({ serial: "R1", transportId: 1, ...same })] });
    const driver = driverOf(fake);
    const device = await ownDevice(driver);
    fake.change({
      devices: [
        fakePhone({ serial: "R1", transportId: 1, ...same }),
        fakePhone({ serial: "R2", transportId: 2, ...same, bootId: "99999999-2222-3333-4444-555555555555" }),
      ],
    });
    // The second is asked who it is as soon as it is seen.
    await driver.read();
    const error = await refusal(driver.target(device));
    expect(error.code).toBe("DEVICE_UNAVAILABLE");
    expect(error.message).toContain("R1 and R2");
  });

  test("a server of another version is never given a command: the client would end it", async () => {
    const fake = await fakeServer({ version: "0028", devices: [fakePhone({ serial: "R1", transportId: 1 })] });
    const driver = driverOf(fake);
    const device = await ownDevice(driver);
    const error = await refusal(driver.target(device));
    expect(error.code).toBe("DEVICE_UNAVAILABLE");
    expect(error.message).toMatch(/speaks version 40.*speaks 41/);
    expect(await driver.prerequisites()).toMatchObject([{ kind: "driver-advisory", code: "adb-version-mismatch" }]);
  });
});

describe("watch", () => {
  test.each(["long", "short"] as const)(
    "a change is told with the %s list, and each poll without one",
    async (tracking) => {
      const fake = await fakeServer({ tracking, devices: [] });
      const seen = watching(driverOf(fake));
      await seen.until(() => seen.readings.length > 2);
      expect(seen.last()).toEqual([]);
      fake.change({ devices: [fakePhone({ serial: "R1", transportId: 1 })] });
      await seen.until(() => seen.last()?.length === 1);
      seen.end();
      const told = seen.readings.length;
      fake.change({ devices: [] });
      await driverOf(fake).read();
      expect(seen.readings).toHaveLength(told);
    },
  );

  test("a device is not told as gone while it is asked who it is", async () => {
    let answer: (() => void) | undefined;
    const phone = fakePhone({ serial: "R1", transportId: 1 });
    const fake = await fakeServer({
      devices: [phone],
      raw: (service, socket) => {
        if (!service.startsWith("shell") || answer !== undefined) return false;
        const said = phone.shell?.(service.slice("shell,v2,raw:".length));
        answer = () => {
          if (typeof said !== "object") return;
          socket.write("OKAY");
          const length = Buffer.alloc(4);
          const bytes = Buffer.from(said.stdout ?? "");
          length.writeUInt32LE(bytes.length);
          socket.write(Buffer.concat([Buffer.from([1]), length, bytes, Buffer.from([3, 1, 0, 0, 0, 0])]));
        };
        return true;
      },
    });
    const seen = watching(driverOf(fake));
    while (fake.asked.filter((service) => service === "host:devices-l").length < 4) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(seen.readings).toEqual([]);
    answer?.();
    await seen.until(() => seen.readings.length > 0);
    expect(seen.readings[0]).toMatchObject([{ address: "R1" }]);
  });

  test("readings that miss a device are a poll apart, however much its neighbours change", async () => {
    const gone = fakePhone({ serial: "R1", transportId: 1 });
    const fake = await fakeServer({ devices: [gone] });
    const driver = driverOf(fake, { pollMs: 400 });
    const at: number[] = [];
    let wake = (): void => undefined;
    attachedOf(driver).watch(
      (devices) => {
        if (devices.some(({ address }) => address === "R1")) at.length = 0;
        else at.push(performance.now());
        wake();
      },
      () => undefined,
    );
    await driver.read();
    fake.change({ devices: [] });
    for (let neighbour = 2; neighbour < 8; neighbour += 1) {
      fake.change({ devices: [fakePhone({ serial: `R${neighbour}`, transportId: neighbour })] });
      await driver.read();
    }
    while (at.length < 2) await new Promise<void>((resolve) => (wake = resolve));
    const [first = 0, second = 0] = at;
    expect(second - first).toBeGreaterThanOrEqual(390);
  });
});

describe("the host's adb", () => {
  test("the command names the server so that the client starts none", async () => {
    const fake = await fakeServer();
    expect(driverOf(fake).command("adb")).toEqual({
      file: "/bin/sh",
      prefix: ["-H", "127.0.0.1", "-P", String(fake.port)],
      env: {},
    });
  });

  test("a missing adb is told with every place tried, in order", async () => {
    const fake = await fakeServer();
    const env = { ANDROID_HOME: "/no/sdk", ANDROID_SDK_ROOT: "/no/root", HOME: "/no/home", PATH: "/no/bin" };
    const driver = driverOf(fake, { adb: { file: "/no/adb" }, env });
    const [finding] = await driver.prerequisites();
    expect(finding).toMatchObject({ kind: "prerequisite-missing", tried: ["/no/adb"] });
    expect(() => driver.command("adb")).toThrow(expect.objectContaining({ code: "TOOL_MISSING" }));
    expect(await driver.hostTools()).toEqual([]);
  });

  test("its version is told", async () => {
    expect(await driverOf(await fakeServer()).hostTools()).toEqual([
      { platform: "android", name: "platform-tools", version: "35.0.2-12147458" },
    ]);
  });
});

test("an ended driver answers, and leaves nothing running", async () => {
  const fake = await fakeServer({ devices: [fakePhone({ serial: "R1", transportId: 1 })] });
  const driver = driverOf(fake);
  const seen = watching(driver);
  await seen.until(() => seen.readings.length > 0);
  await driver.dispose();
  expect((await refusal(driver.read())).code).toBe("CANCELLED");
});

test("an attached device can't be made", async () => {
  const driver = driverOf(await fakeServer({ devices: [fakePhone({ serial: "R1", transportId: 1 })] }));
  const device = await ownDevice(driver);
  expect((await refusal(driver.create(device, new AbortController().signal))).code).toBe("NO_DRIVER");
  expect((await driver.catalog()).models).toEqual([]);
  expect(driver.environment(device, "R1")).toMatchObject({ ANDROID_SERIAL: "R1" });
});
