import type {
  DesiredApplication,
  DesiredLocation,
  DesiredState,
  LayerApplication,
  LayerSpec,
  PushFixture,
  Removal,
} from "../types.ts";
import type { ParsedSpec } from "./profile-schema.ts";

/** From what a document said to what a state is: one place for every default. */

export const STATE_DEFAULTS = { power: "unchanged", eraseBeforeApply: false } as const;
const APPLICATION_DEFAULTS = { presence: "present", launchArguments: [] } as const;

/** A parsed spec as a layer: entries that replace are filled in, so that nothing of an older entry shows through. Push files are read before. */
export function layerSpecOf(parsed: ParsedSpec): LayerSpec {
  const { applications, location, push, remove, ...rest } = parsed;
  return {
    ...rest,
    ...(applications === undefined ? {} : { applications: applications.map(layerApplication) }),
    ...(location === undefined ? {} : { location: locationOf(location) }),
    ...(push === undefined ? {} : { push: push.flatMap(pushOf) }),
    ...(remove === undefined ? {} : { remove: remove satisfies Removal }),
  };
}

function layerApplication(parsed: NonNullable<ParsedSpec["applications"]>[number]): LayerApplication {
  const { merge, ...given } = parsed;
  return merge === "fields" ? { ...given, merge } : filledApplication(given);
}

function filledApplication(
  given: Pick<DesiredApplication, "bundleIdentifier"> & Partial<DesiredApplication>,
): DesiredApplication {
  return { ...APPLICATION_DEFAULTS, ...given };
}

function locationOf({ point, route, clear }: NonNullable<ParsedSpec["location"]>): DesiredLocation {
  if (point !== undefined) return { point };
  return route === undefined || clear === true ? { clear: true } : { route };
}

function pushOf({ bundleIdentifier, payload }: NonNullable<ParsedSpec["push"]>[number]): readonly PushFixture[] {
  // The payload was JSON before it was parsed; the schema's type for it is wider.
  return payload === undefined ? [] : [{ bundleIdentifier, payload: payload as PushFixture["payload"] }];
}

/** The state that a layer gives when it is laid over nothing. */
export function filledState(spec: LayerSpec): DesiredState {
  const { applications, preferences, sensitive, remove: _taken, ...rest } = spec;
  const masked = (sensitive ?? []).filter((field) => rest[field] !== undefined);
  return {
    ...STATE_DEFAULTS,
    ...rest,
    applications: (applications ?? []).map(finalApplication),
    preferences: preferences ?? [],
    ...(masked.length === 0 ? {} : { sensitive: masked }),
  };
}

/** Fields that were laid over an entry can have made it absent: then it has no source any more. */
function finalApplication(entry: LayerApplication): DesiredApplication {
  const { merge: _how, ...given } = entry;
  const { sourcePath, ...application } = filledApplication(given);
  return sourcePath === undefined || application.presence === "absent" ? application : { ...application, sourcePath };
}
