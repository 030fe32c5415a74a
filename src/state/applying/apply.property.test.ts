import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { planState } from "../planning/plan.ts";
import { app, profile, UDID } from "../planning/profile.fixture.ts";
import type { DesiredState, Plan, PreferenceValue } from "../types.ts";
import { applyPlan } from "./apply.ts";
import { modelMac } from "./device-model.fixture.ts";
import type { ModelMac } from "./device-model.fixture.ts";
import { resumeApply } from "./resume.ts";

const ids = ["com.acme.a", "com.acme.b", "com.acme.c"] as const;
const scalar = fc.oneof(
  fc.boolean(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ unit: "grapheme-ascii" }),
);
const value: fc.Arbitrary<PreferenceValue> = fc.oneof(fc.constant(null), scalar, fc.array(scalar, { maxLength: 3 }));

const application = (id: string) =>
  fc
    .record({ present: fc.boolean(), running: fc.option(fc.boolean(), { nil: undefined }) })
    .map(({ present, running }) =>
      present
        ? app(id, { sourcePath: `/x/${id}.app`, ...(running === undefined ? {} : { running }) })
        : app(id, { presence: "absent" }),
    );
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });

/** Profiles of a device that ends booted: what a shutdown takes away is not asked for of one that ends shut down. */
const spec: fc.Arbitrary<Partial<DesiredState>> = fc
  .record({
    applications: fc.subarray([...ids]).chain((some) => fc.tuple(...some.map(application))),
    preferences: fc.uniqueArray(
      fc.record({ domain: fc.constantFrom("d", "e"), key: fc.constantFrom("k", "l", "m.n"), value }),
      { selector: ({ domain, key }) => `${domain} ${key}`, maxLength: 4 },
    ),
    appearance: maybe(fc.constantFrom("light" as const, "dark" as const)),
    increaseContrast: maybe(fc.boolean()),
    contentSize: maybe(fc.constantFrom("small" as const, "large" as const)),
    statusBar: maybe(
      fc.constantFrom({ time: "1" }, { wifiBars: 0 }, { batteryState: "charged" as const, batteryLevel: 3 }),
    ),
    localization: maybe(fc.constantFrom({ locale: "de_DE" }, { languages: ["en"], use24HourClock: false })),
    privacy: fc.subarray([...ids]).map((some) =>
      some.map((bundleIdentifier, at) => ({
        service: "photos",
        bundleIdentifier,
        access: (["granted", "denied", "unset"] as const)[at] ?? "unset",
      })),
    ),
    pasteboard: maybe(fc.string()),
    eraseBeforeApply: fc.boolean(),
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, each]) => each !== undefined)));

interface Start {
  readonly on: boolean;
  readonly installed: readonly { readonly id: string; readonly running: boolean }[];
  readonly key: PreferenceValue;
}
const start: fc.Arbitrary<Start> = fc.record({
  on: fc.boolean(),
  installed: fc
    .subarray([...ids])
    .chain((some) => fc.tuple(...some.map((id) => fc.boolean().map((running) => ({ id, running }))))),
  key: value,
});

function macOf({ on, installed, key }: Start): ModelMac {
  return modelMac({
    power: on ? "booted" : "shutdown",
    apps: new Map(installed.map(({ id, running }) => [id, { source: "", running: on && running }])),
    preferences: key === null ? new Map() : new Map([["d", new Map([["k", key]])]]),
  });
}

async function planned(mac: ModelMac, desired: Partial<DesiredState>): Promise<Plan> {
  return planState(profile(desired), await mac.reader.snapshot({ udid: UDID, domains: ["d", "e"] }));
}

test("an applied plan leaves nothing to plan", async () => {
  await fc.assert(
    fc.asyncProperty(start, spec, async (begin, asked) => {
      const mac = macOf(begin);
      const desired = { ...asked, power: "booted" as const };
      const report = await applyPlan(await planned(mac, desired), { confirm: true }, mac);
      expect(report.failure).toBeUndefined();
      expect(
        report.verification?.filter(({ verdict, path }) => verdict !== "satisfied" && path !== "spec.eraseBeforeApply"),
      ).toEqual([]);
      expect(await planned(mac, { ...desired, eraseBeforeApply: false })).toMatchObject({ diff: [], operations: [] });
    }),
    { numRuns: 150 },
  );
});

test("a device keeps the power that it had where none was asked for", async () => {
  await fc.assert(
    fc.asyncProperty(start, spec, async (begin, desired) => {
      const mac = macOf(begin);
      await applyPlan(await planned(mac, desired), { confirm: true, verify: false }, mac);
      expect(mac.device.power).toBe(begin.on ? "booted" : "shutdown");
    }),
    { numRuns: 100 },
  );
});

test("a run that ends at any command, before or after its effect, ends the same once it is resumed", async () => {
  await fc.assert(
    fc.asyncProperty(start, spec, async (begin, asked) => {
      const folder = mkdtempSync(join(tmpdir(), "resume-"));
      try {
        const desired = { ...asked, power: "booted" as const };
        const mac = macOf(begin);
        const moments: { readonly device: ModelMac["device"]; readonly journal: string }[] = [];
        const journal = (): string => readdirSync(folder).find((name) => name.endsWith(".jsonl")) ?? "";
        const note = (): undefined => {
          moments.push({ device: structuredClone(mac.device), journal: readFileSync(join(folder, journal()), "utf8") });
        };
        mac.before = note;
        mac.after = note;
        await applyPlan(await planned(mac, desired), { confirm: true, verify: false, journalFolder: folder }, mac);
        for (const [at, moment] of moments.entries()) {
          const other = modelMac(moment.device);
          const path = join(folder, `moment-${at}.jsonl`);
          writeFileSync(path, moment.journal);
          const report = await resumeApply(path, { confirm: true, verify: false }, other);
          expect(report.failure).toBeUndefined();
          expect(other.device).toEqual(mac.device);
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }),
    { numRuns: 8 },
  );
});
