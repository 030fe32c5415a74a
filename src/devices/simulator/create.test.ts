import { expect, test } from "vitest";
import { failure, forever, KINDS, own, RecordedMac, refusal, said, timedOut } from "./recorded-mac.ts";

test("a device is made under its name and marked twice, with its own UDID", async () => {
  using mac = new RecordedMac();
  const { driverDeviceId } = await mac.driver().create(own("a"), forever());
  expect(mac.calls).toContainEqual([
    "create",
    "simlock-dev_a",
    "com.apple.CoreSimulator.SimDeviceType.iPhone-17",
    "com.apple.CoreSimulator.SimRuntime.iOS-26-0",
  ]);
  const mark = { token: "token-a", udid: driverDeviceId, instanceId: "instance-a", writtenAt: expect.any(Number) };
  expect(mac.readMark(driverDeviceId, "durable")).toEqual(mark);
  expect(mac.readMark(driverDeviceId, "erasable")).toEqual(mark);
  expect(mac.entry(driverDeviceId).state).toBe("Shutdown");
});

test("a device whose making was interrupted before it was marked is taken over, not doubled", async () => {
  using mac = new RecordedMac();
  const { udid } = mac.add("simlock-dev_a");
  expect(await mac.driver().create(own("a"), forever())).toEqual({ driverDeviceId: udid });
  expect(mac.count("create")).toBe(0);
  expect(mac.readMark(udid, "durable")).toMatchObject({ token: "token-a", udid });
});

test("a device that was made and marked, but whose result was lost, is taken over", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const first = await driver.create(own("a"), forever());
  expect(await driver.create(own("a"), forever())).toEqual(first);
  expect(mac.count("create")).toBe(1);
});

test("a crash between the two marks leaves a device that is taken over", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const first = await mac.made(driver);
  mac.removeMark(first.driverDeviceId, "durable");
  expect(await driver.create(own("a"), forever())).toEqual({ driverDeviceId: first.driverDeviceId });
  expect(mac.readMark(first.driverDeviceId, "durable")).toMatchObject({ token: "token-a" });
});

test("a create that passes its time limit and still comes to be is taken over", async () => {
  using mac = new RecordedMac();
  mac.next("create", ([, name = ""]) => {
    mac.add(name);
    throw timedOut("create");
  });
  const { driverDeviceId } = await mac.driver().create(own("a"), forever());
  expect(mac.entries).toHaveLength(1);
  expect(mac.readMark(driverDeviceId, "durable")).toMatchObject({ token: "token-a" });
});

test("a create that passes its time limit and comes to nothing is an error", async () => {
  using mac = new RecordedMac();
  mac.next("create", timedOut("create"));
  expect((await failure(mac.driver().create(own("a"), forever()))).code).toBe("TOOL_FAILED");
  expect(mac.count("create")).toBe(1);
});

test("of two devices that an interrupted making left, the marked one stays and the other goes", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const late = mac.add("simlock-dev_a");
  const marked = mac.add("simlock-dev_a");
  mac.writeMark(marked.udid, "durable", {
    token: "token-a",
    udid: marked.udid,
    instanceId: "instance-a",
    writtenAt: 1,
  });
  expect(await driver.create(own("a"), forever())).toEqual({ driverDeviceId: marked.udid });
  expect(mac.entries.map((entry) => entry.udid)).not.toContain(late.udid);
});

test("one that is still being created is waited for", async () => {
  using mac = new RecordedMac();
  const entry = mac.add("simlock-dev_a", "Creating");
  mac.next("list devices", said(0, "", mac.listing()), said(0, "", mac.listing()), () => {
    entry.state = "Shutdown";
    return said(0, "", mac.listing());
  });
  expect(await mac.driver().create(own("a"), forever())).toEqual({ driverDeviceId: entry.udid });
  expect(mac.count("list devices")).toBe(3);
});

test("a device of our name that somebody else has marked is not taken over", async () => {
  using mac = new RecordedMac();
  const { udid } = mac.add("simlock-dev_a");
  mac.writeMark(udid, "durable", { token: "token-a", udid, instanceId: "instance-b", writtenAt: 1 });
  const error = await failure(mac.driver().create(own("a"), forever()));
  expect(error).toMatchObject({ code: "DEVICE_UNAVAILABLE", details: { provenance: "mark-mismatch" } });
  expect(mac.verbs()).toEqual(["list devices"]);
});

test("a model that this Xcode does not have, and a version that is not installed, are told apart", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const spec = { platform: "ios", model: "iPhone 99", osVersion: "26.0" } as const;
  expect(await failure(driver.create(own("a", { spec }), forever()))).toMatchObject({ code: "UNKNOWN_MODEL" });
  const old = { platform: "ios", model: "iPhone 17", osVersion: "18.5" } as const;
  expect(await failure(driver.create(own("a", { spec: old }), forever()))).toMatchObject({
    code: "RUNTIME_MISSING",
    details: { installed: ["26.0"] },
  });
  expect(mac.count("create")).toBe(0);
});

test("a runtime that was installed after the last listing is found", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  mac.next("list kinds", said(0, "", KINDS.replace('"isAvailable":true', '"isAvailable":false')));
  expect((await driver.catalog()).runtimes).toEqual([]);
  await driver.create(own("a"), forever());
  expect(mac.count("list kinds")).toBe(2);
});

test.each([
  [said(161, "Invalid device type: x\n"), "UNKNOWN_MODEL"],
  [said(162, "Invalid runtime: x\n"), "RUNTIME_MISSING"],
  [refusal("Incompatible device", 403), "RUNTIME_MISSING"],
  [said(28, "No space left on device\n"), "INSUFFICIENT_DISK_SPACE"],
  [said(1, "Something else\n"), "TOOL_FAILED"],
])("what create says decides the error: %o", async (answer, code) => {
  using mac = new RecordedMac();
  mac.next("create", answer);
  expect((await failure(mac.driver().create(own("a"), forever()))).code).toBe(code);
});

test("a UDID is found behind noise", async () => {
  using mac = new RecordedMac();
  mac.next("create", ([, name = ""]) => said(0, "", `No runtime specified, using 'iOS 26.0'\n${mac.add(name).udid}\n`));
  expect(await mac.driver().create(own("a"), forever())).toEqual({ driverDeviceId: mac.entries[0]?.udid });
});

test("a name with quotes and a no-break space is one argument", async () => {
  using mac = new RecordedMac();
  const name = 'Jané\'s "iPhone"\u00a0\\ 🙂';
  await mac.driver().create(own("a", { name }), forever());
  expect(mac.calls.find(([verb]) => verb === "create")?.[1]).toBe(name);
});
