import type {
  Capability,
  CapabilityName,
  DesiredApplication,
  DesiredState,
  DiffEntry,
  JsonValue,
  OperationAction,
  SensitiveField,
  Snapshot,
} from "../types.ts";
import type { BundleFacts } from "./bundle-facts.ts";
import { byText, sortedBy } from "./canonical.ts";
import { actOf } from "./operations.ts";
import type { Act, Arguments } from "./operations.ts";
import type { Seen } from "./seen.ts";

/** One field that the profile names, beside what the device has in it. */
export interface Comparison {
  readonly path: string;
  readonly verdict: "satisfied" | "different" | "unknown" | "unsupported";
  readonly entry?: DiffEntry;
  /** What makes it so, unless it is so already or can't be made so. */
  readonly act?: Act;
  readonly why?: string;
  /** Where it stands in the order of things: see `plan.ts`. */
  readonly stage: Stage;
  readonly warning?: string;
}

/** In this order. Settings come before the launch, so that an app starts with them; what opens or shows something comes last. */
export const STAGES = ["applications", "preferences", "permissions", "look", "launch", "statusBar", "effects"] as const;
export type Stage = (typeof STAGES)[number];

export interface Desired {
  readonly spec: DesiredState;
  readonly bundles: ReadonlyMap<string, BundleFacts>;
  /** False leaves out what happens again at each apply: push, openURL, media. */
  readonly events: boolean;
}

const UNKNOWN = "What the device has could not be read.";

/**
 * Compares all but the power. What can't be read is planned and called unknown, never satisfied: to set a value that is set already does no harm.
 * What has no readback at all (location, root certificates) is set at each apply; push, openURL and media happen at each apply that asks for them.
 */
export function compare(
  desired: Desired,
  seen: Seen,
  capabilities: Snapshot["capabilities"] | undefined,
): Comparison[] {
  const { spec } = desired;
  const found: Comparison[] = [];
  const section = (name: CapabilityName, wanted: boolean, fields: () => Iterable<Comparison>): void => {
    if (!wanted) return;
    const refused = unsupported(name, capabilities);
    for (const each of refused === undefined ? fields() : [refused]) found.push(each);
  };
  const one = (name: CapabilityName, wanted: boolean, fields: () => Comparison): void =>
    section(name, wanted, () => [fields()]);

  const secret = (field: SensitiveField) => (spec.sensitive?.includes(field) === true ? { sensitive: true } : {});

  section("privacy", (spec.privacy ?? []).length > 0, () => permissions(spec, seen));
  one("localization", spec.localization !== undefined, () =>
    setting("permissions", "setLocalization", { ...spec.localization } as Arguments, seen),
  );
  section("preferences", spec.preferences.length > 0, () => preferences(spec, seen));
  section("applications", spec.applications.length > 0, () => applications(desired, seen, endedApps(found)));
  one("appearance", spec.appearance !== undefined, () => look("setAppearance", "appearance", spec.appearance, seen));
  one("increaseContrast", spec.increaseContrast !== undefined, () =>
    look("setIncreaseContrast", "increaseContrast", spec.increaseContrast, seen),
  );
  one("contentSize", spec.contentSize !== undefined, () =>
    look("setContentSize", "contentSize", spec.contentSize, seen),
  );
  one("location", spec.location !== undefined, () =>
    setting("look", "setLocation", { location: spec.location as JsonValue }, seen),
  );
  one("statusBar", spec.statusBar !== undefined, () => {
    const note = capabilities?.statusBar?.note;
    return setting("statusBar", "setStatusBar", { ...spec.statusBar } as Arguments, seen, {
      unread: "add",
      ...(note === undefined ? {} : { note }),
    });
  });
  const media = [...new Set(spec.media ?? [])];
  const certificates = [...new Set(spec.rootCertificates ?? [])];
  section("media", desired.events && media.length > 0, () =>
    media.map((path) => setting("effects", "addMedia", { path }, seen)),
  );
  section("rootCertificates", certificates.length > 0, () =>
    certificates.map((path) => setting("effects", "addRootCertificate", { path }, seen)),
  );
  one("pasteboard", spec.pasteboard !== undefined, () =>
    setting("effects", "setPasteboard", { pasteboard: spec.pasteboard ?? "", ...secret("pasteboard") }, seen),
  );
  section("push", desired.events && (spec.push ?? []).length > 0, () =>
    (spec.push ?? []).map((push, index) =>
      setting(
        "effects",
        "sendPush",
        { bundleIdentifier: push.bundleIdentifier, payload: push.payload, index, ...secret("push") },
        seen,
      ),
    ),
  );
  one("openURL", desired.events && spec.openURL !== undefined, () =>
    setting("effects", "openURL", { url: spec.openURL ?? "", ...secret("openURL") }, seen),
  );
  return found;
}

