import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compose, composeLayers, decodeOverlays, type Overlay } from "./compose.ts";
import { decodeLayer, decodeProfile } from "./decode.ts";
import { layerV1, layerV1Alpha1, pointers, profileV1, profileV1Alpha1, refusal } from "./documents.fixture.ts";
import { anyLayer, anyProfile } from "./arbitrary.fixture.ts";
import { presets } from "./presets.ts";

const over = (document: unknown): Overlay => ({ layer: decodeLayer(document) });

function composed(profile: object, ...overlays: readonly unknown[]) {
  return compose(decodeProfile(profile), overlays.map(over)).profile;
}

describe("composition", () => {
  test("without overlays keeps the file's order", () => {
    const applications = [{ bundleIdentifier: "b" }, { bundleIdentifier: "a" }];
    const { profile } = compose(decodeProfile(profileV1Alpha1({ spec: { applications } })), []);
    expect(profile.spec.applications.map(({ bundleIdentifier }) => bundleIdentifier)).toEqual(["b", "a"]);
  });

  test("with an overlay of anything sorts the lists", () => {
    const spec = {
      applications: [{ bundleIdentifier: "b" }, { bundleIdentifier: "a" }],
      preferences: [
        { domain: "b", key: "a", value: 1 },
        { domain: "a", key: "z", value: 2 },
        { domain: "a", key: "b", value: 3 },
      ],
    };
    const { spec: result } = composed(profileV1Alpha1({ spec }), layerV1Alpha1({ power: "booted" }));
    expect(result.applications.map(({ bundleIdentifier }) => bundleIdentifier)).toEqual(["a", "b"]);
    expect(result.preferences.map(({ value }) => value)).toEqual([3, 2, 1]);
  });

  test("lets the later of a preset and a layer win", () => {
    const profile = decodeProfile(profileV1Alpha1());
    const layer = over(layerV1Alpha1({ power: "booted" }));
    expect(compose(profile, [{ preset: "shutdown" }, layer]).profile.spec.power).toBe("booted");
    expect(compose(profile, [layer, { preset: "shutdown" }]).profile.spec.power).toBe("shutdown");
  });

  test("keeps name and target of the base, and replaces an entry whole", () => {
    const base = profileV1Alpha1({
      spec: { applications: [{ bundleIdentifier: "a", sourcePath: "/a.app", running: true, launchArguments: ["x"] }] },
    });
    expect(composed(base, layerV1Alpha1({ applications: [{ bundleIdentifier: "a", running: false }] }))).toEqual({
      apiVersion: "awesome-ios-sim/v1alpha1",
      kind: "SimulatorState",
      metadata: { name: "demo" },
      target: { name: "iPhone 17" },
      spec: {
        power: "unchanged",
        eraseBeforeApply: false,
        applications: [{ bundleIdentifier: "a", presence: "present", running: false, launchArguments: [] }],
        preferences: [],
      },
    });
  });

  test("lays the status bar over by field, and takes nothing away by an empty list", () => {
    const base = profileV1Alpha1({
      spec: { statusBar: { time: "1", wifiBars: 1 }, applications: [{ bundleIdentifier: "a" }] },
    });
    const { spec } = composed(base, layerV1Alpha1({ statusBar: { wifiBars: 2 }, applications: [] }));
    expect(spec.statusBar).toEqual({ time: "1", wifiBars: 2 });
    expect(spec.applications).toHaveLength(1);
  });

  test("lays fields over an entry where a layer asks for it", () => {
    const base = profileV1Alpha1({
      spec: { applications: [{ bundleIdentifier: "a", sourcePath: "/a.app", launchArguments: ["x"] }] },
    });
    const running = layerV1({ applications: [{ bundleIdentifier: "a", running: true, merge: "fields" }] });
    expect(composed(base, running).spec.applications).toEqual([
      { bundleIdentifier: "a", sourcePath: "/a.app", presence: "present", running: true, launchArguments: ["x"] },
    ]);
    const absent = layerV1({ applications: [{ bundleIdentifier: "a", presence: "absent", merge: "fields" }] });
    expect(composed(base, absent).spec.applications).toEqual([
      { bundleIdentifier: "a", presence: "absent", launchArguments: ["x"] },
    ]);
  });

  test("takes back what a layer takes back, and then lays over what it says", () => {
    const base = profileV1({
      spec: {
        power: "booted",
        appearance: "dark",
        statusBar: { time: "1", wifiBars: 1 },
        localization: { locale: "de_DE" },
        applications: [{ bundleIdentifier: "a", running: true }, { bundleIdentifier: "b" }],
        preferences: [
          { domain: "a", key: "b::c", value: 1 },
          { domain: "a::b", key: "c", value: 2 },
        ],
        pasteboard: "secret",
        sensitive: ["pasteboard"],
      },
    });
    const back = layerV1({
      applications: [{ bundleIdentifier: "a", merge: "fields" }],
      remove: {
        fields: ["power", "appearance", "pasteboard"],
        statusBar: ["time"],
        localization: ["locale"],
        applications: ["a", "b", "never-there"],
        preferences: [{ domain: "a", key: "b::c" }],
      },
    });
    expect(composed(base, back).spec).toEqual({
      power: "unchanged",
      eraseBeforeApply: false,
      statusBar: { wifiBars: 1 },
      applications: [{ bundleIdentifier: "a", presence: "present", launchArguments: [] }],
      preferences: [{ domain: "a::b", key: "c", value: 2 }],
    });
  });

  test("stays v1alpha1 as long as that has a form for the result", () => {
    expect(composed(profileV1Alpha1(), layerV1({ power: "booted" })).apiVersion).toBe("awesome-ios-sim/v1alpha1");
    expect(composed(profileV1Alpha1(), layerV1({ appearance: "dark" })).apiVersion).toBe("simlock/v1");
    const sensitive = layerV1({ preferences: [{ domain: "a", key: "b", value: 1, sensitive: true }] });
    expect(composed(profileV1Alpha1(), sensitive).apiVersion).toBe("simlock/v1");
    expect(composed(profileV1()).apiVersion).toBe("simlock/v1");
  });

  test("of layers one after another is that of all of them as one", () => {
    fc.assert(
      fc.property(anyProfile(), anyLayer(), anyLayer(), (profile, first, second) => {
        const apart = compose(profile, [{ layer: first }, { layer: second }]).profile;
        expect(compose(profile, [{ layer: composeLayers(first, second) }]).profile).toEqual(apart);
      }),
    );
  });

  test("does not depend on which neighbours are laid together first", () => {
    fc.assert(
      fc.property(anyLayer(), anyLayer(), anyLayer(), (a, b, c) => {
        expect(composeLayers(composeLayers(a, b), c)).toEqual(composeLayers(a, composeLayers(b, c)));
      }),
    );
  });
});

