import { expect, test } from "vitest";
import { failure, forever, own, PORTS, RecordedMac, refusal, said, timedOut } from "./recorded-mac.ts";

test("a boot is believed when bootstatus has ended, the listing says Booted and there is a display", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  expect(await driver.boot(device, forever())).toEqual({ address: device.driverDeviceId });
  const udid = device.driverDeviceId;
  expect(mac.calls.filter(([verb]) => verb !== "list")).toEqual([
    ["boot", udid],
    ["bootstatus", udid, "-b"],
    ["io", udid, "enumerate"],
  ]);
  expect(mac.verbs().indexOf("bootstatus")).toBeLessThan(mac.verbs().lastIndexOf("list devices"));
});

test("booting a booted device boots nothing", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.entry(device.driverDeviceId).state = "Booted";
  await driver.boot(device, forever());
  expect(mac.count("boot")).toBe(0);
});

test.each([405, 164, 165])(
  "'current state: Booted' with code %i counts once the listing says Booted too",
  async (code) => {
    using mac = new RecordedMac();
    const driver = mac.driver();
    const device = await mac.made(driver);
    mac.next("boot", () => {
      mac.entry(device.driverDeviceId).state = "Booted";
      return refusal("Unable to boot device in current state: Booted", code);
    });
    expect(await driver.boot(device, forever())).toEqual({ address: device.driverDeviceId });
  },
);

test("'current state: Booted' against a listing that says otherwise is no success", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("boot", refusal("Unable to boot device in current state: Booted"));
  mac.next("bootstatus", refusal("Unable to boot device in current state: Booted"));
  expect(await failure(driver.boot(device, forever()))).toMatchObject({ code: "DEVICE_START_FAILED" });
});

test("another text with the code 405 stays an error", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("boot", refusal("Unable to boot the Simulator: launchd failed to respond."));
  const error = await failure(driver.boot(device, forever()));
  expect(error.code).toBe("DEVICE_START_FAILED");
  expect(error.message).toContain("launchd failed to respond");
  expect(mac.count("bootstatus")).toBe(0);
});

test("bootstatus that refuses a booted device is outvoted by the listing", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("bootstatus", refusal("Unable to boot device in current state: Booted"));
  expect(await driver.boot(device, forever())).toEqual({ address: device.driverDeviceId });
});

test("a device that is shutting down is booted when it has come to rest", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  const entry = mac.entry(device.driverDeviceId);
  entry.state = "Shutting Down";
  const before = said(0, "", mac.listing());
  mac.next("list devices", before, before, before, () => {
    entry.state = "Shutdown";
    return said(0, "", mac.listing());
  });
  await driver.boot(device, forever());
  expect(mac.verbs()).toEqual([
    ...Array.from({ length: 4 }, () => "list devices"),
    "boot",
    "bootstatus",
    "list devices",
    "io",
  ]);
});

test("a boot refused because the device was shutting down is tried again", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("boot", refusal("Unable to boot device in current state: Shutting Down"));
  await driver.boot(device, forever());
  expect(mac.count("boot")).toBe(2);
});

test("a device that is not ready in time is shut down before that is said", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver({ bootTimeoutMs: 90_000 });
  const device = await mac.made(driver);
  mac.next("bootstatus", timedOut("bootstatus"));
  const error = await failure(driver.boot(device, forever()));
  expect(error).toMatchObject({ code: "DEVICE_START_FAILED", message: expect.stringContaining("90 s") });
  expect(mac.count("shutdown")).toBe(1);
  expect(mac.entry(device.driverDeviceId).state).toBe("Shutdown");
});

test("that the shutdown fails as well does not hide why the boot failed", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("bootstatus", timedOut("bootstatus"));
  mac.next("shutdown", said(1, "CoreSimulator is gone"));
  expect((await failure(driver.boot(device, forever()))).message).toContain("was not ready");
});

test("a boot command without an end leaves the word to bootstatus", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("boot", timedOut("boot"));
  expect(await driver.boot(device, forever())).toEqual({ address: device.driverDeviceId });
});

test("a listing that fails after the boot is read again, and nothing is booted or shut down meanwhile", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("bootstatus", () => {
    mac.next("list devices", timedOut("list"), said(1, "no answer"), said(0, "", '{"devices":{}}'));
    return said(0, "");
  });
  expect(await driver.boot(device, forever())).toEqual({ address: device.driverDeviceId });
  expect(mac.count("boot")).toBe(1);
  expect(mac.count("shutdown")).toBe(0);
});

test("a listing that stays unreadable after the boot is an error, and the device is let be", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("bootstatus", () => {
    mac.next("list devices", ...Array.from({ length: 8 }, () => timedOut("list")));
    mac.entry(device.driverDeviceId).state = "Booted";
    return said(0, "");
  });
  const error = await failure(driver.boot(device, forever()));
  expect(error).toMatchObject({ code: "DEVICE_START_FAILED", message: expect.stringContaining("can't be read") });
  expect([mac.count("boot"), mac.count("shutdown")]).toEqual([1, 0]);
});

