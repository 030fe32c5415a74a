import { expect, test } from "vitest";
import { SimlockError } from "../../contract/index.ts";
import type { DeviceReader, SimctlRun } from "../types.ts";
import { createReader } from "./reader.ts";
import { listing, recordedSimctl, refused, said, UDID } from "./reader.fixture.ts";
import type { RecordedSimctl } from "./reader.fixture.ts";

const NOW = new Date("2026-09-01T10:00:00.789Z");

function readerOf(simctl: RecordedSimctl): DeviceReader {
  return createReader(simctl.run, { now: () => NOW, sleep: async () => {} });
}

const HEAD = "Current Status Bar Overrides:\n=============================\n";
const unusable = expect.stringContaining("exited with");

test("a booted device is read whole", async () => {
  const simctl = recordedSimctl({
    "spawn launchctl": said("PID\tStatus\tLabel\n99\t0\tUIKitApplication:com.acme.demo[1][2]\n"),
    "spawn defaults export com.acme.demo": said("<plist><dict><key>seen</key><false/></dict></plist>"),
    "spawn defaults export NSGlobalDomain": said(
      "<plist><dict><key>AppleLocale</key><string>de_DE</string></dict></plist>",
    ),
    status_bar: said(`${HEAD}Time: 09:41\nCell Mode: 3, Cell Bars: 0\n`),
    pbpaste: said("copied"),
  });
  const snapshot = await readerOf(simctl).snapshot({ udid: UDID, domains: ["com.acme.demo"], pasteboard: true });
  expect(snapshot).toMatchObject({
    apiVersion: "awesome-ios-sim/snapshot-v1alpha1",
    generatedAt: "2026-09-01T10:00:00Z",
    device: { udid: UDID, name: "iPhone 17", state: "Booted" },
  });
  expect(snapshot.state).toEqual({
    power: "booted",
    applications: [{ bundleIdentifier: "com.acme.demo", build: "7", type: "User", running: true }],
    preferences: [{ domain: "com.acme.demo", key: "seen", value: false }],
    preferenceDomains: ["com.acme.demo"],
    statusBar: { time: "09:41", cellularMode: "active", cellularBars: 0 },
    statusBarUncertain: ["cellularBars"],
    appearance: "light",
    increaseContrast: false,
    contentSize: "large",
    localization: { locale: "de_DE" },
    pasteboard: "copied",
  });
  expect(snapshot.capabilities).toMatchObject({
    power: { support: "exact", readable: true, writable: true },
    applications: { support: "bestEffort", readable: true, writable: true },
    appearance: { support: "exact", readable: true, writable: true },
    // The recorded device has no folder on this host.
    privacy: { readable: false, writable: true, note: expect.stringContaining("where the device's data is") },
    location: { readable: false, writable: true },
    push: { readable: false, writable: true },
  });
});

test("a domain that nobody wrote to was read and is empty", async () => {
  const { state, capabilities } = await readerOf(recordedSimctl()).snapshot({ udid: UDID, domains: ["com.acme.new"] });
  expect(state.preferences).toEqual([]);
  expect(state.preferenceDomains).toEqual(["com.acme.new"]);
  expect(state.localization).toEqual({});
  expect(capabilities.preferences?.readable).toBe(true);
});

test("the pasteboard is left alone unless it is asked for", async () => {
  const simctl = recordedSimctl({ pbpaste: said("a password") });
  const snapshot = await readerOf(simctl).snapshot({ udid: UDID });
  expect(simctl.count("pbpaste")).toBe(0);
  expect(JSON.stringify(snapshot)).not.toContain("a password");
  expect(snapshot.capabilities.pasteboard).toMatchObject({ readable: false, note: expect.stringContaining("host") });
});

test("each part that can't be read is unreadable with its reason, and the others stand", async () => {
  const broken = said("", 1, "something broke\n");
  const simctl = recordedSimctl({
    listapps: broken,
    "spawn launchctl": broken,
    "spawn defaults": broken,
    status_bar: broken,
    "ui increase_contrast": broken,
    "ui content_size": said("?\n"),
  });
  const { state, capabilities } = await readerOf(simctl).snapshot({ udid: UDID, domains: ["a", "b"] });
  expect(state).toEqual({
    power: "booted",
    applications: [],
    preferences: [],
    preferenceDomains: [],
    appearance: "light",
  });
  const failed = { readable: false, writable: true };
  expect(capabilities).toMatchObject({
    applications: { ...failed, note: unusable },
    running: { ...failed, note: unusable },
    preferences: { ...failed, note: expect.stringMatching(/a: .*something broke; b: /) },
    statusBar: { ...failed, note: unusable },
    increaseContrast: { ...failed, note: unusable },
    contentSize: failed,
    localization: { ...failed, note: unusable },
    appearance: { readable: true },
  });
});

test("a command that passes its time limit is one part that can't be read", async () => {
  const late = new SimlockError("TOOL_FAILED", "`xcrun simctl listapps` did not end within 60000 ms and was ended.");
  const { capabilities } = await readerOf(recordedSimctl({ listapps: late })).snapshot({ udid: UDID });
  expect(capabilities.applications).toMatchObject({ readable: false, note: expect.stringContaining("did not end") });
});

