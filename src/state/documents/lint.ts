import { isAbsolute } from "node:path";
import type { DesiredApplication, DesiredState, Profile } from "../types.ts";
import { type Path, pointerTo } from "./problems.ts";
import { V1 } from "./profile-schema.ts";

export interface LintWarning {
  /** Stable: to branch on, or to leave out. */
  readonly code: LintCode;
  /** Into the encoded profile. */
  readonly pointer: string;
  readonly message: string;
}

export type LintCode =
  | "lost-at-shutdown"
  | "erases-every-time"
  | "no-source"
  | "absent-but-used"
  | "never-passed"
  | "looks-the-same"
  | "said-twice"
  | "unmarked-secret"
  | "target-fits-many"
  | "relative-path"
  | "missing-file";

type Warn = (code: LintCode, path: Path, message: string) => void;

/** What is valid in a profile and yet hardly meant. Pure; what it says of files is in `lintFiles`. */
export function lint(profile: Profile): readonly LintWarning[] {
  const found: LintWarning[] = [];
  const warn: Warn = (code, path, message) => found.push({ code, pointer: pointerTo(path), message });
  lintTarget(profile, warn);
  lintPower(profile.spec, warn);
  for (const [index, entry] of profile.spec.applications.entries()) {
    lintApplication(entry, profile.spec, ["spec", "applications", index], warn);
  }
  lintUsesOfAbsent(profile.spec, warn);
  lintTwins(profile.spec, warn);
  lintLocalization(profile.spec, warn);
  lintSecrets(profile, warn);
  return found;
}

/** The files that the profile names and that are not there, or are named so that it depends on where it is applied from. */
export async function lintFiles(
  profile: Profile,
  exists: (path: string) => Promise<boolean>,
): Promise<readonly LintWarning[]> {
  const { applications, media = [], rootCertificates = [] } = profile.spec;
  const named: (readonly [Path, string])[] = [
    ...applications.flatMap(({ sourcePath }, index): (readonly [Path, string])[] =>
      sourcePath === undefined ? [] : [[["spec", "applications", index, "sourcePath"], sourcePath]],
    ),
    ...media.map((file, index) => [["spec", "media", index], file] as const),
    ...rootCertificates.map((file, index) => [["spec", "rootCertificates", index], file] as const),
  ];
  const found = await Promise.all(
    named.map(async ([path, file]): Promise<readonly LintWarning[]> => {
      const pointer = pointerTo(path);
      if (!isAbsolute(file)) {
        return [
          {
            code: "relative-path",
            pointer,
            message: "begins at the folder of whoever applies it; write the whole path, or use simlock/v1",
          },
        ];
      }
      return (await exists(file)) ? [] : [{ code: "missing-file", pointer, message: `${file} is not there` }];
    }),
  );
  return found.flat();
}

function lintTarget({ target }: Profile, warn: Warn): void {
  if (target.udid === undefined && target.name === undefined) {
    warn(
      "target-fits-many",
      ["target"],
      "fits every device of its kind; where there are several, none is chosen. Add a name or a UDID",
    );
  }
}

function lintPower(spec: DesiredState, warn: Warn): void {
  if (spec.eraseBeforeApply) {
    warn(
      "erases-every-time",
      ["spec", "eraseBeforeApply"],
      "erases the device at each apply, also when nothing else differs",
    );
  }
  if (spec.power !== "shutdown") return;
  const lost = ["statusBar", "location", "push", "openURL", "pasteboard"] as const;
  for (const field of lost) {
    if (spec[field] !== undefined) {
      warn("lost-at-shutdown", ["spec", field], "is lost when the device shuts down, as spec.power asks for");
    }
  }
  for (const [index, { running }] of spec.applications.entries()) {
    if (running === true) {
      warn(
        "lost-at-shutdown",
        ["spec", "applications", index, "running"],
        "ends when the device shuts down, as spec.power asks for",
      );
    }
  }
}

