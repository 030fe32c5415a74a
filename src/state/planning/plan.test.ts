import { describe, expect, test } from "vitest";
import type { DesiredState, Plan, Snapshot } from "../types.ts";
import { diffOf, maximumRisk, planNewDevice, planState, verifyState } from "./plan.ts";
import { app, booted, off, profile, snapshot, UDID } from "./profile.fixture.ts";

const NOW = new Date("2026-08-18T00:00:00.500Z");
const plan = (device: Snapshot, spec: Partial<DesiredState>): Plan => planState(profile(spec), device, { now: NOW });
const actions = (made: Plan) => made.operations.map(({ action }) => action);
const paths = (made: Plan) => made.diff.map(({ path, kind }) => `${kind} ${path}`);
const bar = { time: "09:41", wifiBars: 3 };
const one = { domain: "com.acme.demo", key: "seen", value: false };

describe("conformance vectors", () => {
  const erase = { eraseBeforeApply: true };
  const refused = { preferences: { support: "unsupported" as const, note: "no" } };
  const installed = { state: { applications: [{ bundleIdentifier: "a.b" }] } };
  test.each<[string, Snapshot, Partial<DesiredState>, string[], string[]]>([
    ["1 booted stays booted", booted(), { power: "booted" }, [], []],
    ["2 boot", off(), { power: "booted" }, ["boot"], ["change spec.power"]],
    ["3 shutdown", booted(), { power: "shutdown" }, ["shutdown"], ["change spec.power"]],
    ["4 nothing asked of a device that is off", off(), {}, [], []],
    ["4 nothing asked of a device that is on", booted(), {}, [], []],
    ["5 erase keeps booted", booted(), erase, ["shutdown", "erase", "boot"], ["change spec.eraseBeforeApply"]],
    ["6 erase keeps off", off(), erase, ["erase"], ["change spec.eraseBeforeApply"]],
    [
      "7 erase and boot",
      off(),
      { ...erase, power: "booted" },
      ["erase", "boot"],
      ["change spec.eraseBeforeApply", "change spec.power"],
    ],
    [
      "8 erase and shut down",
      booted(),
      { ...erase, power: "shutdown" },
      ["shutdown", "erase"],
      ["change spec.eraseBeforeApply", "change spec.power"],
    ],
    [
      "9 a preference of a device that is off",
      off(),
      { preferences: [one] },
      ["boot", "setPreference", "shutdown"],
      ["add spec.preferences[com.acme.demo.seen]"],
    ],
    [
      "10 remove an app",
      booted(installed),
      { applications: [app("a.b", { presence: "absent" })] },
      ["uninstallApplication"],
      ["remove spec.applications[a.b]"],
    ],
    ["11 an app that is absent", booted(), { applications: [app("a.b", { presence: "absent" })] }, [], []],
    [
      "12 nothing to install from",
      booted(),
      { applications: [app("a.b", { running: true })] },
      [],
      ["add spec.applications[a.b]"],
    ],
    [
      "13 launch",
      booted(installed),
      { applications: [app("a.b", { running: true })] },
      ["launchApplication"],
      ["change spec.applications[a.b].running"],
    ],
    [
      "14 better than nothing: whether it runs is unknown",
      booted(installed),
      { applications: [app("a.b", { running: false })] },
      ["terminateApplication"],
      ["unknown spec.applications[a.b].running"],
    ],
    ["15 the same status bar", booted({ state: { statusBar: bar } }), { statusBar: bar }, [], []],
    [
      "16 preferences can't be written",
      booted({ capabilities: refused }),
      { preferences: [one] },
      [],
      ["unsupported spec.preferences"],
    ],
    [
      "17 better: no pointless boot",
      off({ capabilities: refused }),
      { preferences: [one] },
      [],
      ["unsupported spec.preferences"],
    ],
    [
      "18 change a preference",
      booted({ state: { preferences: [{ domain: "d", key: "k", value: 1 }] } }),
      { preferences: [{ domain: "d", key: "k", value: 2 }] },
      ["setPreference"],
      ["change spec.preferences[d.k]"],
    ],
  ])("%s", (_name, device, spec, wantedActions, wantedPaths) => {
    const made = plan(device, spec);
    expect(actions(made)).toEqual(wantedActions);
    expect(paths(made)).toEqual(wantedPaths);
  });

  test("12 and 16 warn", () => {
    expect(plan(booted(), { applications: [app("a.b")] }).warnings).toEqual([
      "Cannot install a.b: sourcePath is missing.",
    ]);
    expect(plan(booted({ capabilities: refused }), { preferences: [one] }).warnings).toEqual([
      "Skipped preferences: no",
    ]);
  });

  test("9, 13 and 18 show what is known now, and nothing where it is not", () => {
    expect(plan(off(), { preferences: [one] }).diff).toEqual([
      {
        path: "spec.preferences[com.acme.demo.seen]",
        kind: "add",
        desired: false,
        note: expect.stringContaining("could not be read"),
      },
    ]);
    expect(plan(booted(installed), { applications: [app("a.b", { running: true })] }).diff[0]).not.toHaveProperty(
      "current",
    );
    const known = booted({ state: { preferences: [{ domain: "d", key: "k", value: 1 }] } });
    expect(plan(known, { preferences: [{ domain: "d", key: "k", value: 2 }] }).diff[0]).toMatchObject({
      current: 1,
      desired: 2,
    });
  });

  test("19 a device that is not the target is refused", () => {
    const other = profile({}, { target: { name: "tablet" } });
    expect(() => planState(other, booted())).toThrow(
      expect.objectContaining({ code: "BAD_REQUEST", message: expect.stringMatching(/example.*name tablet/) }),
    );
  });
});

