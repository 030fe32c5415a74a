import { describe, expect, test } from "vitest";
import { decodeLayer, decodeProfile, decodeProfiles, decodeSnapshot } from "./decode.ts";
import { layerV1, layerV1Alpha1, pointers, profileV1, profileV1Alpha1, refusal } from "./documents.fixture.ts";

describe("a v1alpha1 profile", () => {
  test("is filled in", () => {
    expect(
      decodeProfile(
        profileV1Alpha1({
          spec: {
            applications: [{ bundleIdentifier: "com.acme.demo" }],
            preferences: [{ domain: "com.acme.demo", key: "seen", value: null }],
          },
        }),
      ),
    ).toEqual({
      apiVersion: "awesome-ios-sim/v1alpha1",
      kind: "SimulatorState",
      metadata: { name: "demo" },
      target: { name: "iPhone 17" },
      spec: {
        power: "unchanged",
        eraseBeforeApply: false,
        applications: [{ bundleIdentifier: "com.acme.demo", presence: "present", launchArguments: [] }],
        preferences: [{ domain: "com.acme.demo", key: "seen", value: null }],
      },
    });
  });

  test("may have a placeholder for a UDID, as the contract's own examples have", () => {
    expect(decodeProfile(profileV1Alpha1({ target: { udid: "SIMULATOR-UDID" } })).target).toEqual({
      udid: "SIMULATOR-UDID",
    });
  });

  test("may have null for what is not set", () => {
    const spec = {
      power: null,
      statusBar: null,
      applications: [{ bundleIdentifier: "a", running: null, sourcePath: null, presence: null, launchArguments: null }],
      preferences: [{ domain: "a", key: "b", value: null }],
    };
    expect(decodeProfile(profileV1Alpha1({ metadata: { name: "x", description: null }, spec })).spec).toEqual({
      power: "unchanged",
      eraseBeforeApply: false,
      applications: [{ bundleIdentifier: "a", presence: "present", launchArguments: [] }],
      preferences: [{ domain: "a", key: "b", value: null }],
    });
  });

  test.each([
    ["the root", { extra: 1, also: 2 }, "", "also"],
    ["metadata", { metadata: { name: "x", extra: 1 } }, "/metadata", "extra"],
    ["target", { target: { name: "x", extra: 1 } }, "/target", "extra"],
    ["spec", { spec: { extra: 1 } }, "/spec", "extra"],
    [
      "an application",
      { spec: { applications: [{ bundleIdentifier: "a", extra: 1 }] } },
      "/spec/applications/0",
      "extra",
    ],
    [
      "a preference",
      { spec: { preferences: [{ domain: "a", key: "b", value: 1, extra: 1 }] } },
      "/spec/preferences/0",
      "extra",
    ],
    ["the status bar", { spec: { statusBar: { extra: 1 } } }, "/spec/statusBar", "extra"],
    ["spec, for a field of simlock/v1", { spec: { appearance: "dark" } }, "/spec", "appearance"],
  ])("with an unknown field in %s is refused", (_where, more, pointer, name) => {
    const error = refusal(() => decodeProfile(profileV1Alpha1(more)));
    expect(pointers(error)).toEqual([pointer]);
    expect(error.message).toContain("unknown field");
    expect(error.message).toContain(`"${name}"`);
  });

  test("lists the unknown fields of one level sorted", () => {
    expect(refusal(() => decodeProfile(profileV1Alpha1({ zeta: 1, alpha: 2 }))).message).toContain(
      '$: unknown fields "alpha", "zeta"',
    );
  });

  test("reports several problems at once, each with its pointer", () => {
    const error = refusal(() =>
      decodeProfile({
        apiVersion: "awesome-ios-sim/v1alpha1",
        kind: "SimulatorState",
        metadata: { name: "" },
        target: {},
        spec: { power: "on", statusBar: { wifiBars: 4, time: 941 }, preferences: [{ domain: "a", key: "b" }] },
      }),
    );
    expect(pointers(error)).toEqual([
      "/metadata/name",
      "/target",
      "/spec/power",
      "/spec/preferences/0/value",
      "/spec/statusBar/time",
      "/spec/statusBar/wifiBars",
    ]);
    expect(error.message).toContain("/spec/statusBar/time: must be a string; put it in quotes");
  });

  test("bounds what it reports", () => {
    const applications = Array.from({ length: 50 }, () => ({ bundleIdentifier: "" }));
    const error = refusal(() => decodeProfile(profileV1Alpha1({ spec: { applications } })));
    expect(pointers(error)).toHaveLength(20);
    expect(error.message).toContain("and 30 more");
  });

  test.each([
    ["no name", { metadata: { name: "" } }, "/metadata/name"],
    ["no target field", { target: {} }, "/target"],
    ["an empty UDID", { target: { udid: "" } }, "/target/udid"],
    [
      "an empty bundle identifier",
      { spec: { applications: [{ bundleIdentifier: "" }] } },
      "/spec/applications/0/bundleIdentifier",
    ],
    [
      "an empty source path",
      { spec: { applications: [{ bundleIdentifier: "a", sourcePath: "" }] } },
      "/spec/applications/0/sourcePath",
    ],
    [
      "a source for an absent app",
      { spec: { applications: [{ bundleIdentifier: "a", sourcePath: "/a.app", presence: "absent" }] } },
      "/spec/applications/0/sourcePath",
    ],
    [
      "the same app twice",
      { spec: { applications: [{ bundleIdentifier: "a" }, { bundleIdentifier: "a" }] } },
      "/spec/applications/1",
    ],
    ["an empty domain", { spec: { preferences: [{ domain: "", key: "b", value: 1 }] } }, "/spec/preferences/0/domain"],
    [
      "the same preference twice",
      {
        spec: {
          preferences: [
            { domain: "a", key: "b", value: 1 },
            { domain: "a", key: "b", value: 2 },
          ],
        },
      },
      "/spec/preferences/1",
    ],
    [
      "an object as a preference",
      { spec: { preferences: [{ domain: "a", key: "b", value: {} }] } },
      "/spec/preferences/0/value",
    ],
    [
      "null within a list",
      { spec: { preferences: [{ domain: "a", key: "b", value: [null] }] } },
      "/spec/preferences/0/value",
    ],
    [
      "a list within a list",
      { spec: { preferences: [{ domain: "a", key: "b", value: [[1]] }] } },
      "/spec/preferences/0/value",
    ],
    ["an empty status bar", { spec: { statusBar: {} } }, "/spec/statusBar"],
    ["too many bars", { spec: { statusBar: { wifiBars: 4 } } }, "/spec/statusBar/wifiBars"],
    ["too few bars", { spec: { statusBar: { cellularBars: -1 } } }, "/spec/statusBar/cellularBars"],
    ["half a percent", { spec: { statusBar: { batteryLevel: 99.5 } } }, "/spec/statusBar/batteryLevel"],
    ["an unknown battery state", { spec: { statusBar: { batteryState: "full" } } }, "/spec/statusBar/batteryState"],
    ["null in the status bar", { spec: { statusBar: { time: null } } }, "/spec/statusBar/time"],
    ["an unknown version", { apiVersion: "awesome-ios-sim/v2" }, "/apiVersion"],
    ["no version", { apiVersion: undefined }, "/apiVersion"],
    ["another kind", { kind: "SimulatorStateLayer" }, "/kind"],
  ])("with %s is refused", (_what, more, pointer) => {
    const document = JSON.parse(JSON.stringify(profileV1Alpha1(more)));
    expect(pointers(refusal(() => decodeProfile(document)))).toEqual([pointer]);
  });

  test("takes pairs of domain and key for pairs", () => {
    const preferences = [
      { domain: "a", key: "b::c", value: 1 },
      { domain: "a::b", key: "c", value: 2 },
    ];
    expect(decodeProfile(profileV1Alpha1({ spec: { preferences } })).spec.preferences).toEqual(preferences);
  });
});

