import { expect, test } from "vitest";
import { decodeProfile, decodeSnapshot } from "./decode.ts";
import { encodeProfile } from "./encode.ts";
import { exportProfile } from "./export.ts";

const snapshot = (state: object, device: object = {}) =>
  decodeSnapshot({
    apiVersion: "awesome-ios-sim/snapshot-v1alpha1",
    generatedAt: "2026-08-18T00:00:00Z",
    device: { udid: "U", name: "iPhone 17", state: "Booted", runtimeIdentifier: "R", isAvailable: true, ...device },
    state: { power: "booted", applications: [], preferences: [], ...state },
    capabilities: {},
  });

test("a snapshot becomes the profile that asks for it", () => {
  const { profile, omitted } = exportProfile(
    snapshot({
      applications: [
        { bundleIdentifier: "com.acme.demo", bundlePath: "/x", running: true, type: "User" },
        { bundleIdentifier: "com.apple.Preferences", running: true, type: "System" },
        { bundleIdentifier: "com.apple.Maps" },
        { bundleIdentifier: "org.other", running: false },
      ],
      preferences: [
        { domain: "com.acme.demo", key: "seen", value: true },
        { domain: "com.acme.demo", key: "blob", value: { $data: "aGk=" } },
        { domain: "com.acme.demo", key: "-x", value: 1 },
      ],
      statusBar: { time: "09:41", wifiBars: 0 },
      statusBarUncertain: ["wifiBars"],
      appearance: "dark",
      contentSize: "huge",
      localization: { locale: "de_DE" },
      privacy: [
        { service: "camera", bundleIdentifier: "com.acme.demo", access: "granted" },
        { service: "photos", bundleIdentifier: "com.acme.demo", access: "limited" },
      ],
      pasteboard: "copied",
    }),
    { name: "as found" },
  );
  expect(profile).toEqual({
    apiVersion: "simlock/v1",
    kind: "SimulatorState",
    metadata: { name: "as found" },
    target: { udid: "U" },
    spec: {
      power: "booted",
      eraseBeforeApply: false,
      applications: [
        { bundleIdentifier: "com.acme.demo", presence: "present", running: true, launchArguments: [] },
        { bundleIdentifier: "org.other", presence: "present", launchArguments: [] },
      ],
      preferences: [{ domain: "com.acme.demo", key: "seen", value: true }],
      statusBar: { time: "09:41" },
      appearance: "dark",
      localization: { locale: "de_DE" },
      privacy: [{ service: "camera", bundleIdentifier: "com.acme.demo", access: "granted" }],
      pasteboard: "copied",
      sensitive: ["pasteboard"],
    },
  });
  expect(omitted.map(({ path }) => path)).toEqual([
    "spec.applications[com.acme.demo].sourcePath",
    "spec.applications[org.other].sourcePath",
    "spec.preferences[com.acme.demo.blob]",
    "spec.preferences[com.acme.demo.-x]",
    "spec.statusBar.wifiBars",
    "spec.contentSize",
    "spec.privacy[photos.com.acme.demo]",
  ]);
  expect(decodeProfile(encodeProfile(profile))).toEqual(profile);
});

test("stays v1alpha1 where that is enough", () => {
  const { profile } = exportProfile(snapshot({ statusBar: {}, localization: {} }));
  expect(profile).toMatchObject({ apiVersion: "awesome-ios-sim/v1alpha1", metadata: { name: "iPhone 17" } });
  expect(decodeProfile(encodeProfile(profile))).toEqual(profile);
});