test("a whole profile: settings before the launch, effects last, ids and risks as they are", () => {
  const made = plan(snapshot("shutdown"), {
    power: "shutdown",
    applications: [app("com.acme.demo", { sourcePath: "/x/Demo.app", running: true, launchArguments: ["-flag"] })],
    preferences: [one],
    statusBar: { time: "09:41" },
  });
  expect(made.operations.map(({ id }) => id)).toEqual([
    "001-boot",
    "002-installApplication",
    "003-setPreference",
    "004-launchApplication",
    "005-setStatusBar",
    "006-shutdown",
  ]);
  expect(paths(made)).toEqual([
    "add spec.applications[com.acme.demo]",
    "change spec.applications[com.acme.demo].running",
    "add spec.preferences[com.acme.demo.seen]",
    "add spec.statusBar",
  ]);
  expect(
    made.operations.every(({ targetUDID, requiresConfirmation }) => targetUDID === UDID && requiresConfirmation),
  ).toBe(true);
  expect(made.generatedAt).toBe("2026-08-18T00:00:00Z");
  expect(maximumRisk(made)).toBe("reversible");
  expect(made.warnings).toEqual([
    "spec.applications[com.acme.demo].running does not last: the device is shut down at the end.",
    "spec.statusBar does not last: the device is shut down at the end.",
  ]);
});

test("everything of simlock/v1 comes in the order in which it takes effect", () => {
  const made = plan(booted({ state: { applications: [{ bundleIdentifier: "a.b", running: true }] } }), {
    applications: [app("a.b", { running: true })],
    preferences: [one],
    localization: { locale: "de_DE" },
    privacy: [{ service: "photos", bundleIdentifier: "a.b", access: "granted" }],
    appearance: "dark",
    increaseContrast: true,
    contentSize: "large",
    location: { point: { latitude: -33.8, longitude: 151.2 } },
    statusBar: bar,
    media: ["/p.png", "/p.png"],
    rootCertificates: ["/ca.pem"],
    pasteboard: "x",
    push: [{ bundleIdentifier: "a.b", payload: { aps: {} } }],
    openURL: "acme://home",
  });
  expect(actions(made)).toEqual([
    "setPreference",
    "setPrivacy",
    "setLocalization",
    "setAppearance",
    "setIncreaseContrast",
    "setContentSize",
    "setLocation",
    "launchApplication",
    "setStatusBar",
    "addMedia",
    "addRootCertificate",
    "setPasteboard",
    "sendPush",
    "openURL",
  ]);
  expect(made.operations.find(({ action }) => action === "launchApplication")?.reason).toContain("permissions");
  const unknown = made.diff.filter(({ kind }) => kind === "unknown").map(({ path }) => path);
  expect(unknown).toContain("spec.push[0]");
  expect(unknown).toContain("spec.appearance");
});

describe("after an erase", () => {
  const had = booted({
    state: {
      applications: [
        { bundleIdentifier: "a.b", running: true, type: "User" },
        { bundleIdentifier: "com.apple.Maps", type: "System" },
      ],
      preferences: [{ domain: "d", key: "k", value: 1 }],
      preferenceDomains: ["d", "NSGlobalDomain"],
    },
  });
  test("an installed app is installed anew and launched, a removed one needs no removal, a set preference is set again", () => {
    const made = plan(had, {
      eraseBeforeApply: true,
      applications: [
        app("a.b", { sourcePath: "/B.app", running: true }),
        app("c.d", { presence: "absent" }),
        app("com.apple.Maps", { running: true }),
      ],
      preferences: [
        { domain: "d", key: "k", value: 1 },
        { domain: "d", key: "gone", value: null },
      ],
    });
    expect(actions(made)).toEqual([
      "shutdown",
      "erase",
      "boot",
      "installApplication",
      "setPreference",
      "launchApplication",
      "launchApplication",
    ]);
    expect(maximumRisk(made)).toBe("destructive");
  });
});