describe("what a tool would misread", () => {
  const app = (fields: object) => ({ spec: { applications: [{ bundleIdentifier: "a", ...fields }] } });
  const preference = (fields: object) => ({ spec: { preferences: [{ domain: "a", key: "b", value: 1, ...fields }] } });
  test.each([
    ["a bundle identifier that is an option", app({ bundleIdentifier: "--console" })],
    ["a path that is an option", app({ sourcePath: "-x.app" })],
    ["a domain that is an option", preference({ domain: "-g" })],
    ["a domain that is a file", preference({ domain: "/Users/me/Library/Preferences/com.acme" })],
    ["a key that is an option", preference({ key: "-array" })],
    ["a name that is an option", { target: { name: "-j" } }],
    ["every device", { target: { udid: "all" } }],
    ["every booted device", { target: { udid: "Booted" } }],
    ["every unavailable device", { target: { udid: "unavailable" } }],
    ["a NUL in an argument", app({ launchArguments: ["a\0b"] })],
    ["a NUL in a value", preference({ value: "a\0b" })],
    ["a NUL in the status bar", { spec: { statusBar: { time: "9\0" } } }],
    ["a NUL in a name", { target: { name: "a\0" } }],
  ])("is refused: %s", (_what, more) => {
    expect(refusal(() => decodeProfile(profileV1Alpha1(more))).message).toMatch(/must/);
    expect(() => decodeProfile(profileV1(more))).toThrow(/must/);
  });

  test("is fine as an app's own argument", () => {
    const spec = { applications: [{ bundleIdentifier: "a", launchArguments: ["-AppleLanguages", "(de)", ""] }] };
    expect(decodeProfile(profileV1Alpha1({ spec })).spec.applications[0]?.launchArguments).toEqual([
      "-AppleLanguages",
      "(de)",
      "",
    ]);
  });
});

