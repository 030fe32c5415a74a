import { z } from "zod";
import { having, ruled, someField, when } from "./rule.ts";
import {
  argument,
  bundleIdentifier,
  environmentName,
  optionValue,
  path,
  preferenceDomain,
  preferenceKey,
  text,
  udid,
} from "./text-rules.ts";

/** The fields of a state, one schema each. Defaults are annotations here: what is left out stays left out until a profile is filled in. */

export const Metadata = z.strictObject({
  name: text().min(1).describe("Names the document in plans and reports."),
  description: text().exactOptional().describe("For people."),
});

export const Power = z
  .enum(["booted", "shutdown", "unchanged"])
  .describe("How the device is left. `unchanged`: as it was found.");

export const EraseBeforeApply = z
  .boolean()
  .describe("Erases all content and settings of the device before anything else. Destructive.");

const statusBarFields = {
  time: optionValue().exactOptional().describe("Any text; an ISO 8601 date also sets the date."),
  dataNetwork: z
    .enum(["hide", "wifi", "3g", "4g", "lte", "lte-a", "lte+", "5g", "5g+", "5g-uwb", "5g-uc"])
    .exactOptional(),
  wifiMode: z.enum(["searching", "failed", "active"]).exactOptional(),
  wifiBars: z.int().min(0).max(3).exactOptional(),
  cellularMode: z.enum(["notSupported", "searching", "failed", "active"]).exactOptional(),
  cellularBars: z.int().min(0).max(4).exactOptional(),
  operatorName: optionValue().exactOptional(),
  batteryState: z.enum(["charging", "charged", "discharging"]).exactOptional(),
  batteryLevel: z.int().min(0).max(100).exactOptional(),
};

export const StatusBarKey = z.enum([
  "time",
  "dataNetwork",
  "wifiMode",
  "wifiBars",
  "cellularMode",
  "cellularBars",
  "operatorName",
  "batteryState",
  "batteryLevel",
]);

export const StatusBar = ruled(
  z
    .strictObject(statusBarFields)
    .describe("What the status bar shows instead of the truth. Lost when the device shuts down."),
  [someField("statusBar")],
);

/** As read back: unknown overrides are passed over, and none may be set. */
export const ObservedStatusBar = z.object(statusBarFields);

export const PreferenceValue = z
  .union([z.null(), z.boolean(), z.number(), text(), z.array(z.union([z.boolean(), z.number(), text()]))], {
    error: "must be null, true or false, a number, a text, or a flat list of these without null",
  })
  .describe("null deletes the key.");

const preferenceFields = {
  domain: preferenceDomain().describe("As `defaults` takes it: an app's bundle identifier, or `NSGlobalDomain`."),
  key: preferenceKey(),
  value: PreferenceValue,
};

export const Preference = z.strictObject(preferenceFields);
export const PreferenceV1 = z.strictObject({
  ...preferenceFields,
  sensitive: z.boolean().exactOptional().describe("Masks the value wherever it is shown."),
});

const applicationFields = {
  bundleIdentifier: bundleIdentifier(),
  sourcePath: path().describe("The `.app` on this host.").exactOptional(),
  presence: z.enum(["present", "absent"]).exactOptional().meta({ default: "present" }),
  running: z.boolean().exactOptional().describe("Left out: no opinion."),
  launchArguments: z
    .array(text())
    .exactOptional()
    .meta({ default: [] })
    .describe("Passed to the app when it is launched."),
};

const absentHasNoSource = {
  says: when(
    { properties: { presence: { const: "absent" } }, required: ["presence"] },
    { properties: { sourcePath: false } },
  ),
  check: ({ presence, sourcePath }: { presence?: string; sourcePath?: string }) =>
    presence === "absent" && sourcePath !== undefined
      ? { field: "sourcePath", message: "an application that is to be absent has no source" }
      : undefined,
};

export const Application = ruled(z.strictObject(applicationFields), [absentHasNoSource]);

export const ApplicationV1 = ruled(
  z.strictObject({
    ...applicationFields,
    launchEnvironment: z
      .record(environmentName(), text())
      .exactOptional()
      .describe("The app's environment variables when it is launched."),
    install: z
      .enum(["ifMissing", "ifChanged", "always"])
      .exactOptional()
      .describe(
        "When an app that is already there is installed anew. `ifChanged`, which is how it is when left out, compares version and build.",
      ),
    sensitive: z.boolean().exactOptional().describe("Masks launch arguments and environment wherever they are shown."),
    merge: z
      .enum(["replace", "fields"])
      .exactOptional()
      .describe(
        "In a layer, or a profile that extends another: `fields` lays only the given fields over the entry that is there.",
      ),
  }),
  [absentHasNoSource],
);

export const ContentSize = z.enum([
  "extra-small",
  "small",
  "medium",
  "large",
  "extra-large",
  "extra-extra-large",
  "extra-extra-extra-large",
  "accessibility-medium",
  "accessibility-large",
  "accessibility-extra-large",
  "accessibility-extra-extra-large",
  "accessibility-extra-extra-extra-large",
]);

export const LocalizationKey = z.enum(["languages", "locale", "timeZone", "use24HourClock"]);

