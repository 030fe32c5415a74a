import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyLayerDocument, anyProfileDocument } from "./arbitrary.fixture.ts";
import { decodeLayer, decodeProfiles } from "./decode.ts";
import { layerV1, layerV1Alpha1, profileV1, profileV1Alpha1, refusal } from "./documents.fixture.ts";
import { jsonSchemaOf, SCHEMAS } from "./json-schemas.ts";

const ajv = new Ajv2020({
  strict: true,
  strictTypes: true,
  strictTuples: true,
  allowUnionTypes: true,
  allErrors: true,
  logger: false,
});
const validators = new Map<string, ValidateFunction>(
  SCHEMAS.map((published) => [published.name, ajv.compile(jsonSchemaOf(published))]),
);

function validatorOf(document: Record<string, unknown>): ValidateFunction {
  const kind = document["kind"] === "SimulatorState" ? "profile" : "layer";
  const found = validators.get(`${String(document["apiVersion"]).replace("/", "-")}-${kind}`);
  if (found === undefined) throw new Error("There is no schema for it.");
  return found;
}

function accepted(document: Record<string, unknown>): boolean {
  try {
    if (document["kind"] === "SimulatorState") decodeProfiles(document);
    else decodeLayer(document);
    return true;
  } catch (thrown) {
    refusal(() => {
      throw thrown;
    });
    return false;
  }
}

/** One change to a document, anywhere in it: a value of another type, a field more, a field less. */
function broken(documents: fc.Arbitrary<Record<string, unknown>>): fc.Arbitrary<Record<string, unknown>> {
  const other = fc.constantFrom<unknown>(
    "",
    "-x",
    "all",
    "a\0b",
    "dark",
    4,
    -1,
    1.5,
    true,
    [],
    {},
    [{}],
    { name: "x" },
    "x".repeat(300),
  );
  return fc
    .tuple(documents, fc.nat(), fc.constantFrom("replace", "add", "delete"), other)
    .map(([document, which, how, value]) => {
      const copy: Record<string, unknown> = structuredClone(document);
      const places: [Record<PropertyKey, unknown>, string][] = [];
      const walk = (node: unknown, kept: boolean): void => {
        if (typeof node !== "object" || node === null) return;
        for (const [key, entry] of Object.entries(node)) {
          // Without these there is no telling which schema is meant.
          // A time zone is one or not by a list, which is none of a schema's.
          if (key === "timeZone") continue;
          // What a profile without a target means is known only where it is used.
          if (key === "target") continue;
          if (!kept) places.push([node as Record<PropertyKey, unknown>, key]);
          else if (key !== "apiVersion" && key !== "kind") places.push([node as Record<PropertyKey, unknown>, key]);
          walk(entry, false);
        }
      };
      walk(copy, true);
      const [parent, key] = places[which % places.length] ?? [copy, "spec"];
      if (how === "replace") parent[key] = value;
      else if (how === "add" && !Array.isArray(parent)) parent["surplus"] = value;
      else if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else delete parent[key];
      return copy;
    });
}