describe("what is no plain JSON", () => {
  test.each([
    ["nothing", undefined],
    ["null", null],
    ["a list", []],
    ["a text", "{}"],
    [
      "a number that is none",
      profileV1Alpha1({ spec: { preferences: [{ domain: "a", key: "b", value: Number.NaN }] } }),
    ],
    ["a date", profileV1Alpha1({ spec: { preferences: [{ domain: "a", key: "b", value: new Date(0) }] } })],
    ["a field that every object has", JSON.parse('{"__proto__": {}, "apiVersion": "simlock/v1"}')],
  ])("is refused: %s", (_what, input) => {
    expect(refusal(() => decodeProfile(input)).code).toBe("STATE_INVALID");
  });

  test("is refused where it is circular, deep or huge", () => {
    const circular: Record<string, unknown> = profileV1Alpha1();
    circular["spec"] = circular;
    expect(refusal(() => decodeProfile(circular)).message).toContain("levels deep");
    expect(refusal(() => decodeProfile(Array.from({ length: 500_001 }, () => 0))).message).toContain(
      "more than 500000 values",
    );
  });
});

describe("a simlock/v1 profile", () => {
  test("has a form for everything that simctl can set", () => {
    const spec = {
      power: "booted",
      eraseBeforeApply: true,
      applications: [
        {
          bundleIdentifier: "com.acme.demo",
          sourcePath: "/build/Demo.app",
          presence: "present",
          running: true,
          launchArguments: ["-x"],
          launchEnvironment: { API: "https://example.com" },
          install: "always",
          sensitive: true,
        },
      ],
      preferences: [{ domain: "com.acme.demo", key: "token", value: "abc", sensitive: true }],
      statusBar: { time: "09:41" },
      appearance: "dark",
      increaseContrast: true,
      contentSize: "accessibility-large",
      localization: { languages: ["de-DE", "en"], locale: "de_DE", timeZone: "Europe/Berlin", use24HourClock: true },
      privacy: [{ service: "camera", bundleIdentifier: "com.acme.demo", access: "granted" }],
      location: {
        route: {
          points: [
            { latitude: 52.5, longitude: 13.4 },
            { latitude: 52.6, longitude: 13.5 },
          ],
          speedMetersPerSecond: 9,
        },
      },
      pasteboard: "hello",
      media: ["/photos/a.jpg"],
      rootCertificates: ["/certs/ca.pem"],
      push: [{ bundleIdentifier: "com.acme.demo", payload: { aps: { alert: "hi" }, deep: [{ a: null }] } }],
      openURL: "acme://home",
      sensitive: ["pasteboard"],
    };
    expect(decodeProfile(profileV1({ spec })).spec).toEqual(spec);
  });

  test("does not take null for what is not set: it would read as taking something back", () => {
    expect(pointers(refusal(() => decodeProfile(profileV1({ spec: { statusBar: null } }))))).toEqual([
      "/spec/statusBar",
    ]);
  });

  test.each([
    ["two ways to a location", { location: { point: { latitude: 0, longitude: 0 }, clear: true } }, "/spec/location"],
    ["no place", { location: {} }, "/spec/location"],
    ["a place off the globe", { location: { point: { latitude: 91, longitude: 0 } } }, "/spec/location/point/latitude"],
    [
      "a route of one point",
      { location: { route: { points: [{ latitude: 0, longitude: 0 }] } } },
      "/spec/location/route/points",
    ],
    ["a push without aps", { push: [{ bundleIdentifier: "a", payload: {} }] }, "/spec/push/0/payload/aps"],
    ["a push of nothing", { push: [{ bundleIdentifier: "a" }] }, "/spec/push/0"],
    ["a push of a file, outside of files", { push: [{ bundleIdentifier: "a", file: "x.apns" }] }, "/spec/push/0/file"],
    [
      "a push that is too large",
      { push: [{ bundleIdentifier: "a", payload: { aps: { alert: "x".repeat(4096) } } }] },
      "/spec/push/0/payload",
    ],
    [
      "an unknown service",
      { privacy: [{ service: "all", bundleIdentifier: "a", access: "granted" }] },
      "/spec/privacy/0/service",
    ],
    [
      "the same access twice",
      {
        privacy: [
          { service: "siri", bundleIdentifier: "a", access: "granted" },
          { service: "siri", bundleIdentifier: "a", access: "denied" },
        ],
      },
      "/spec/privacy/1",
    ],
    ["an unknown time zone", { localization: { timeZone: "Europe/Nowhere" } }, "/spec/localization/timeZone"],
    ["an empty localization", { localization: {} }, "/spec/localization"],
    ["something that is no URL", { openURL: "home" }, "/spec/openURL"],
    ["a URL that can't be parsed", { openURL: "http://[" }, "/spec/openURL"],
    [
      "an environment variable without a name",
      { applications: [{ bundleIdentifier: "a", launchEnvironment: { "A=B": "c" } }] },
      "/spec/applications/0/launchEnvironment/A=B",
    ],
    ["something taken back from nothing", { remove: { fields: ["power"] } }, "/extends"],
  ])("with %s is refused", (_what, spec, pointer) => {
    expect(pointers(refusal(() => decodeProfile(profileV1({ spec }))))).toEqual([pointer]);
  });

  test.each([
    ["nothing to find it by", { create: false }, "/target"],
    ["creation without a type", { name: "x", create: true }, "/target/create"],
    ["creation with a UDID", { name: "x", deviceType: "iPhone 17", udid: "U", create: true }, "/target/create"],
    [
      "creation and cloning",
      { name: "x", deviceType: "iPhone 17", create: true, cloneFrom: { name: "g" } },
      "/target/create",
    ],
    ["cloning without a name", { deviceType: "iPhone 17", cloneFrom: { name: "g" } }, "/target/cloneFrom"],
    ["cloning from nothing", { name: "x", cloneFrom: {} }, "/target/cloneFrom"],
  ])("with a target of %s is refused", (_what, target, pointer) => {
    expect(pointers(refusal(() => decodeProfile(profileV1({ target }))))).toEqual([pointer]);
  });

  test("may name several devices, each of which gets a profile", () => {
    const targets = [
      { deviceType: "iPhone 17", runtime: "latest" },
      { name: "iPad", cloneFrom: { name: "golden" } },
    ];
    const document = profileV1({ target: undefined, targets, spec: { appearance: "dark" } });
    delete document["target"];
    const profiles = decodeProfiles(document);
    expect(profiles.map(({ target }) => target)).toEqual(targets);
    expect(profiles.map(({ spec }) => spec.appearance)).toEqual(["dark", "dark"]);
    expect(pointers(refusal(() => decodeProfile(document)))).toEqual(["/targets"]);
    expect(pointers(refusal(() => decodeProfiles({ ...document, targets: [targets[0], { ...targets[0] }] })))).toEqual([
      "/targets/1",
    ]);
    expect(pointers(refusal(() => decodeProfiles({ ...document, target: { name: "x" } })))).toEqual(["/targets"]);
  });

  test("reads no other files where it did not come from one", () => {
    expect(pointers(refusal(() => decodeProfile(profileV1({ extends: "/etc/passwd" }))))).toEqual(["/extends"]);
  });
});

