import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyProfile } from "./arbitrary.fixture.ts";
import { decodeProfile } from "./decode.ts";
import { profileV1, profileV1Alpha1 } from "./documents.fixture.ts";
import { encodeProfile, encodeProfileText } from "./encode.ts";
import { readDocumentText } from "./read-text.ts";

describe("an encoded profile", () => {
  test("has every default written out and leaves out what is unset", () => {
    const profile = decodeProfile(profileV1Alpha1({ spec: { applications: [{ bundleIdentifier: "a" }] } }));
    expect(encodeProfile(profile)).toEqual({
      apiVersion: "awesome-ios-sim/v1alpha1",
      kind: "SimulatorState",
      metadata: { name: "demo" },
      target: { name: "iPhone 17" },
      spec: {
        power: "unchanged",
        eraseBeforeApply: false,
        applications: [{ bundleIdentifier: "a", presence: "present", launchArguments: [] }],
        preferences: [],
      },
    });
  });

  test("is the same profile when it is decoded again", () => {
    fc.assert(
      fc.property(anyProfile(), (profile) => {
        expect(decodeProfile(encodeProfile(profile))).toEqual(profile);
      }),
    );
  });

  test.each(["json", "yaml"] as const)("is the same profile when it went through %s", async (form) => {
    await fc.assert(
      fc.asyncProperty(anyProfile(), async (profile) => {
        const text = await encodeProfileText(profile, form);
        expect(decodeProfile(await readDocumentText(text, "profile"))).toEqual(profile);
      }),
      { numRuns: 40 },
    );
  });

  test("in YAML begins with what it is, and quotes what an older reader would take for something else", async () => {
    const profile = decodeProfile(profileV1({ spec: { pasteboard: "yes", statusBar: { time: "09:41" } } }));
    const text = await encodeProfileText(profile, "yaml");
    expect(text).toMatch(/^apiVersion: simlock\/v1\nkind: SimulatorState\nmetadata:\n {2}name: demo\ntarget:/);
    expect(text).toContain('pasteboard: "yes"');
  });
});