test("one of several domains that can't be read leaves the others read", async () => {
  const simctl = recordedSimctl({ "spawn defaults export b": said("", 1, "no\n") });
  const { state, capabilities } = await readerOf(simctl).snapshot({ udid: UDID, domains: ["a", "b"] });
  expect(state.preferenceDomains).toEqual(["a"]);
  expect(capabilities.preferences).toMatchObject({ readable: true, note: expect.stringContaining("b: ") });
});

test("listapps without JSON is asked for its property list", async () => {
  for (const first of [said("", 64, "Unrecognized option: --json\n"), said("not a listing at all !")]) {
    const simctl = recordedSimctl({ "listapps --json": first, listapps: said('{ "com.acme.old" = { }; }') });
    const { state } = await readerOf(simctl).snapshot({ udid: UDID });
    expect(state.applications).toEqual([{ bundleIdentifier: "com.acme.old", running: false }]);
  }
});

test("what cannot tell whether apps run says nothing of it", async () => {
  const { state } = await readerOf(recordedSimctl({ "spawn launchctl": said("") })).snapshot({ udid: UDID });
  expect(state.applications).toEqual([{ bundleIdentifier: "com.acme.demo", build: "7", type: "User" }]);
});

test("an option that the device does not have is unsupported", async () => {
  const { state, capabilities } = await readerOf(recordedSimctl({ ui: said("unsupported\n") })).snapshot({
    udid: UDID,
  });
  expect(state).not.toHaveProperty("contentSize");
  for (const name of ["appearance", "increaseContrast", "contentSize"] as const) {
    expect(capabilities[name]).toMatchObject({ support: "unsupported", writable: false });
  }
});

test("of a device that is shut down nothing counts as read but what is sure", async () => {
  const simctl = recordedSimctl({ list: said(listing("Shutdown")) });
  const { state, capabilities } = await readerOf(simctl).snapshot({ udid: UDID, domains: ["a"] });
  expect(simctl.calls).toEqual([["list", "-j"]]);
  expect(state).toEqual({ power: "shutdown", applications: [], preferences: [], statusBar: {} });
  expect(capabilities).toMatchObject({
    power: { readable: true },
    applications: { readable: false, note: expect.stringContaining("booted") },
    preferences: { readable: false },
    appearance: { readable: false, writable: true },
    statusBar: { readable: true },
    running: { readable: true },
  });
});

test("of a device that is in between nothing is known", async () => {
  const { device, capabilities } = await readerOf(recordedSimctl({ list: said(listing("Booting")) })).snapshot({
    udid: UDID,
  });
  expect(device.state).toBe("Unknown");
  for (const name of ["power", "applications", "running", "statusBar", "privacy"] as const) {
    expect(capabilities[name]?.readable).toBe(false);
  }
});

test("nothing can be changed on a device whose runtime is gone", async () => {
  const gone = { isAvailable: false, availabilityError: "runtime profile not found" };
  const { capabilities } = await readerOf(recordedSimctl({ list: said(listing("Shutdown", gone)) })).snapshot({
    udid: UDID,
  });
  for (const capability of Object.values(capabilities)) {
    expect(capability).toMatchObject({ writable: false, note: expect.stringContaining("runtime profile not found") });
  }
});

test.each(["booted", "all", "iPhone 17", UDID.toLowerCase(), ""])("%j is no device", async (udid) => {
  const simctl = recordedSimctl();
  await expect(readerOf(simctl).snapshot({ udid })).rejects.toMatchObject({ code: "UNKNOWN_DEVICE" });
  expect(simctl.calls).toEqual([["list", "-j"]]);
});

test("a device that is deleted while it is read is unknown, not empty", async () => {
  const simctl = recordedSimctl({ status_bar: said("", 148, `Invalid device: ${UDID}\n`) });
  await expect(readerOf(simctl).snapshot({ udid: UDID })).rejects.toMatchObject({
    code: "UNKNOWN_DEVICE",
    message: expect.stringContaining("while it was read"),
  });
});

test("a device that shuts down while it is read is read again as it is then", async () => {
  const simctl = recordedSimctl({
    list: [said(listing("Booted")), said(listing("Shutdown"))],
    listapps: refused("Unable to lookup in current state: Shutdown"),
  });
  const { state } = await readerOf(simctl).snapshot({ udid: UDID });
  expect(state.power).toBe("shutdown");
  expect(simctl.count("list")).toBe(2);
});

test("a device that was booted is read while the listing is made, and counts only if it still is", async () => {
  const gate = Promise.withResolvers<void>();
  const simctl = recordedSimctl({
    list: [
      said(listing("Booted")),
      async () => {
        await gate.promise;
        return said(listing("Booted"));
      },
      said(listing("Shutdown")),
    ],
    status_bar: () => {
      gate.resolve();
      return said(`${HEAD}Time: 1\n`);
    },
  });
  const reader = readerOf(simctl);
  await reader.inventory();
  // The listing ends only once the status bar was asked for.
  expect((await reader.snapshot({ udid: UDID })).state.statusBar).toEqual({ time: "1" });
  expect((await reader.snapshot({ udid: UDID })).state).toMatchObject({ power: "shutdown", statusBar: {} });
});

