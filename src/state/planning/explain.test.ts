import { expect, test } from "vitest";
import { explainPlan } from "./explain.ts";
import { planState } from "./plan.ts";
import { app, booted, profile, UDID } from "./profile.fixture.ts";

const plan = planState(
  profile({
    applications: [app("a.b", { presence: "absent" }), app("c.d")],
    preferences: [{ domain: "d", key: "k", value: "secret|value", sensitive: true }],
    appearance: "dark",
  }),
  booted({ state: { applications: [{ bundleIdentifier: "a.b" }], appearance: "light" } }),
);

test("a plan as text: risk and warnings first, aligned, secrets masked", () => {
  expect(explainPlan(plan)).toBe(
    `example: 3 operations on ${UDID}, destructive
  warning: Cannot install c.d: sourcePath is missing.

  ~ spec.appearance         light → dark
  - spec.applications[a.b]  present → absent
  + spec.applications[c.d]  absent → present
  + spec.preferences[d.k]   → [redacted] (What the device has could not be read.)

  001-uninstallApplication  DESTRUCTIVE  Remove a.b and its data.
  002-setPreference                      Set the preference k of d.
  003-setAppearance                      Make the appearance dark.
`,
  );
});

test("a plan as Markdown is a table that no value breaks", () => {
  const text = explainPlan(plan, "markdown");
  expect(text).toContain("### example: 3 operations");
  expect(text).toContain("| `001-uninstallApplication` | **destructive** | Remove a.b and its data. |");
  const hostile = planState(profile({ preferences: [{ domain: "d", key: "k", value: "a|b\n# c <img>" }] }), booted());
  expect(explainPlan(hostile, "markdown")).toContain("→ a\\|b # c \\<img\\>");
});

test("a plan without operations says so", () => {
  expect(explainPlan(planState(profile(), booted()))).toBe(`example: nothing to do on ${UDID}\n`);
});
