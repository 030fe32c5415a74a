import fc from "fast-check";
import type { Layer, Profile } from "../types.ts";
import { decodeLayer, decodeProfile } from "./decode.ts";
import { escapePlaceholders } from "./substitute.ts";

/** Random documents, all of them valid. Few names, so that documents meet in their entries. */

const id = fc.constantFrom("com.acme.a", "com.acme.b", "com.acme.c-d");
const domain = fc.constantFrom("com.acme.a", "NSGlobalDomain", "com.acme.c::d");
const key = fc.constantFrom("k", "c::d", "a b", "ключ");
const awkward = fc.oneof(
  fc.constantFrom(
    "",
    "-x",
    "${env:HOME}",
    "$${",
    "$$${x",
    "ünïcode",
    "new\nline",
    "quote\"'",
    ": # -",
    "null",
    "1.0",
    "yes",
    "a\tb",
    " pad ",
  ),
  fc.string({ unit: "grapheme" }).map((value) => value.replaceAll("\0", "")),
);
const text = awkward.map(escapePlaceholders);
const shown = fc.constantFrom("", "9:41", "Ünïcode", "${x}", "$$").map(escapePlaceholders);
const number = fc
  .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .map((value) => (Object.is(value, -0) ? 0 : value));
const scalar = fc.oneof(fc.boolean(), number, text);

/** Each field there or not. */
function some<T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> {
  return fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>;
}
const nonEmpty = <T extends object>(arbitrary: fc.Arbitrary<T>) =>
  arbitrary.filter((value) => Object.keys(value).length > 0);

const statusBar = nonEmpty(
  some({
    time: shown,
    dataNetwork: fc.constantFrom("hide", "3g", "5g-uwb"),
    wifiMode: fc.constantFrom("searching", "active"),
    wifiBars: fc.integer({ min: 0, max: 3 }),
    operatorName: shown,
    batteryState: fc.constantFrom("charged", "discharging"),
    batteryLevel: fc.integer({ min: 0, max: 100 }),
  }),
);

const localization = nonEmpty(
  some({
    languages: fc.array(fc.constantFrom("de-DE", "en", "zh-Hant-TW"), { minLength: 1, maxLength: 2 }),
    locale: fc.constantFrom("de_DE", "ar_EG@calendar=islamic"),
    timeZone: fc.constantFrom("Europe/Berlin", "UTC"),
    use24HourClock: fc.boolean(),
  }),
);

const coordinates = fc.record({
  latitude: fc.integer({ min: -90, max: 90 }),
  longitude: fc.integer({ min: -180, max: 180 }),
});
const location = fc.oneof(
  fc.record({ point: coordinates }),
  fc.record({ clear: fc.constant(true) }),
  fc.record({ points: fc.array(coordinates, { minLength: 2, maxLength: 3 }) }).map((route) => ({ route })),
);

const launchArguments = fc.array(text, { maxLength: 2 });
const applicationV1Alpha1 = fc
  .tuple(
    id,
    some({
      sourcePath: fc.constantFrom("/a.app", "./b c.app"),
      presence: fc.constantFrom("present", "absent"),
      running: fc.boolean(),
      launchArguments,
    }),
  )
  .map(([bundleIdentifier, { sourcePath, ...rest }]) => ({
    bundleIdentifier,
    ...(sourcePath === undefined || rest.presence === "absent" ? {} : { sourcePath }),
    ...rest,
  }));
const applicationV1 = fc
  .tuple(
    applicationV1Alpha1,
    some({
      launchEnvironment: fc.dictionary(fc.constantFrom("A", "B_1"), text),
      install: fc.constantFrom("ifMissing", "ifChanged", "always"),
      sensitive: fc.boolean(),
      merge: fc.constantFrom("fields", "replace"),
    }),
  )
  .map(([base, more]) => ({ ...base, ...more }));

const preference = fc.record({
  domain,
  key,
  value: fc.oneof(fc.constant(null), scalar, fc.array(scalar, { maxLength: 3 })),
});
const preferenceV1 = fc
  .tuple(preference, some({ sensitive: fc.boolean() }))
  .map(([base, more]) => ({ ...base, ...more }));

function unique<T>(entries: fc.Arbitrary<T>, identity: (entry: T) => string): fc.Arbitrary<T[]> {
  return fc.uniqueArray(entries, { selector: identity, maxLength: 4 });
}
const applicationId = ({ bundleIdentifier }: { bundleIdentifier: string }) => bundleIdentifier;
const preferenceId = (entry: { domain: string; key: string }) => JSON.stringify([entry.domain, entry.key]);
const privacyId = (entry: { service: string; bundleIdentifier: string }) =>
  JSON.stringify([entry.service, entry.bundleIdentifier]);