describe("a layer", () => {
  test("keeps what it leaves out as no opinion", () => {
    expect(decodeLayer(layerV1Alpha1({ applications: [] })).spec).toEqual({ applications: [] });
    expect(decodeLayer(layerV1Alpha1({ power: "booted" })).spec).toEqual({ power: "booted" });
  });

  test("fills an entry in, as it replaces the whole one", () => {
    expect(decodeLayer(layerV1Alpha1({ applications: [{ bundleIdentifier: "a" }] })).spec.applications).toEqual([
      { bundleIdentifier: "a", presence: "present", launchArguments: [] },
    ]);
    expect(
      decodeLayer(layerV1({ applications: [{ bundleIdentifier: "a", merge: "fields" }] })).spec.applications,
    ).toEqual([{ bundleIdentifier: "a", merge: "fields" }]);
  });

  test.each([
    ["without any opinion", layerV1Alpha1({}), "/spec"],
    ["with null as its only opinion", layerV1Alpha1({ statusBar: null }), "/spec"],
    ["with a target", layerV1Alpha1({ power: "booted" }, { target: { name: "x" } }), ""],
    ["with a typing error", layerV1Alpha1({ powr: "booted" }), "/spec"],
    ["that takes something back, before simlock/v1", layerV1Alpha1({ remove: { fields: ["power"] } }), "/spec"],
    [
      "that merges fields, before simlock/v1",
      layerV1Alpha1({ applications: [{ bundleIdentifier: "a", merge: "fields" }] }),
      "/spec/applications/0",
    ],
    ["that takes back an unknown field", layerV1({ remove: { fields: ["target"] } }), "/spec/remove/fields/0"],
  ])("%s is refused", (_what, document, pointer) => {
    expect(pointers(refusal(() => decodeLayer(document)))).toEqual([pointer]);
  });
});

