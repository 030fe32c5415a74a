import { z } from "zod";
import type { JsonValue, OperationAction, Risk } from "../types.ts";
import { ContentSize, PrivacyService, StatusBar } from "../documents/fields.ts";
import { badArguments } from "./bad-arguments.ts";
import { sameJson } from "./canonical.ts";
import type { Command } from "./command.ts";
import { LIMITS } from "./limits.ts";
import { localizationCommands, localizationFact, LocalizationShape, undoLocalization } from "./localization.ts";
import { preferenceCommand } from "./preference-command.ts";
import type { Seen } from "./seen.ts";
import * as is from "./shapes.ts";
import { overrideOptions, sameStatusBar } from "./status-bar.ts";

export type Arguments = { readonly [name: string]: JsonValue };

/** What is true of an operation whatever its arguments. */
interface Trait {
  readonly risk: Risk;
  /** The device's power while it is carried out. `none`: before there is a device. */
  readonly needs: "booted" | "shutdown" | "none";
  /** Gone when the device shuts down. */
  readonly lasts?: false;
  /** Happens again each time; nothing of it can be read back. */
  readonly event?: true;
}

interface Kind<A> extends Trait {
  commands(udid: string, given: A): readonly Command[];
  /** The field of the profile that it is for. */
  path?(given: A): string;
  /** What the device has in that field, in the diff's words; null for nothing, undefined for unknown. */
  fact?(seen: Seen, given: A): JsonValue | undefined;
  /** What the field is to have, in the same words. */
  wanted?(given: A): JsonValue;
  holds?(fact: JsonValue, given: A): boolean;
  /** The commands that bring `before` back; undefined where they can't. */
  undo?(udid: string, before: JsonValue | undefined, given: A): readonly Command[] | undefined;
}

/** An operation with its arguments checked, ready to be asked. */
export interface Act extends Trait {
  readonly action: OperationAction;
  readonly arguments: Arguments;
  readonly path: string | undefined;
  readonly wanted: JsonValue | undefined;
  commands(udid: string): readonly Command[];
  fact(seen: Seen): JsonValue | undefined;
  holds(fact: JsonValue): boolean;
  undo(udid: string, before: JsonValue | undefined): readonly Command[] | undefined;
}

type Row = (action: OperationAction, given: unknown) => Act;

function row<S extends z.ZodType>(shape: S, kind: Kind<z.infer<S>>): Row {
  return (action, raw) => {
    const parsed = shape.safeParse(raw);
    if (!parsed.success) throw badArguments(action, parsed.error);
    const given = parsed.data;
    const wanted = kind.wanted?.(given);
    return {
      action,
      arguments: raw as Arguments,
      risk: kind.risk,
      needs: kind.needs,
      ...(kind.lasts === undefined ? {} : { lasts: kind.lasts }),
      ...(kind.event === undefined ? {} : { event: kind.event }),
      path: kind.path?.(given),
      wanted,
      commands: (udid) => kind.commands(udid, given),
      fact: (seen) => kind.fact?.(seen, given),
      holds: (fact) => kind.holds?.(fact, given) ?? (wanted !== undefined && sameJson(fact, wanted)),
      undo: (udid, before) => kind.undo?.(udid, before, given),
    };
  };
}

/** The other arguments are masked wherever the operation is shown. */
const sensitive = z.literal(true).optional();
const none = z.strictObject({});
const app = z.strictObject({ bundleIdentifier: is.BundleIdentifier });
const simctl = (...args: readonly string[]): Command => ({ args, timeoutMs: LIMITS.short });

const bootCommands = (udid: string): readonly Command[] => [
  {
    args: ["boot", udid],
    timeoutMs: LIMITS.boot,
    alreadySo: { text: /current state: Boot(ed|ing)/, note: "It was booted already." },
  },
  // `boot` returns before the device can be used; this waits for that, and boots a device that is still shutting down.
  { args: ["bootstatus", udid, "-b"], timeoutMs: LIMITS.bootstatus },
];
const shutdownCommands = (udid: string): readonly Command[] => [
  {
    args: ["shutdown", udid],
    timeoutMs: LIMITS.shutdown,
    alreadySo: { text: /current state: Shut(down|ting Down)/, note: "It was shut down already." },
  },
];
const uninstall = (udid: string, id: string): Command => ({
  args: ["uninstall", udid, id],
  timeoutMs: LIMITS.install,
});
const terminate = (udid: string, id: string): Command => ({
  ...simctl("terminate", udid, id),
  alreadySo: { text: /found nothing to terminate/, note: "It did not run." },
});
const overrideBar = (udid: string, bar: z.infer<typeof StatusBar>): readonly Command[] => [
  // Overrides add up, and what a profile does not name must not stay.
  simctl("status_bar", udid, "clear"),
  simctl("status_bar", udid, "override", ...overrideOptions(bar)),
];
const ui = (udid: string, option: string, value: string): readonly Command[] => [simctl("ui", udid, option, value)];
const PRIVACY_VERBS = { granted: "grant", denied: "revoke", unset: "reset" } as const;
type Access = keyof typeof PRIVACY_VERBS;
const setPrivacy = (udid: string, access: Access, service: string, id: string): readonly Command[] => [
  simctl("privacy", udid, PRIVACY_VERBS[access], service, id),
];
const copyText = (udid: string, text: string): readonly Command[] => [{ ...simctl("pbcopy", udid), stdin: text }];