const service = fc.constantFrom("camera", "photos");
const specFields = {
  power: fc.constantFrom("booted", "shutdown", "unchanged"),
  eraseBeforeApply: fc.boolean(),
  applications: unique(applicationV1Alpha1, applicationId),
  preferences: unique(preference, preferenceId),
  statusBar,
};
const specFieldsV1 = {
  ...specFields,
  applications: unique(applicationV1, applicationId),
  preferences: unique(preferenceV1, preferenceId),
  appearance: fc.constantFrom("light", "dark"),
  increaseContrast: fc.boolean(),
  contentSize: fc.constantFrom("small", "accessibility-large"),
  localization,
  privacy: unique(
    fc.record({ service, bundleIdentifier: id, access: fc.constantFrom("granted", "denied", "unset") }),
    privacyId,
  ),
  location,
  pasteboard: text,
  media: fc.array(fc.constantFrom("/a.jpg", "b.png"), { maxLength: 2 }),
  rootCertificates: fc.array(fc.constantFrom("/ca.pem"), { maxLength: 1 }),
  push: fc.array(
    fc.record({
      bundleIdentifier: id,
      payload: fc.record({ aps: fc.record({ alert: text }), more: fc.oneof(scalar, fc.constant(null)) }),
    }),
    { maxLength: 2 },
  ),
  openURL: fc.constantFrom("acme://home?a=b", "https://example.com/%20"),
  sensitive: fc.uniqueArray(fc.constantFrom("pasteboard", "push", "openURL")),
};
const fieldName = fc.constantFrom(...Object.keys(specFieldsV1).filter((field) => field !== "sensitive"));
const remove = nonEmpty(
  some({
    applications: fc.uniqueArray(id),
    preferences: unique(fc.record({ domain, key }), preferenceId),
    privacy: unique(fc.record({ service, bundleIdentifier: id }), privacyId),
    statusBar: fc.uniqueArray(fc.constantFrom("time", "wifiBars", "operatorName")),
    localization: fc.uniqueArray(fc.constantFrom("languages", "locale")),
    fields: fc.uniqueArray(fieldName, { maxLength: 3 }),
  }),
);

const V1ALPHA1 = "awesome-ios-sim/v1alpha1";
const metadata = fc.oneof(
  fc.record({ name: fc.constantFrom("n", "${x}", "ö") }),
  fc.record({ name: fc.constant("n"), description: awkward }),
);
const target = nonEmpty(
  some({
    udid: fc.constantFrom("U1", "00000000-0000"),
    name: fc.constantFrom("iPhone 17", "a$b"),
    runtime: fc.constantFrom("r"),
  }),
);
const targetV1 = fc.oneof(
  target,
  fc.record({ name: fc.constant("x"), deviceType: fc.constant("iPhone 17"), create: fc.boolean() }),
  fc.record({ name: fc.constant("x"), cloneFrom: fc.record({ name: fc.constant("golden") }) }),
);

/** What a person could have written, not yet decoded. */
export function anyProfileDocument(): fc.Arbitrary<Record<string, unknown>> {
  const kind = fc.constant("SimulatorState");
  return fc.oneof(
    fc.record({ apiVersion: fc.constant(V1ALPHA1), kind, metadata, target, spec: some(specFields) }),
    fc.record({ apiVersion: fc.constant("simlock/v1"), kind, metadata, target: targetV1, spec: some(specFieldsV1) }),
  );
}

export function anyLayerDocument(): fc.Arbitrary<Record<string, unknown>> {
  const kind = fc.constant("SimulatorStateLayer");
  return fc.oneof(
    fc.record({ apiVersion: fc.constant(V1ALPHA1), kind, metadata, spec: nonEmpty(some(specFields)) }),
    fc.record({
      apiVersion: fc.constant("simlock/v1"),
      kind,
      metadata,
      spec: nonEmpty(some({ ...specFieldsV1, remove })),
    }),
  );
}

export function anyProfile(): fc.Arbitrary<Profile> {
  return anyProfileDocument().map((document) => decodeProfile(document));
}

export function anyLayer(): fc.Arbitrary<Layer> {
  return anyLayerDocument().map((document) => decodeLayer(document));
}