const localizationFields = {
  languages: z
    .array(z.string().regex(/^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/, "must be a language tag such as `de-DE`"))
    .min(1)
    .exactOptional()
    .describe("In the order of preference: `de-DE`."),
  locale: z
    .string()
    .regex(/^[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*(?:@[A-Za-z0-9=;-]+)?$/, "must be a locale such as `de_DE`")
    .exactOptional()
    .describe("`de_DE`."),
  timeZone: z
    .string()
    .regex(
      /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/,
      "must be the IANA name of a time zone such as `Europe/Berlin`",
    )
    .exactOptional()
    .describe("An IANA name: `Europe/Berlin`."),
  use24HourClock: z.boolean().exactOptional(),
};

export const Localization = ruled(z.strictObject(localizationFields), [someField("localization")]);
export const ObservedLocalization = z.object({
  languages: z.array(z.string()).exactOptional(),
  locale: z.string().exactOptional(),
  timeZone: z.string().exactOptional(),
  use24HourClock: z.boolean().exactOptional(),
});

export const PrivacyService = z.enum([
  "calendar",
  "camera",
  "contacts",
  "contacts-limited",
  "location",
  "location-always",
  "media-library",
  "microphone",
  "motion",
  "photos",
  "photos-add",
  "reminders",
  "siri",
]);

export const PrivacyAccess = z.strictObject({
  service: PrivacyService,
  bundleIdentifier: bundleIdentifier(),
  access: z.enum(["granted", "denied", "unset"]).describe("`unset`: the app asks again."),
});

const Coordinates = z.strictObject({
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
});

const Route = ruled(
  z.strictObject({
    points: z.array(Coordinates).min(2),
    speedMetersPerSecond: z.number().positive().exactOptional(),
    distanceMeters: z.number().positive().exactOptional().describe("The distance between two updates."),
    intervalSeconds: z.number().positive().exactOptional().describe("The time between two updates."),
  }),
  [
    {
      says: { not: having("distanceMeters", "intervalSeconds") },
      check: ({ distanceMeters, intervalSeconds }) =>
        distanceMeters !== undefined && intervalSeconds !== undefined
          ? {
              field: "intervalSeconds",
              message: "a route is updated by distanceMeters or by intervalSeconds, not by both",
            }
          : undefined,
    },
  ],
);

export const Location = ruled(
  z.strictObject({
    point: Coordinates.exactOptional().describe("Stands here."),
    route: Route.exactOptional().describe("Moves along these points."),
    clear: z.literal(true).exactOptional().describe("No simulated location."),
  }),
  [
    {
      says: { minProperties: 1, maxProperties: 1 },
      check: (value) =>
        Object.keys(value).length === 1 ? undefined : { message: "must have exactly one of point, route and clear" },
    },
  ],
);

const PushPayload = z
  .looseObject({ aps: z.looseObject({}) })
  .describe("An object with `aps`, at most 4096 bytes as JSON.");

export const Push = ruled(
  z.strictObject({
    bundleIdentifier: bundleIdentifier(),
    payload: PushPayload.exactOptional(),
    file: path().describe("A JSON file on this host with the payload.").exactOptional(),
  }),
  [
    {
      says: { oneOf: [having("payload"), having("file")] },
      check: ({ payload, file }) =>
        (payload === undefined) === (file === undefined)
          ? { message: "must have exactly one of payload and file" }
          : undefined,
    },
  ],
);
export { PushPayload };

export const Media = z.array(path().describe("A file on this host.")).describe("Added to the photo library.");
export const RootCertificates = z
  .array(path().describe("A certificate file on this host."))
  .describe("Certificates that the device trusts as roots.");

export const OpenURL = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9+.-]*:[^\u0000\s]+$/, "must be a URL with its scheme, without blanks")
  .describe("Opened last, once everything else is in place.");

export const SensitiveField = z.enum(["pasteboard", "push", "openURL"]);

export const StateField = z.enum([
  "power",
  "eraseBeforeApply",
  "applications",
  "preferences",
  "statusBar",
  "appearance",
  "increaseContrast",
  "contentSize",
  "localization",
  "privacy",
  "location",
  "pasteboard",
  "media",
  "rootCertificates",
  "push",
  "openURL",
]);

export const Removal = ruled(
  z
    .strictObject({
      applications: z.array(bundleIdentifier()).exactOptional().describe("Bundle identifiers."),
      preferences: z.array(z.strictObject({ domain: preferenceDomain(), key: preferenceKey() })).exactOptional(),
      privacy: z
        .array(z.strictObject({ service: PrivacyService, bundleIdentifier: bundleIdentifier() }))
        .exactOptional(),
      statusBar: z.array(StatusBarKey).exactOptional(),
      localization: z.array(LocalizationKey).exactOptional(),
      fields: z.array(StateField).exactOptional().describe("Whole fields: what was said of them is forgotten."),
    })
    .describe("What is taken back of the documents before this one, before its own values are laid over."),
  [someField("remove")],
);

export const CloneFrom = ruled(z.strictObject({ udid: udid().exactOptional(), name: argument().exactOptional() }), [
  someField("cloneFrom"),
]);