test("at most four commands run at once, however many devices are read", async () => {
  let now = 0;
  let most = 0;
  const simctl = recordedSimctl();
  const slow = async (run: SimctlRun) => {
    most = Math.max(most, ++now);
    await new Promise(setImmediate);
    now -= 1;
    return simctl.run(run);
  };
  const reader = createReader(slow);
  const domains = Array.from({ length: 20 }, (_, index) => `com.acme.${index}`);
  await Promise.all([reader.snapshot({ udid: UDID, domains }), reader.snapshot({ udid: UDID })]);
  // Listings are one at a time, and are beside these.
  expect(most).toBe(4);
});

test("those who ask at once share one listing and one snapshot", async () => {
  const simctl = recordedSimctl();
  const reader = readerOf(simctl);
  await Promise.all(Array.from({ length: 20 }, () => reader.inventory()));
  expect(simctl.count("list")).toBe(1);
  const snapshots = await Promise.all(Array.from({ length: 20 }, () => reader.snapshot({ udid: UDID })));
  expect(new Set(snapshots).size).toBe(1);
  expect(simctl.count("listapps")).toBe(1);
});

test("whoever asks while a reading runs gets one that began afterwards", async () => {
  const gate = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const simctl = recordedSimctl({
    list: [
      async () => {
        began.resolve();
        await gate.promise;
        return said(listing("Shutdown"));
      },
      said(listing("Booted")),
    ],
  });
  const reader = readerOf(simctl);
  const before = reader.inventory();
  await began.promise;
  const after = reader.inventory();
  gate.resolve();
  expect((await before).devices[0]?.state).toBe("Shutdown");
  expect((await after).devices[0]?.state).toBe("Booted");
});

test("a service that was just replaced is asked again, and two Xcodes are named (C02)", async () => {
  const complaint =
    "2026-09-01 simctl[12:34] CoreSimulator detected Xcode.app relocation or CoreSimulatorService version change.  Framework path (/X) and version (1000.1) does not match existing job path (/Y) and version (990.2).\n";
  const once = recordedSimctl({ list: [said("", 0, complaint), said(listing())] });
  expect((await readerOf(once).inventory()).devices).toHaveLength(1);
  const always = recordedSimctl({ list: said("", 0, complaint) });
  await expect(readerOf(always).inventory()).rejects.toMatchObject({
    code: "TOOL_FAILED",
    details: { reason: "xcode-mismatch", versions: ["1000.1", "990.2"] },
  });
  expect(always.count("list")).toBe(2);
});

test("without Xcode there is a hint, and no empty inventory (C15)", async () => {
  const stderr = 'xcrun: error: unable to find utility "simctl", not a developer tool or in PATH\n';
  const reader = readerOf(recordedSimctl({ list: said("", 72, stderr) }));
  await expect(reader.inventory()).rejects.toMatchObject({
    code: "TOOL_MISSING",
    hint: expect.stringContaining("xcode-select"),
  });
});

test("a listing that fails is an error", async () => {
  const reader = readerOf(recordedSimctl({ list: said("", 1, "boom\n") }));
  await expect(reader.snapshot({ udid: UDID })).rejects.toMatchObject({ code: "TOOL_FAILED" });
});

test("a reading that is cancelled ends its commands", async () => {
  const cancel = new AbortController();
  const ended = Promise.withResolvers<void>();
  const simctl = recordedSimctl({
    listapps: ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener("abort", () => {
          ended.resolve();
          reject(new SimlockError("CANCELLED", "ended"));
        });
        cancel.abort();
      }),
  });
  const reading = readerOf(simctl).snapshot({ udid: UDID, signal: cancel.signal });
  await expect(reading).rejects.toMatchObject({ code: "CANCELLED" });
  await ended.promise;
});

test("a failure that says it all ends the other reads", async () => {
  const ended = Promise.withResolvers<void>();
  const simctl = recordedSimctl({
    listapps: ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener("abort", () => {
          ended.resolve();
          reject(new SimlockError("CANCELLED", "ended"));
        });
      }),
    status_bar: said("", 72, 'xcrun: error: unable to find utility "simctl", not a developer tool or in PATH\n'),
  });
  await expect(readerOf(simctl).snapshot({ udid: UDID })).rejects.toMatchObject({ code: "TOOL_MISSING" });
  await ended.promise;
});

test("a domain that would be an option or a path is refused before anything is run", async () => {
  const simctl = recordedSimctl();
  await expect(readerOf(simctl).snapshot({ udid: UDID, domains: ["-g"] })).rejects.toMatchObject({
    code: "BAD_REQUEST",
  });
  expect(simctl.calls).toEqual([]);
});