describe("what is not known", () => {
  test("an app of a device that is off is neither there nor absent", () => {
    const made = plan(off(), {
      applications: [app("a.b", { presence: "absent" }), app("c.d", { sourcePath: "/D.app" }), app("e.f")],
    });
    expect(paths(made)).toEqual([
      "unknown spec.applications[a.b]",
      "unknown spec.applications[c.d]",
      "unknown spec.applications[e.f]",
    ]);
    expect(actions(made)).toEqual(["boot", "uninstallApplication", "installApplication", "shutdown"]);
  });

  test("a device between states is not taken for one that is off", () => {
    const booting = snapshot("shutdown", { device: { state: "Unknown" } });
    const made = plan(booting, { power: "shutdown", preferences: [one] });
    expect(paths(made)).toContain("unknown spec.power");
    expect(actions(made)).toEqual(["boot", "setPreference", "shutdown"]);
    expect(actions(plan(booting, { preferences: [one] }))).toEqual(["boot", "setPreference"]);
  });

  test("a key of a domain that was read whole is known not to be set", () => {
    const read = booted({ state: { preferenceDomains: ["com.acme.demo"] } });
    expect(plan(read, { preferences: [{ ...one, value: null }] }).operations).toEqual([]);
    expect(plan(read, { preferences: [one] }).diff[0]).toMatchObject({ kind: "add", current: null });
  });
});

test("values are told apart by their types", () => {
  const device = booted({ state: { preferences: [{ domain: "d", key: "k", value: 1 }], preferenceDomains: ["d"] } });
  for (const value of [true, "1", [1], 1.5]) {
    expect(actions(plan(device, { preferences: [{ domain: "d", key: "k", value }] }))).toEqual(["setPreference"]);
  }
  expect(actions(plan(device, { preferences: [{ domain: "d", key: "k", value: 1 }] }))).toEqual([]);
});

test("an override that the profile does not name counts as different; a printed 0 beside a set value does not", () => {
  const has = (statusBar: DesiredState["statusBar"]) => booted({ state: { statusBar: statusBar ?? {} } });
  expect(actions(plan(has({ ...bar, batteryLevel: 3 }), { statusBar: bar }))).toEqual(["setStatusBar"]);
  const printed = has({ cellularMode: "notSupported", cellularBars: 4 });
  expect(actions(plan(printed, { statusBar: { cellularBars: 4 } }))).toEqual([]);
});

describe("another build of an installed app", () => {
  const bundles = new Map([["/B.app", { bundleIdentifier: "a.b", version: "1.1", build: "12" }]]);
  const device = (version: string, build: string) =>
    booted({ state: { applications: [{ bundleIdentifier: "a.b", version, build, running: true }] } });
  const made = (seen: Snapshot, install?: "ifMissing" | "ifChanged" | "always") =>
    planState(
      profile({ applications: [app("a.b", { sourcePath: "/B.app", running: true, ...(install && { install }) })] }),
      seen,
      { bundles },
    );
  test("replaces it and launches it again, and the same build does not", () => {
    expect(actions(made(device("1.1", "12")))).toEqual([]);
    const update = made(device("1.1", "11"));
    expect(actions(update)).toEqual(["installApplication", "launchApplication"]);
    expect(update.diff).toEqual([
      {
        path: "spec.applications[a.b]",
        kind: "change",
        current: { version: "1.1", build: "11" },
        desired: { version: "1.1", build: "12" },
      },
    ]);
  });
  test("counts only where the policy says so", () => {
    expect(actions(made(device("1.0", "1"), "ifMissing"))).toEqual([]);
    expect(actions(made(device("1.1", "12"), "always"))).toEqual(["installApplication", "launchApplication"]);
  });
});

test("a running app's new arguments are warned of, not passed over", () => {
  const device = booted({ state: { applications: [{ bundleIdentifier: "a.b", running: true }] } });
  const made = plan(device, { applications: [app("a.b", { running: true, launchArguments: ["x"] })] });
  expect(made.operations).toEqual([]);
  expect(made.warnings).toEqual([expect.stringContaining("next launch")]);
});