function unsupported(name: CapabilityName, capabilities: Snapshot["capabilities"] | undefined): Comparison | undefined {
  if (capabilities === undefined) return undefined;
  const capability: Capability | undefined = capabilities[name];
  if (capability?.writable === true && capability.support !== "unsupported") return undefined;
  const note = capability?.note ?? "this device's capabilities do not say that it can be written";
  const path = `spec.${name}`;
  return {
    path,
    verdict: "unsupported",
    stage: "effects",
    entry: { path, kind: "unsupported", note },
    warning: `Skipped ${name}: ${note}`,
  };
}

interface Wording {
  /** The kind of an entry whose current value is unknown. */
  readonly unread?: "add" | "change" | "unknown";
  readonly note?: string;
}

function setting(
  stage: Stage,
  action: OperationAction,
  given: Arguments,
  seen: Seen,
  wording: Wording = {},
): Comparison {
  const act = actOf(action, given);
  const path = act.path ?? action;
  const fact = act.fact(seen);
  if (fact !== undefined && act.holds(fact)) return { path, verdict: "satisfied", stage };
  const kind = fact === undefined ? (wording.unread ?? "unknown") : isNothing(fact) ? "add" : "change";
  const note = fact === undefined ? noteOf(act, wording) : undefined;
  const entry: DiffEntry = {
    // In the order of the alphabet, as the digest takes them.
    ...(fact === undefined ? {} : { current: fact }),
    ...(act.wanted === undefined ? {} : { desired: act.wanted }),
    kind,
    ...(note === undefined ? {} : { note }),
    path,
    ...(act.arguments["sensitive"] === true && act.action !== "launchApplication" ? { sensitive: true as const } : {}),
  };
  return { path, verdict: fact === undefined ? "unknown" : "different", stage, entry, act };
}

function noteOf(act: Act, { note }: Wording): string {
  if (act.event === true) return "It can't be read back and happens again at each apply.";
  if (act.action === "setLocation" || act.action === "addRootCertificate") {
    return "It can't be read back and is set again at each apply.";
  }
  return note === undefined ? UNKNOWN : `${UNKNOWN} ${note}`;
}

/** Nothing is set there: null, no override, or an app that is absent. */
function isNothing(fact: JsonValue): boolean {
  if (fact === null || fact === "absent") return true;
  return typeof fact === "object" && Object.keys(fact).length === 0;
}

function look(action: OperationAction, name: string, value: string | boolean | undefined, seen: Seen): Comparison {
  return setting("look", action, { [name]: value ?? null }, seen);
}

function preferences(spec: DesiredState, seen: Seen): Comparison[] {
  return sortedBy(spec.preferences, ({ domain, key }) => `${domain}::${key}`).map(
    ({ domain, key, value, sensitive }) => {
      const given = { domain, key, value, ...(sensitive === true ? { sensitive } : {}) };
      return setting("preferences", "setPreference", given, seen, { unread: "add" });
    },
  );
}

function permissions(spec: DesiredState, seen: Seen): Comparison[] {
  return (spec.privacy ?? [])
    .toSorted((a, b) => byText(a.bundleIdentifier, b.bundleIdentifier) || byText(a.service, b.service))
    .map(({ service, bundleIdentifier, access }) =>
      setting("permissions", "setPrivacy", { service, bundleIdentifier, access }, seen),
    );
}

/** Tells why an app that runs will not run any more once the settings are made. */
function endedApps(found: readonly Comparison[]): (id: string) => string | undefined {
  const restart = found.some(({ act }) => act?.action === "setLocalization");
  const permitted = new Set(
    found.flatMap(({ act }) => (act?.action === "setPrivacy" ? [act.arguments["bundleIdentifier"]] : [])),
  );
  return (id) => {
    if (permitted.has(id)) return "the change of its permissions ends it";
    return restart ? "the change of the localization restarts the home screen" : undefined;
  };
}

