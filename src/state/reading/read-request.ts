import type { Profile, ReadRequest } from "../types.ts";

/** What has to be read of a device to tell how it differs from the profile. */
export function readRequestFor(profile: Profile, udid: string, signal?: AbortSignal): ReadRequest {
  const { preferences, privacy, pasteboard } = profile.spec;
  return {
    udid,
    domains: [...new Set(preferences.map(({ domain }) => domain))],
    privacyOf: [...new Set((privacy ?? []).map(({ bundleIdentifier }) => bundleIdentifier))],
    ...(pasteboard === undefined ? {} : { pasteboard: true }),
    ...(signal === undefined ? {} : { signal }),
  };
}