describe("a snapshot", () => {
  const snapshot = {
    apiVersion: "awesome-ios-sim/snapshot-v1alpha1",
    generatedAt: "2026-08-18T00:00:00Z",
    device: { udid: "U", name: "iPhone", state: "Booted", runtimeIdentifier: "R", isAvailable: true },
    state: { power: "booted", applications: [], preferences: [] },
    capabilities: { power: { support: "exact", readable: true, writable: true } },
  };

  test("is read leniently: unknown fields, versions and nulls are passed over", () => {
    expect(
      decodeSnapshot({
        ...snapshot,
        apiVersion: "later",
        extra: 1,
        device: { ...snapshot.device, dataPath: null, extra: 1 },
        state: { ...snapshot.state, statusBar: null, preferences: [{ domain: "a", key: "b", value: null, extra: 1 }] },
        capabilities: { ...snapshot.capabilities, later: { support: "exact" } },
      }),
    ).toEqual({
      ...snapshot,
      state: { ...snapshot.state, preferences: [{ domain: "a", key: "b", value: null }] },
    });
  });

  test.each(["apiVersion", "generatedAt", "device", "state", "capabilities"] as const)(
    "without %s is refused",
    (field) => {
      const { [field]: _left, ...rest } = snapshot;
      expect(pointers(refusal(() => decodeSnapshot(rest)))).toEqual([`/${field}`]);
    },
  );

  test("with a device in a state that there is not is refused", () => {
    const device = { ...snapshot.device, state: "Booting" };
    expect(pointers(refusal(() => decodeSnapshot({ ...snapshot, device })))).toEqual(["/device/state"]);
  });
});
