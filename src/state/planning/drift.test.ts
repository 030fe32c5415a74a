import { expect, test } from "vitest";
import type { DesiredState } from "../types.ts";
import { isDrift, isOpen } from "./drift.ts";
import { diffOf, planState, verifyState } from "./plan.ts";
import { app, booted, profile } from "./profile.fixture.ts";

const untold: Partial<DesiredState> = {
  location: { point: { latitude: 1, longitude: 2 } },
  rootCertificates: ["/certs/root.pem"],
  media: ["/media/cat.png"],
  push: [{ bundleIdentifier: "com.acme.demo", payload: { aps: {} } }],
  openURL: "acme://home",
};

test("what no device ever tells is in the diff, and is no drift", () => {
  const { diff, operations } = planState(profile(untold), booted());
  expect(diff.map(({ kind }) => kind)).toEqual(["unknown", "unknown", "unknown", "unknown", "unknown"]);
  expect(operations).toHaveLength(5);
  expect(diff.filter(isDrift)).toEqual([]);
  expect(diffOf(planState(profile(untold), booted())).hasChanges).toBe(false);
  expect(verifyState(profile(untold), booted()).filter(isOpen)).toEqual([]);
});

test("what could be told and was not is drift", () => {
  const asked = profile({
    appearance: "dark",
    preferences: [{ domain: "a.b", key: "c", value: 1 }],
    statusBar: { time: "9" },
  });
  const paths = ["spec.appearance", "spec.preferences[a.b.c]", "spec.statusBar"];
  const device = booted();
  expect(
    planState(asked, device)
      .diff.filter(isDrift)
      .map(({ path }) => path),
  ).toEqual(paths);
  expect(
    verifyState(asked, device)
      .filter(isOpen)
      .map(({ path }) => path),
  ).toEqual(paths);
});

test("what the device can't do at all is drift, whatever it is", () => {
  const device = booted({ capabilities: { location: { writable: false, support: "unsupported", note: "no" } } });
  expect(planState(profile(untold), device).diff.filter(isDrift)).toMatchObject([
    { path: "spec.location", kind: "unsupported" },
  ]);
  expect(verifyState(profile(untold), device).filter(isOpen)).toMatchObject([
    { path: "spec.location", verdict: "unsupported" },
  ]);
});

test("an app that is installed at each apply is as it should be when it is there", () => {
  const asked = profile({ applications: [app("a.b", { sourcePath: "/build/A.app", install: "always" })] });
  const there = booted({ state: { applications: [{ bundleIdentifier: "a.b" }] } });
  expect(verifyState(asked, there)).toEqual([{ path: "spec.applications[a.b]", verdict: "satisfied" }]);
  expect(planState(asked, there).operations).toHaveLength(1);
  expect(verifyState(asked, booted())).toMatchObject([{ verdict: "different" }]);
});