test("a listing that steadily lacks the device after the boot is an error, and nothing is shut down", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("bootstatus", () => {
    mac.next("list devices", ...Array.from({ length: 8 }, () => said(0, "", '{"devices":{}}')));
    return said(0, "");
  });
  expect((await failure(driver.boot(device, forever()))).message).toContain("lost it");
  expect(mac.count("shutdown")).toBe(0);
});

test("a device that falls over right after booting did not start", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("bootstatus", () => {
    mac.entry(device.driverDeviceId).state = "Shutdown";
    return said(0, "");
  });
  expect((await failure(driver.boot(device, forever()))).code).toBe("DEVICE_START_FAILED");
});

const NO_DISPLAY = said(0, "", "Port 0:\n\tPort Identifier: com.apple.CoreSimulator.IndigoHIDRegistrationPort\n");

test("a display that comes a little late is waited for", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("io", NO_DISPLAY, NO_DISPLAY, said(0, "", PORTS));
  await driver.boot(device, forever());
  expect(mac.count("boot")).toBe(1);
});

test("a booted device without a display is recycled once", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("io", ...Array.from({ length: 5 }, () => NO_DISPLAY));
  expect(await driver.boot(device, forever())).toEqual({ address: device.driverDeviceId });
  expect([mac.count("boot"), mac.count("shutdown")]).toEqual([2, 1]);
});

test("the recycling gets no more than what is left of the time limit", async () => {
  using mac = new RecordedMac();
  const limits: number[] = [];
  const driver = mac.driver({
    bootTimeoutMs: 90_000,
    call: (call) => {
      if (call.args.includes("bootstatus")) limits.push(call.timeoutMs);
      return mac.call(call);
    },
  });
  const device = await mac.made(driver);
  mac.next("bootstatus", async (args) => {
    await mac.clock.sleep(70_000);
    return mac.good(args);
  });
  mac.next("io", ...Array.from({ length: 5 }, () => NO_DISPLAY));
  await driver.boot(device, forever());
  expect(limits).toEqual([90_000, 16_000]);
});

test.each([
  ["shows none", NO_DISPLAY],
  ["gets no answer", timedOut("io")],
  ["fails", said(60, "The operation couldn't be completed. Operation timed out")],
])("a device whose display list %s, even after the recycling, did not start and is shut down", async (_how, reply) => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("io", ...Array.from({ length: 10 }, () => reply));
  expect((await failure(driver.boot(device, forever()))).code).toBe("DEVICE_START_FAILED");
  expect([mac.count("boot"), mac.count("shutdown")]).toEqual([2, 2]);
  expect(mac.entry(device.driverDeviceId).state).toBe("Shutdown");
});

test("a simctl that can't list displays does not keep devices from starting", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("io", said(2, "Unrecognized subcommand: enumerate\nusage: simctl io <device> <operation>"));
  expect(await driver.boot(device, forever())).toEqual({ address: device.driverDeviceId });
  expect(mac.count("io")).toBe(1);
});

test("a device whose runtime is gone says so and is not booted", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  Object.assign(mac.entry(device.driverDeviceId), {
    isAvailable: false,
    availabilityError: "runtime profile not found",
  });
  const error = await failure(driver.boot(device, forever()));
  expect(error).toMatchObject({
    code: "DEVICE_START_FAILED",
    message: expect.stringContaining("runtime profile not found"),
  });
  expect(mac.count("boot")).toBe(0);
});

test("a boot that is cancelled ends at once as cancelled", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  const cancel = new AbortController();
  mac.next("bootstatus", async () => {
    cancel.abort();
    throw new DOMException("aborted", "AbortError");
  });
  expect((await failure(driver.boot(device, cancel.signal))).code).toBe("CANCELLED");
  expect(mac.count("shutdown")).toBe(0);
});

test("two boots run at once and the third waits", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver({ maxBoots: 2 });
  const devices = [
    await mac.made(driver, own("a")),
    await mac.made(driver, own("b")),
    await mac.made(driver, own("c")),
  ];
  let running = 0;
  let most = 0;
  const gates: (() => void)[] = [];
  const slow = async (args: readonly string[]) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => gates.push(resolve));
    running -= 1;
    return mac.good(args);
  };
  mac.next("bootstatus", slow, slow, slow);
  const boots = devices.map((device) => driver.boot(device, forever()));
  for (let ended = 0; ended < 3; ended += 1) {
    await expect.poll(() => gates.length).toBeGreaterThan(ended);
    gates[ended]?.();
  }
  await Promise.all(boots);
  expect(most).toBe(2);
});