function lintApplication(entry: DesiredApplication, spec: DesiredState, path: Path, warn: Warn): void {
  const { presence, running, sourcePath, launchArguments, launchEnvironment } = entry;
  if (presence === "absent" && running === true) {
    warn("absent-but-used", [...path, "running"], "asks for an application to run that is to be absent");
  }
  if (presence === "present" && sourcePath === undefined && spec.eraseBeforeApply) {
    warn("no-source", path, "is gone once the device is erased, and without sourcePath it can't be installed");
  } else if (presence === "present" && sourcePath === undefined && running === true) {
    warn("no-source", path, "can be launched only where it is installed already: there is no sourcePath");
  }
  if (sourcePath !== undefined && !/\.(?:app|ipa)\/?$/.test(sourcePath)) {
    warn("no-source", [...path, "sourcePath"], "does not end in .app");
  }
  if (running !== true && launchArguments.length > 0) {
    warn("never-passed", [...path, "launchArguments"], "reach the application only where running is true");
  }
  if (running !== true && Object.keys(launchEnvironment ?? {}).length > 0) {
    warn("never-passed", [...path, "launchEnvironment"], "reaches the application only where running is true");
  }
}

function lintUsesOfAbsent(spec: DesiredState, warn: Warn): void {
  const absent = new Set(
    spec.applications.filter(({ presence }) => presence === "absent").map(({ bundleIdentifier }) => bundleIdentifier),
  );
  const message = "is about an application that is to be absent";
  for (const [index, { bundleIdentifier, access }] of (spec.privacy ?? []).entries()) {
    if (access !== "unset" && absent.has(bundleIdentifier))
      warn("absent-but-used", ["spec", "privacy", index], message);
  }
  for (const [index, { bundleIdentifier }] of (spec.push ?? []).entries()) {
    if (absent.has(bundleIdentifier)) warn("absent-but-used", ["spec", "push", index], message);
  }
}

function lintTwins(spec: DesiredState, warn: Warn): void {
  const lists: (readonly [string, readonly string[]])[] = [
    ["applications", spec.applications.map(({ bundleIdentifier }) => bundleIdentifier)],
    ["preferences", spec.preferences.map(({ domain, key }) => JSON.stringify([domain, key]))],
    ["media", spec.media ?? []],
    ["rootCertificates", spec.rootCertificates ?? []],
    ["push", (spec.push ?? []).map((push) => JSON.stringify(push))],
  ];
  for (const [field, names] of lists) {
    const seen = new Map<string, number>();
    for (const [index, name] of names.entries()) {
      const key = name.trim().toLowerCase();
      const first = seen.get(key);
      if (first === undefined) seen.set(key, index);
      else
        warn(
          "looks-the-same",
          ["spec", field, index],
          `differs from number ${first} of the list in case or blanks at most`,
        );
    }
  }
}

const LOCALIZED: Readonly<Record<string, keyof NonNullable<DesiredState["localization"]>>> = {
  AppleLanguages: "languages",
  AppleLocale: "locale",
  AppleTimeZone: "timeZone",
  AppleICUForce24HourTime: "use24HourClock",
};
const GLOBAL_DOMAINS = new Set(["NSGlobalDomain", ".GlobalPreferences", "Apple Global Domain"]);

function lintLocalization({ preferences, localization = {} }: DesiredState, warn: Warn): void {
  for (const [index, { domain, key }] of preferences.entries()) {
    const field = GLOBAL_DOMAINS.has(domain) && Object.hasOwn(LOCALIZED, key) ? LOCALIZED[key] : undefined;
    if (field !== undefined && localization[field] !== undefined) {
      warn("said-twice", ["spec", "preferences", index], `sets what spec.localization.${field} sets too`);
    }
  }
}

const SECRET_NAME = /passw|secret|token|api[-_]?key|credential|private[-_]?key/i;

function lintSecrets({ spec, apiVersion }: Profile, warn: Warn): void {
  const remedy = apiVersion === V1 ? "mark it `sensitive: true`" : "only simlock/v1 can mark it `sensitive`";
  for (const [index, { key, value, sensitive }] of spec.preferences.entries()) {
    if (sensitive !== true && value !== null && typeof value !== "boolean" && SECRET_NAME.test(key)) {
      warn(
        "unmarked-secret",
        ["spec", "preferences", index],
        `looks like a secret, and is shown in plans and reports: ${remedy}`,
      );
    }
  }
  for (const [index, { launchEnvironment, sensitive }] of spec.applications.entries()) {
    if (sensitive !== true && Object.keys(launchEnvironment ?? {}).some((name) => SECRET_NAME.test(name))) {
      warn(
        "unmarked-secret",
        ["spec", "applications", index, "launchEnvironment"],
        `looks like a secret, and is shown in plans and reports: ${remedy}`,
      );
    }
  }
}