interface Version {
  readonly version?: string;
  readonly build?: string;
}

function versionOf(given: { readonly [K in keyof Version]: string | undefined }): (Version & Arguments) | undefined {
  const known = Object.entries({ version: given.version, build: given.build }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

/** By what is known on both sides: a device may tell the build and not the version. */
function holdsVersion(fact: JsonValue, wanted: Arguments | undefined): boolean {
  if (wanted === undefined || typeof fact !== "object" || fact === null) return fact === "present";
  return Object.entries(fact).every(([part, value]: [string, JsonValue]) => wanted[part] === value);
}

/**
 * Everything that can be done to a device, and the only place where a command line is made. The planner makes plans of it, and what carries them out
 * derives command and risk from it anew: what a plan's file says of them counts for nothing.
 */
const TABLE: Readonly<Record<OperationAction, Row>> = {
  createDevice: row(
    z.union([
      z.strictObject({ name: is.DeviceName, deviceType: is.Identifier, runtime: is.Identifier }),
      z.strictObject({ name: is.DeviceName, cloneFrom: is.UDID }),
    ]),
    {
      risk: "reversible",
      needs: "none",
      path: () => "target",
      commands: (_udid, given) => [
        "cloneFrom" in given
          ? { args: ["clone", given.cloneFrom, given.name], timeoutMs: LIMITS.clone }
          : { args: ["create", given.name, given.deviceType, given.runtime], timeoutMs: LIMITS.create },
      ],
      undo: (udid) => [{ args: ["delete", udid], timeoutMs: LIMITS.erase }],
    },
  ),
  erase: row(none, {
    risk: "destructive",
    needs: "shutdown",
    path: () => "spec.eraseBeforeApply",
    commands: (udid) => [{ args: ["erase", udid], timeoutMs: LIMITS.erase }],
  }),
  boot: row(none, {
    risk: "reversible",
    needs: "shutdown",
    path: () => "spec.power",
    wanted: () => "booted",
    fact: (seen) => seen.state.power,
    commands: bootCommands,
    undo: (udid, before) => (before === "shutdown" ? shutdownCommands(udid) : undefined),
  }),
  shutdown: row(none, {
    risk: "reversible",
    needs: "booted",
    path: () => "spec.power",
    wanted: () => "shutdown",
    fact: (seen) => seen.state.power,
    commands: shutdownCommands,
    undo: (udid, before) => (before === "booted" ? bootCommands(udid) : undefined),
  }),
  installApplication: row(
    app.extend({
      sourcePath: is.HostPath,
      /** Of the bundle at the source: an installed app of another version or build is replaced. */
      version: z.string().max(255).optional(),
      build: z.string().max(255).optional(),
      /** Replaces what is installed, whatever its version. */
      always: z.literal(true).optional(),
    }),
    {
      risk: "reversible",
      needs: "booted",
      path: ({ bundleIdentifier }) => `spec.applications[${bundleIdentifier}]`,
      wanted: (given) => versionOf(given) ?? "present",
      holds: (fact, given) => given.always !== true && holdsVersion(fact, versionOf(given)),
      fact(seen, { bundleIdentifier, ...given }) {
        const found = seen.application(bundleIdentifier);
        if (found === undefined) return undefined;
        if (found === null) return "absent";
        const asked = versionOf(given);
        if (asked === undefined) return "present";
        return versionOf({ version: asked.version && found.version, build: asked.build && found.build });
      },
      commands: (udid, { sourcePath }) => [{ args: ["install", udid, sourcePath], timeoutMs: LIMITS.install }],
      undo: (udid, before, { bundleIdentifier }) =>
        before === "absent" ? [uninstall(udid, bundleIdentifier)] : undefined,
    },
  ),
  uninstallApplication: row(app, {
    risk: "destructive",
    needs: "booted",
    path: ({ bundleIdentifier }) => `spec.applications[${bundleIdentifier}]`,
    wanted: () => "absent",
    fact(seen, { bundleIdentifier }) {
      const found = seen.application(bundleIdentifier);
      return found === undefined ? undefined : found === null ? "absent" : "present";
    },
    commands: (udid, { bundleIdentifier }) => [uninstall(udid, bundleIdentifier)],
  }),
  launchApplication: row(
    app.extend({
      launchArguments: z.array(is.AppArgument).max(1_000),
      launchEnvironment: z.record(is.EnvironmentName, is.AppArgument).optional(),
      sensitive,
    }),
    {
      risk: "reversible",
      needs: "booted",
      lasts: false,
      path: ({ bundleIdentifier }) => `spec.applications[${bundleIdentifier}].running`,
      wanted: () => true,
      fact: (seen, { bundleIdentifier }) => seen.running(bundleIdentifier),
      commands: (udid, { bundleIdentifier, launchArguments, launchEnvironment }) => [
        {
          // An app that runs keeps its old arguments unless it is ended first.
          args: ["launch", "--terminate-running-process", udid, bundleIdentifier, ...launchArguments],
          timeoutMs: LIMITS.launch,
          ...(launchEnvironment === undefined
            ? {}
            : {
                environment: Object.fromEntries(
                  Object.entries(launchEnvironment).map(([name, value]) => [`SIMCTL_CHILD_${name}`, value]),
                ),
              }),
        },
      ],
      undo: (udid, before, { bundleIdentifier }) =>
        before === false ? [terminate(udid, bundleIdentifier)] : undefined,
    },
  ),
  terminateApplication: row(app, {
    risk: "reversible",
    needs: "booted",
    path: ({ bundleIdentifier }) => `spec.applications[${bundleIdentifier}].running`,
    wanted: () => false,
    fact: (seen, { bundleIdentifier }) => seen.running(bundleIdentifier),
    commands: (udid, { bundleIdentifier }) => [terminate(udid, bundleIdentifier)],
    undo: (udid, before, { bundleIdentifier }) =>
      before === true ? [{ args: ["launch", udid, bundleIdentifier], timeoutMs: LIMITS.launch }] : undefined,
  }),
  setPreference: row(
    z.strictObject({
      domain: is.Domain,
      key: is.PreferenceKey,
      value: is.PreferenceData,
      sensitive,
    }),
    {
      risk: "reversible",
      needs: "booted",
      path: ({ domain, key }) => `spec.preferences[${domain}.${key}]`,
      wanted: ({ value }) => value,
      fact: (seen, { domain, key }) => seen.preference(domain, key),
      commands: (udid, { domain, key, value }) => [preferenceCommand(udid, domain, key, value)],
      undo: (udid, before, { domain, key }) =>
        before === undefined ? undefined : [preferenceCommand(udid, domain, key, before)],
    },
  ),
  setStatusBar: row(StatusBar, {
    risk: "reversible",
    needs: "booted",
    lasts: false,
    path: () => "spec.statusBar",
    wanted: (bar) => bar as JsonValue,
    fact: (seen) => seen.state.statusBar as JsonValue | undefined,
    holds: (fact, bar) => {
      const parsed = StatusBar.safeParse(fact);
      return parsed.success && sameStatusBar(parsed.data, bar);
    },
    commands: overrideBar,
    undo: (udid, before) => {
      if (before === undefined) return undefined;
      const parsed = StatusBar.safeParse(before);
      return parsed.success ? overrideBar(udid, parsed.data) : [simctl("status_bar", udid, "clear")];
    },
  }),
  setAppearance: row(z.strictObject({ appearance: z.enum(["light", "dark"]) }), {
    risk: "reversible",
    needs: "booted",
    path: () => "spec.appearance",
    wanted: ({ appearance }) => appearance,
    fact: ({ state }) => (state.appearance === "unknown" ? undefined : state.appearance),
    commands: (udid, { appearance }) => ui(udid, "appearance", appearance),
    undo: (udid, before) => (before === "light" || before === "dark" ? ui(udid, "appearance", before) : undefined),
  }),
  setIncreaseContrast: row(z.strictObject({ increaseContrast: z.boolean() }), {
    risk: "reversible",
    needs: "booted",
    path: () => "spec.increaseContrast",
    wanted: ({ increaseContrast }) => increaseContrast,
    fact: ({ state }) => state.increaseContrast,
    commands: (udid, { increaseContrast }) => ui(udid, "increase_contrast", increaseContrast ? "enabled" : "disabled"),
    undo: (udid, before) =>
      typeof before === "boolean" ? ui(udid, "increase_contrast", before ? "enabled" : "disabled") : undefined,
  }),
  setContentSize: row(z.strictObject({ contentSize: ContentSize }), {
    risk: "reversible",
    needs: "booted",
    path: () => "spec.contentSize",
    wanted: ({ contentSize }) => contentSize,
    fact: ({ state }) => state.contentSize,
    commands: (udid, { contentSize }) => ui(udid, "content_size", contentSize),
    undo: (udid, before) => {
      const size = ContentSize.safeParse(before);
      return size.success ? ui(udid, "content_size", size.data) : undefined;
    },
  }),
  setLocalization: row(LocalizationShape, {
    risk: "reversible",
    needs: "booted",
    path: () => "spec.localization",
    wanted: (given) => given as JsonValue,
    fact: localizationFact,
    commands: localizationCommands,
    undo: undoLocalization,
  }),
  setPrivacy: row(app.extend({ service: PrivacyService, access: z.enum(["granted", "denied", "unset"]) }), {
    risk: "reversible",
    needs: "booted",
    path: ({ bundleIdentifier, service }) => `spec.privacy[${bundleIdentifier}.${service}]`,
    wanted: ({ access }) => access,
    fact: (seen, { service, bundleIdentifier }) => seen.privacy(service, bundleIdentifier),
    commands: (udid, { access, service, bundleIdentifier }) => setPrivacy(udid, access, service, bundleIdentifier),
    undo: (udid, before, { service, bundleIdentifier }) =>
      before === "granted" || before === "denied" || before === "unset"
        ? setPrivacy(udid, before, service, bundleIdentifier)
        : undefined,
  }),
  setLocation: row(z.strictObject({ location: is.LocationShape }), {
    risk: "reversible",
    needs: "booted",
    lasts: false,
    path: () => "spec.location",
    wanted: ({ location }) => location as JsonValue,
    commands: (udid, { location }) => [simctl("location", udid, ...locationWords(location))],
  }),
  setPasteboard: row(z.strictObject({ pasteboard: z.string().max(1_048_576), sensitive }), {
    risk: "reversible",
    needs: "booted",
    path: () => "spec.pasteboard",
    wanted: ({ pasteboard }) => pasteboard,
    fact: ({ state }) => state.pasteboard,
    commands: (udid, { pasteboard }) => copyText(udid, pasteboard),
    undo: (udid, before) => (typeof before === "string" ? copyText(udid, before) : undefined),
  }),
  addMedia: row(z.strictObject({ path: is.HostPath }), {
    risk: "reversible",
    needs: "booted",
    event: true,
    path: ({ path }) => `spec.media[${path}]`,
    wanted: ({ path }) => path,
    commands: (udid, { path }) => [{ args: ["addmedia", udid, path], timeoutMs: LIMITS.install }],
  }),
  addRootCertificate: row(z.strictObject({ path: is.HostPath }), {
    risk: "reversible",
    needs: "booted",
    path: ({ path }) => `spec.rootCertificates[${path}]`,
    wanted: ({ path }) => path,
    commands: (udid, { path }) => [simctl("keychain", udid, "add-root-cert", path)],
  }),
  sendPush: row(app.extend({ payload: is.PushPayload, index: z.int().min(0).max(10_000), sensitive }), {
    risk: "reversible",
    needs: "booted",
    event: true,
    path: ({ index }) => `spec.push[${index}]`,
    wanted: ({ bundleIdentifier, payload }) => ({ bundleIdentifier, payload: payload as JsonValue }),
    commands: (udid, { bundleIdentifier, payload }) => [
      { ...simctl("push", udid, bundleIdentifier, "-"), stdin: JSON.stringify(payload) },
    ],
  }),
  openURL: row(z.strictObject({ url: is.Link, sensitive }), {
    risk: "reversible",
    needs: "booted",
    event: true,
    path: () => "spec.openURL",
    wanted: ({ url }) => url,
    commands: (udid, { url }) => [simctl("openurl", udid, url)],
  }),
};

/** Checks the arguments by the action's own shape. Throws STATE_INVALID, which names the action and each wrong argument. */
export function actOf(action: OperationAction, given: unknown): Act {
  return TABLE[action](action, given);
}

export const ACTIONS = Object.keys(TABLE) as readonly OperationAction[];

function locationWords(location: z.infer<typeof is.LocationShape>): readonly string[] {
  const at = (point: { latitude: number; longitude: number }): string =>
    `${decimal(point.latitude)},${decimal(point.longitude)}`;
  if ("clear" in location) return ["clear"];
  if ("point" in location) return ["set", at(location.point)];
  const { points, speedMetersPerSecond, distanceMeters, intervalSeconds } = location.route;
  return [
    "start",
    ...(speedMetersPerSecond === undefined ? [] : [`--speed=${decimal(speedMetersPerSecond)}`]),
    ...(distanceMeters === undefined ? [] : [`--distance=${decimal(distanceMeters)}`]),
    ...(intervalSeconds === undefined ? [] : [`--interval=${decimal(intervalSeconds)}`]),
    ...points.map(at),
  ];
}

/** Never in exponents, which simctl does not read: 0.0000001 is 1e-7 otherwise. */
function decimal(value: number): string {
  return /e/i.test(String(value)) ? value.toFixed(12) : String(value);
}
