import { z } from "zod";
import {
  Application,
  ApplicationV1,
  CloneFrom,
  ContentSize,
  EraseBeforeApply,
  Localization,
  Location,
  Media,
  Metadata,
  OpenURL,
  Power,
  Preference,
  PreferenceV1,
  PrivacyAccess,
  Push,
  Removal,
  RootCertificates,
  SensitiveField,
  StatusBar,
} from "./fields.ts";
import type { LayerSpec } from "../types.ts";
import { having, type Rule, ruled, type ShapeOf, someField, when } from "./rule.ts";
import { argument, path, text, udid } from "./text-rules.ts";

/** The schemas of profiles and layers: `awesome-ios-sim/v1alpha1` exactly, `simlock/v1` as a superset of it. */

export const V1ALPHA1 = "awesome-ios-sim/v1alpha1";
export const V1 = "simlock/v1";

const specFields = {
  power: Power.exactOptional(),
  eraseBeforeApply: EraseBeforeApply.exactOptional(),
  applications: z.array(Application).exactOptional(),
  preferences: z.array(Preference).exactOptional(),
  statusBar: StatusBar.exactOptional(),
};

const specFieldsV1 = {
  ...specFields,
  applications: z.array(ApplicationV1).exactOptional(),
  preferences: z.array(PreferenceV1).exactOptional(),
  appearance: z.enum(["light", "dark"]).exactOptional(),
  increaseContrast: z.boolean().exactOptional(),
  contentSize: ContentSize.exactOptional().describe("The size of text that the user prefers."),
  localization: Localization.exactOptional(),
  privacy: z.array(PrivacyAccess).exactOptional().describe("What apps may reach. Unique by service and app."),
  location: Location.exactOptional(),
  pasteboard: text().exactOptional().describe("The text on the pasteboard."),
  media: Media.exactOptional(),
  rootCertificates: RootCertificates.exactOptional(),
  push: z.array(Push).exactOptional().describe("Notifications that are sent once the apps are in place."),
  openURL: OpenURL.exactOptional(),
  sensitive: z
    .array(SensitiveField)
    .exactOptional()
    .describe("Which of these hold a secret: they are masked wherever they are shown."),
  remove: Removal.exactOptional(),
} satisfies ShapeOf<LayerSpec>;

/** What a profile has for a field that it leaves out. */
const profileDefaults = {
  power: specFields.power.meta({ default: "unchanged" }),
  eraseBeforeApply: specFields.eraseBeforeApply.meta({ default: false }),
};
const listDefault = { default: [] };

const targetFields = {
  udid: udid().exactOptional().describe("The device's exact UDID."),
  name: argument().exactOptional().describe("The device's exact name."),
  runtime: argument()
    .exactOptional()
    .describe("The runtime's identifier: `com.apple.CoreSimulator.SimRuntime.iOS-26-1`."),
};

export const Target = ruled(z.strictObject(targetFields), [someField("target")]);

interface TargetChoice {
  readonly udid?: string;
  readonly name?: string;
  readonly runtime?: string;
  readonly deviceType?: string;
  readonly create?: boolean;
  readonly cloneFrom?: object;
}

const selects: Rule<TargetChoice> = {
  says: { anyOf: ["udid", "name", "runtime", "deviceType"].map((field) => having(field)) },
  check: ({ udid: id, name, runtime, deviceType }) =>
    (id ?? name ?? runtime ?? deviceType) === undefined
      ? { message: "must have at least one of udid, name, runtime and deviceType" }
      : undefined,
};

const creatable: Rule<TargetChoice> = {
  says: when(
    { properties: { create: { const: true } }, required: ["create"] },
    { ...having("name", "deviceType"), not: { anyOf: [having("udid"), having("cloneFrom")] } },
  ),
  check: ({ create, name, deviceType, udid: id, cloneFrom }) => {
    if (create !== true) return undefined;
    if (name === undefined || deviceType === undefined)
      return { field: "create", message: "a device that is created needs name and deviceType" };
    if (id !== undefined)
      return { field: "create", message: "a device that is created gets a UDID, it can't be given one" };
    return cloneFrom === undefined ? undefined : { field: "create", message: "either create or cloneFrom, not both" };
  },
};

const clonable: Rule<TargetChoice> = {
  says: when(having("cloneFrom"), { ...having("name"), not: having("udid") }),
  check: ({ cloneFrom, name, udid: id }) => {
    if (cloneFrom === undefined) return undefined;
    if (name === undefined) return { field: "cloneFrom", message: "a device that is cloned needs a name" };
    return id === undefined
      ? undefined
      : { field: "cloneFrom", message: "a device that is cloned gets a UDID, it can't be given one" };
  },
};

