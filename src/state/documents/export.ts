import type {
  DesiredApplication,
  DesiredPreference,
  DesiredState,
  ObservedState,
  PreferenceValue,
  PrivacyAccess,
  Profile,
  Snapshot,
} from "../types.ts";
import { fitsV1Alpha1 } from "./compose.ts";
import { ContentSize, Localization, Preference, PrivacyAccess as PrivacySchema, StatusBar } from "./fields.ts";
import { filledState } from "./fill.ts";
import { V1, V1ALPHA1 } from "./profile-schema.ts";
import { bundleIdentifier } from "./text-rules.ts";

export interface Exported {
  readonly profile: Profile;
  /** What of the snapshot no profile can ask for, in a diff's paths. */
  readonly omitted: readonly { readonly path: string; readonly why: string }[];
}

type Leave = (path: string, why: string) => void;

/**
 * A profile that asks for what the snapshot found, on the same device. Applications that came with the system are left out; a build's path is not known
 * from a device, so `sourcePath` has to be added where the profile is to install. A pasteboard is marked as a secret.
 */
export function exportProfile(snapshot: Snapshot, { name }: { readonly name?: string } = {}): Exported {
  const omitted: { path: string; why: string }[] = [];
  const leave: Leave = (path, why) => omitted.push({ path, why });
  const { state, device } = snapshot;
  const spec = filledState({
    power: state.power,
    applications: applicationsOf(state, leave),
    preferences: preferencesOf(state, leave),
    ...statusBarOf(state, leave),
    ...lookOf(state, leave),
    ...privacyOf(state, leave),
    ...(state.pasteboard === undefined || state.pasteboard.includes("\0")
      ? {}
      : { pasteboard: state.pasteboard, sensitive: ["pasteboard"] as const }),
  });
  return {
    profile: {
      apiVersion: fitsV1Alpha1(spec) ? V1ALPHA1 : V1,
      kind: "SimulatorState",
      metadata: { name: name ?? (device.name === "" ? device.udid : device.name) },
      target: { udid: device.udid },
      spec,
    },
    omitted,
  };
}

function applicationsOf(state: ObservedState, leave: Leave): readonly DesiredApplication[] {
  return state.applications.flatMap(({ bundleIdentifier: id, running, type }) => {
    if (type === undefined ? id.startsWith("com.apple.") : type !== "User") return [];
    if (!bundleIdentifier().safeParse(id).success) {
      leave(`spec.applications[${id}]`, "its bundle identifier is none that a profile may have");
      return [];
    }
    leave(`spec.applications[${id}].sourcePath`, "a device does not know where its build came from");
    return [
      {
        bundleIdentifier: id,
        presence: "present" as const,
        launchArguments: [],
        ...(running === true ? { running } : {}),
      },
    ];
  });
}

function preferencesOf(state: ObservedState, leave: Leave): readonly DesiredPreference[] {
  const seen = new Set<string>();
  return state.preferences.flatMap(({ domain, key, value }) => {
    const id = JSON.stringify([domain, key]);
    if (value === null || seen.has(id)) return [];
    seen.add(id);
    const parsed = Preference.safeParse({ domain, key, value });
    if (parsed.success) return [{ domain, key, value: parsed.data.value satisfies PreferenceValue }];
    leave(`spec.preferences[${domain}.${key}]`, "a profile has no form for its value or name");
    return [];
  });
}

function statusBarOf(
  { statusBar, statusBarUncertain = [] }: ObservedState,
  leave: Leave,
): Pick<DesiredState, "statusBar"> {
  if (statusBar === undefined) return {};
  const uncertain = new Set<string>(statusBarUncertain);
  const certain = Object.fromEntries(Object.entries(statusBar).filter(([key]) => !uncertain.has(key)));
  for (const key of statusBarUncertain) leave(`spec.statusBar.${key}`, "it can't be told from one that is not set");
  if (Object.keys(certain).length === 0) return {};
  const parsed = StatusBar.safeParse(certain);
  if (parsed.success) return { statusBar: parsed.data };
  leave("spec.statusBar", "a profile has no form for one of its values");
  return {};
}

function lookOf(
  state: ObservedState,
  leave: Leave,
): Pick<DesiredState, "appearance" | "increaseContrast" | "contentSize" | "localization"> {
  const contentSize = ContentSize.safeParse(state.contentSize);
  if (state.contentSize !== undefined && !contentSize.success)
    leave("spec.contentSize", "a profile has no word for it");
  const localization = Localization.safeParse(state.localization);
  const hasLocalization = state.localization !== undefined && Object.keys(state.localization).length > 0;
  if (hasLocalization && !localization.success)
    leave("spec.localization", "a profile has no form for one of its values");
  return {
    ...(state.appearance === "light" || state.appearance === "dark" ? { appearance: state.appearance } : {}),
    ...(state.increaseContrast === undefined ? {} : { increaseContrast: state.increaseContrast }),
    ...(contentSize.success ? { contentSize: contentSize.data } : {}),
    ...(localization.success ? { localization: localization.data } : {}),
  };
}

function privacyOf({ privacy }: ObservedState, leave: Leave): Pick<DesiredState, "privacy"> {
  if (privacy === undefined) return {};
  const seen = new Set<string>();
  const entries = privacy.flatMap((entry): readonly PrivacyAccess[] => {
    const id = JSON.stringify([entry.service, entry.bundleIdentifier]);
    const parsed = PrivacySchema.safeParse(entry);
    if (parsed.success && !seen.has(id)) {
      seen.add(id);
      return [parsed.data];
    }
    if (!parsed.success)
      leave(`spec.privacy[${entry.service}.${entry.bundleIdentifier}]`, "a profile can't ask for it");
    return [];
  });
  return entries.length === 0 ? {} : { privacy: entries };
}