function* applications(desired: Desired, seen: Seen, ended: (id: string) => string | undefined): Generator<Comparison> {
  for (const app of desired.spec.applications.toSorted((a, b) => byText(a.bundleIdentifier, b.bundleIdentifier))) {
    const presence = app.presence === "absent" ? absence(app, seen) : presenceOf(app, desired, seen);
    yield presence;
    if (app.running !== undefined) yield* running(app, { seen, presence, ended: ended(app.bundleIdentifier) });
  }
}

function absence({ bundleIdentifier }: DesiredApplication, seen: Seen): Comparison {
  const found = setting("applications", "uninstallApplication", { bundleIdentifier }, seen);
  if (found.entry?.kind !== "change") return found;
  return { ...found, entry: { ...found.entry, kind: "remove" } };
}

function presenceOf(app: DesiredApplication, desired: Desired, seen: Seen): Comparison {
  const { bundleIdentifier, sourcePath } = app;
  if (sourcePath === undefined) return withoutSource(bundleIdentifier, seen);
  const bundle = desired.bundles.get(sourcePath);
  // To be installed anew at each apply is an event too: without those, an app that is there is as it should be.
  const policy = app.install === "always" && !desired.events ? "ifMissing" : (app.install ?? "ifChanged");
  const found = setting(
    "applications",
    "installApplication",
    {
      bundleIdentifier,
      sourcePath,
      ...(policy === "ifChanged" && bundle?.version !== undefined ? { version: bundle.version } : {}),
      ...(policy === "ifChanged" && bundle?.build !== undefined ? { build: bundle.build } : {}),
      ...(policy === "always" ? { always: true } : {}),
    },
    seen,
  );
  if (found.entry === undefined) return found;
  const { current } = found.entry;
  const entry =
    current === "absent"
      ? { ...found.entry, desired: "present" }
      : current !== undefined && policy === "always"
        ? { ...found.entry, note: "It is installed anew at each apply." }
        : found.entry;
  const other = bundle?.bundleIdentifier;
  return {
    ...found,
    entry,
    ...(other === undefined || other === bundleIdentifier
      ? {}
      : { warning: `The bundle for ${bundleIdentifier} says that it is ${other}.` }),
  };
}

function withoutSource(bundleIdentifier: string, seen: Seen): Comparison {
  const path = `spec.applications[${bundleIdentifier}]`;
  const found = seen.application(bundleIdentifier);
  const shared = { path, stage: "applications" as const };
  if (found === undefined) {
    return {
      ...shared,
      verdict: "unknown",
      entry: {
        path,
        kind: "unknown",
        desired: "present",
        note: `${UNKNOWN} Without a sourcePath it can't be installed.`,
      },
    };
  }
  if (found !== null) return { ...shared, verdict: "satisfied" };
  return {
    ...shared,
    verdict: "different",
    entry: { path, kind: "add", current: "absent", desired: "present" },
    warning: `Cannot install ${bundleIdentifier}: sourcePath is missing.`,
  };
}

function* running(
  app: DesiredApplication,
  { seen, presence, ended }: { readonly seen: Seen; readonly presence: Comparison; readonly ended: string | undefined },
): Generator<Comparison> {
  const { bundleIdentifier, launchArguments, launchEnvironment } = app;
  const sensitive = app.sensitive === true ? { sensitive: true } : {};
  if (app.running === false) {
    if (app.presence === "present") yield setting("applications", "terminateApplication", { bundleIdentifier }, seen);
    return;
  }
  // What is not there and can't be installed is not launched.
  if (app.presence === "absent" || (presence.verdict === "different" && presence.act === undefined)) return;
  const given = {
    bundleIdentifier,
    launchArguments,
    ...(launchEnvironment === undefined ? {} : { launchEnvironment }),
    ...sensitive,
  };
  const found = setting("launch", "launchApplication", given, seen, { unread: "change" });
  if (found.act !== undefined) {
    yield found;
    return;
  }
  const why = presence.act === undefined ? ended : "its installation ends it";
  if (why !== undefined) {
    yield { ...found, act: actOf("launchApplication", given), why: `Launch ${bundleIdentifier} again: ${why}.` };
  } else if (launchArguments.length > 0 || Object.keys(launchEnvironment ?? {}).length > 0) {
    yield {
      ...found,
      warning: `${bundleIdentifier} runs already: its launch arguments and environment count from its next launch on.`,
    };
  } else yield found;
}