describe("the published schemas", () => {
  test("accept what is accepted", () => {
    fc.assert(
      fc.property(fc.oneof(anyProfileDocument(), anyLayerDocument()), (document) => {
        const validate = validatorOf(document);
        validate(document);
        expect(validate.errors).toBeNull();
      }),
    );
  });

  test("refuse what is refused, and nothing else", () => {
    fc.assert(
      fc.property(broken(fc.oneof(anyProfileDocument(), anyLayerDocument())), (document) => {
        expect([validatorOf(document)(document), document]).toEqual([accepted(document), document]);
      }),
      { numRuns: 400 },
    );
  });

  test("say less than is checked only in these ways", () => {
    const app = { bundleIdentifier: "a" };
    const only = [
      profileV1Alpha1({ spec: { applications: [app, app] } }),
      profileV1({
        spec: {
          preferences: [
            { domain: "a", key: "b", value: 1 },
            { domain: "a", key: "b", value: 2 },
          ],
        },
      }),
      profileV1({ spec: { localization: { timeZone: "Europe/Nowhere" } } }),
      profileV1({ spec: { openURL: "http://[" } }),
      profileV1({ spec: { push: [{ bundleIdentifier: "a", payload: { aps: { alert: "x".repeat(4096) } } }] } }),
      profileV1({ spec: { pasteboard: "${env:TOKEN}" } }),
      profileV1({ spec: { push: [{ bundleIdentifier: "a", file: "x.apns" }] } }),
      profileV1({ extends: "base.yaml" }),
      { ...profileV1Alpha1(), apiVersion: "simlock/v1", target: undefined },
    ];
    for (const given of only) {
      const document = JSON.parse(JSON.stringify(given));
      expect(validatorOf(document)(document)).toBe(true);
      expect(accepted(document)).toBe(false);
    }
    // The one thing that a schema refuses and v1alpha1's readers take: null for what is not set.
    const nulled = profileV1Alpha1({ spec: { power: null } });
    expect([validatorOf(nulled)(nulled), accepted(nulled)]).toEqual([false, true]);
  });

  test.each([
    ["v1alpha1 without a target", { ...profileV1Alpha1(), target: undefined }],
    ["both forms of a target", profileV1({ targets: [{ name: "x" }] })],
    ["something taken back from nothing", profileV1({ spec: { remove: { fields: ["power"] } } })],
    ["creation without a type", profileV1({ target: { name: "x", create: true } })],
    ["a clone with a UDID", profileV1({ target: { name: "x", udid: "U", cloneFrom: { name: "g" } } })],
    [
      "a source for an absent app",
      layerV1Alpha1({ applications: [{ bundleIdentifier: "a", presence: "absent", sourcePath: "/a" }] }),
    ],
    [
      "a route by distance and time",
      layerV1({
        location: {
          route: {
            points: [
              { latitude: 0, longitude: 0 },
              { latitude: 1, longitude: 1 },
            ],
            distanceMeters: 1,
            intervalSeconds: 1,
          },
        },
      }),
    ],
    ["a push of two things", layerV1({ push: [{ bundleIdentifier: "a", file: "x", payload: { aps: {} } }] })],
    ["an empty status bar", layerV1Alpha1({ statusBar: {} })],
    ["a charge of 101", layerV1Alpha1({ statusBar: { batteryLevel: 101 } })],
    ["a layer without an opinion", layerV1Alpha1({})],
    ["a layer with a target", layerV1Alpha1({ power: "booted" }, { target: { name: "x" } })],
  ])("refuse %s, as we do", (_what, given) => {
    const document = JSON.parse(JSON.stringify(given));
    expect([validatorOf(document)(document), accepted(document)]).toEqual([false, false]);
  });

  test("carry the defaults", () => {
    const [profile, layer] = SCHEMAS.map((published) => JSON.stringify(jsonSchemaOf(published)));
    expect(profile).toContain('"default":"unchanged"');
    expect(profile).toContain('"default":"present"');
    expect(layer).not.toContain('"default":"unchanged"');
    expect(layer).toContain('"default":"present"');
  });

  test("of snapshots, plans and reports hold for the least of them", () => {
    const plan = { profileName: "p", targetUDID: "U", generatedAt: "t", diff: [], operations: [], warnings: [] };
    expect(validators.get("plan")?.(plan)).toBe(true);
    expect(validators.get("plan")?.({ ...plan, surplus: 1 })).toBe(false);
    expect(validators.get("report")?.({ plan, status: "dryRun", receipts: [] })).toBe(true);
    const device = { udid: "U", name: "n", state: "Booted", runtimeIdentifier: "r", isAvailable: true, later: 1 };
    const state = {
      power: "booted",
      applications: [],
      preferences: [{ domain: "a", key: "b", value: { $date: "x" } }],
    };
    const snapshot = { apiVersion: "x", generatedAt: "t", device, state, capabilities: {} };
    expect(validators.get("snapshot")?.(snapshot)).toBe(true);
    expect(validators.get("snapshot")?.({ ...snapshot, device: { ...device, state: "Booting" } })).toBe(false);
  });
});