describe("arguments that a tool would read as something else", () => {
  test.each<[string, Partial<DesiredState>]>([
    ["a bundle identifier", { applications: [app("--help", { presence: "absent" })] }],
    ["a source path", { applications: [app("a.b", { sourcePath: "-x" })] }],
    ["a domain that is an option", { preferences: [{ ...one, domain: "-g" }] }],
    ["a domain that is a path", { preferences: [{ ...one, domain: "/etc/x" }] }],
    ["a key", { preferences: [{ ...one, key: "-k" }] }],
    ["an operator's name", { statusBar: { operatorName: "--time" } }],
    ["a media path", { media: ["-"] }],
    ["a certificate's path", { rootCertificates: ["-x"] }],
    ["something that is no URL", { openURL: "-x" }],
  ])("%s is refused", (_name, spec) => {
    expect(() => plan(booted(), spec)).toThrow(expect.objectContaining({ code: "STATE_INVALID" }));
  });
});

test("a device that is not there is made first, and stands under the nil UUID", () => {
  const made = planNewDevice(
    profile({ power: "booted", applications: [app("a.b", { presence: "absent" })] }, { target: { name: "new" } }),
    { name: "new", deviceType: "com.apple.x.iPhone-17", runtime: "com.apple.r.iOS-26-1" },
  );
  expect(actions(made)).toEqual(["createDevice", "boot"]);
  expect(made.targetUDID).toBe("00000000-0000-0000-0000-000000000000");
  expect(paths(made)).toEqual(["change spec.power", "add target"]);
  const copy = planNewDevice(profile({ applications: [app("a.b", { presence: "absent" })] }), {
    name: "copy",
    cloneFrom: UDID,
  });
  expect(actions(copy)).toEqual(["createDevice", "boot", "uninstallApplication", "shutdown"]);
});

test("a plan is named by what it says and what it rests on", () => {
  const spec = { preferences: [{ domain: "d", key: "k", value: 2 }] };
  const first = plan(booted({ state: { preferences: [{ domain: "d", key: "k", value: 1 }] } }), spec);
  const later = planState(profile(spec), booted({ state: { preferences: [{ domain: "d", key: "k", value: 1 }] } }));
  const other = plan(booted({ state: { preferences: [{ domain: "d", key: "k", value: 3 }] } }), spec);
  expect(first.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(later.digest).toBe(first.digest);
  expect(other.factsDigest).not.toBe(first.factsDigest);
});

test("a diff masks what is sensitive", () => {
  const made = plan(booted({ state: { preferences: [{ domain: "d", key: "k", value: "old" }] } }), {
    preferences: [{ domain: "d", key: "k", value: "hunter2", sensitive: true }],
  });
  expect(JSON.stringify(diffOf(made))).not.toMatch(/hunter2|old/);
  expect(made.operations[0]?.arguments).toEqual({ domain: "d", key: "k", value: "hunter2", sensitive: true });
});

test("what happens at each apply is left out where only what can converge is asked for", () => {
  const spec = { openURL: "acme://x", media: ["/p.png"], appearance: "dark" as const };
  const made = planState(profile(spec), booted({ state: { appearance: "dark" } }), { events: false });
  expect(made).toMatchObject({ diff: [], operations: [] });
});

test("each field that a profile names has a verdict", () => {
  const device = booted({
    state: { appearance: "light", preferences: [{ domain: "com.acme.demo", key: "seen", value: false }] },
    capabilities: { contentSize: { writable: false } },
  });
  const verdicts = verifyState(
    profile({ power: "booted", appearance: "dark", contentSize: "large", increaseContrast: true, preferences: [one] }),
    device,
  );
  expect(verdicts.map(({ path, verdict }) => [path, verdict])).toEqual([
    ["spec.appearance", "different"],
    ["spec.contentSize", "unsupported"],
    ["spec.increaseContrast", "unknown"],
    ["spec.power", "satisfied"],
    ["spec.preferences[com.acme.demo.seen]", "satisfied"],
  ]);
});

test("a thousand apps and five thousand preferences take time by their number", () => {
  const large = (count: number) =>
    profile({
      applications: Array.from({ length: count / 5 }, (_, at) => app(`com.acme.a${at}`, { sourcePath: "/A.app" })),
      preferences: Array.from({ length: count }, (_, at) => ({ domain: "com.acme", key: `k${at}`, value: at })),
    });
  const made = planState(large(5_000), booted());
  expect(made.operations).toHaveLength(6_000);
  expect(made.operations.at(-1)?.id).toBe("6000-setPreference");
});