export const TargetV1 = ruled(
  z.strictObject({
    ...targetFields,
    runtime: argument()
      .exactOptional()
      .describe("A runtime's identifier, name or version (`iOS 26.1`, `26.1`), or `latest`."),
    deviceType: argument().exactOptional().describe("A device type's name or identifier."),
    create: z.boolean().exactOptional().describe("Makes the device when none fits."),
    cloneFrom: CloneFrom.exactOptional().describe("Makes it as a copy of this device when none fits."),
  }),
  [selects, creatable, clonable],
);

export const ProfileV1Alpha1 = z.strictObject({
  apiVersion: z.literal(V1ALPHA1),
  kind: z.literal("SimulatorState"),
  metadata: Metadata,
  target: Target.describe("Which device. Every field that is given must hold."),
  spec: z.strictObject({
    ...specFields,
    ...profileDefaults,
    applications: specFields.applications.meta(listDefault).describe("Unique by bundleIdentifier."),
    preferences: specFields.preferences.meta(listDefault).describe("Unique by domain and key."),
  }),
});

export const LayerV1Alpha1 = z.strictObject({
  apiVersion: z.literal(V1ALPHA1),
  kind: z.literal("SimulatorStateLayer"),
  metadata: Metadata,
  spec: ruled(
    z.strictObject({
      ...specFields,
      applications: specFields.applications.describe("Laid over by bundleIdentifier; an entry is replaced whole."),
      preferences: specFields.preferences.describe("Laid over by domain and key."),
    }),
    [someField("spec")],
  ),
});

const SchemaHint = text().exactOptional().describe("For editors; nothing reads it.");

interface ProfileChoice {
  readonly target?: object;
  readonly targets?: readonly object[];
  readonly extends?: unknown;
  readonly spec: { readonly remove?: object };
}

const oneTargetForm: Rule<ProfileChoice> = {
  says: { not: having("target", "targets") },
  check: ({ target, targets }) =>
    target !== undefined && targets !== undefined
      ? { field: "targets", message: "either target or targets, not both" }
      : undefined,
};

const removesWhatItExtends: Rule<ProfileChoice> = {
  says: when({ properties: { spec: having("remove") }, required: ["spec"] }, having("extends")),
  check: (profile) =>
    profile.spec.remove !== undefined && profile.extends === undefined
      ? { field: "extends", message: "required: there is nothing that spec.remove could take back" }
      : undefined,
};

export const ProfileV1 = ruled(
  z.strictObject({
    $schema: SchemaHint,
    apiVersion: z.literal(V1),
    kind: z.literal("SimulatorState"),
    metadata: Metadata,
    extends: z
      .union([path(), z.array(path()).min(1).max(8)], {
        error: "must be the path of a profile or layer, or a list of one to eight of them",
      })
      .exactOptional()
      .describe(
        "Profiles or layers that this one is laid over, first to last. Paths are relative to this file. The last target that is given holds.",
      ),
    target: TargetV1.exactOptional().describe(
      "Which device. Every field that is given must hold. Where neither this nor targets is given, here or in what is extended: the simulator that you have leased.",
    ),
    targets: z
      .array(TargetV1)
      .min(1)
      .max(64)
      .exactOptional()
      .describe("Several devices, each brought into this state."),
    spec: z.strictObject({
      ...specFieldsV1,
      ...profileDefaults,
      applications: specFieldsV1.applications.meta(listDefault).describe("Unique by bundleIdentifier."),
      preferences: specFieldsV1.preferences.meta(listDefault).describe("Unique by domain and key."),
    }),
  }),
  [oneTargetForm, removesWhatItExtends],
);

export const LayerV1 = z.strictObject({
  $schema: SchemaHint,
  apiVersion: z.literal(V1),
  kind: z.literal("SimulatorStateLayer"),
  metadata: Metadata,
  spec: ruled(
    z.strictObject({
      ...specFieldsV1,
      applications: specFieldsV1.applications.describe(
        "Laid over by bundleIdentifier; an entry is replaced whole, unless it says `merge: fields`.",
      ),
      preferences: specFieldsV1.preferences.describe("Laid over by domain and key."),
    }),
    [someField("spec")],
  ),
});

export type ParsedProfile = z.output<typeof ProfileV1Alpha1> | z.output<typeof ProfileV1>;
export type ParsedLayer = z.output<typeof LayerV1Alpha1> | z.output<typeof LayerV1>;
export type ParsedSpec = z.output<typeof ProfileV1>["spec"];
export type ParsedTarget = z.output<typeof TargetV1>;