describe("provenance", () => {
  test("names the document that said a value, the last one that was not taken back", () => {
    const base = decodeProfile(
      profileV1({
        spec: {
          power: "booted",
          appearance: "dark",
          statusBar: { time: "1" },
          applications: [{ bundleIdentifier: "a", launchArguments: ["x"] }],
          preferences: [{ domain: "d", key: "k", value: 1 }],
        },
      }),
    );
    const layer = decodeLayer(
      layerV1({
        applications: [{ bundleIdentifier: "a", running: true, merge: "fields" }],
        remove: { fields: ["power"], preferences: [{ domain: "d", key: "other" }] },
      }),
    );
    const { provenance, profile } = compose(base, [{ preset: "clean-status-bar" }, { layer, file: "over.yaml" }]);
    const found = Object.fromEntries(provenance.map(({ path, source }) => [path, source]));
    const said = { kind: "profile", name: "demo" };
    expect(found).toMatchObject({
      "spec.power": { kind: "default" },
      "spec.eraseBeforeApply": said,
      "spec.appearance": said,
      "spec.statusBar.time": { kind: "preset", name: "clean-status-bar" },
      "spec.applications[a].launchArguments": said,
      "spec.applications[a].running": { kind: "layer", name: "over", file: "over.yaml" },
      "spec.preferences[d.k]": said,
    });
    expect(profile.spec.statusBar?.time).toBe("09:41");
  });

  test("has one entry for every value of the composed profile", () => {
    fc.assert(
      fc.property(anyProfile(), anyLayer(), (profile, layer) => {
        const result = compose(profile, [{ layer }]);
        const at = result.provenance.map(({ pointer }) => pointer);
        expect(new Set(at).size).toBe(at.length);
        for (const pointer of at) expect(valueAt(result.profile, pointer)).not.toBeUndefined();
      }),
    );
  });
});

function valueAt(document: unknown, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .reduce<unknown>((value, step) => Object(value)[step.replaceAll("~1", "/").replaceAll("~0", "~")], document);
}

describe("presets", () => {
  test("are listed in their order", () => {
    expect(presets().map(({ name }) => name)).toEqual(["booted", "clean-status-bar", "shutdown"]);
  });

  test("that there are not are refused, naming those that there are", () => {
    const error = refusal(() => compose(decodeProfile(profileV1Alpha1()), [{ preset: "dark" }]));
    expect(error.message).toContain("booted, clean-status-bar, shutdown");
  });
});

describe("a list of overlays", () => {
  test("takes presets and layers", () => {
    const layer = layerV1Alpha1({ power: "booted" });
    expect(decodeOverlays([{ preset: "shutdown" }, { layer }])).toEqual([{ preset: "shutdown" }, over(layer)]);
    expect(decodeOverlays(undefined)).toEqual([]);
  });

  test.each([
    ["neither", [{}], "/0"],
    ["both", [{ preset: "booted", layer: {} }], "/0"],
    ["something else beside", [{ preset: "booted", extra: 1 }], "/0"],
    ["no object", ["booted"], "/0"],
    ["an empty name", [{ preset: "" }], "/0/preset"],
    ["no list", {}, ""],
  ])("with %s is refused", (_what, input, pointer) => {
    const error = refusal(() => decodeOverlays(input));
    expect(pointers(error)).toEqual([pointer]);
    if (pointer === "/0") expect(error.message).toContain("exactly one");
  });

  test("says which layer is not valid", () => {
    expect(refusal(() => decodeOverlays([{ preset: "booted" }, { layer: {} }])).message).toContain(
      "layer of overlay 1",
    );
  });
});
