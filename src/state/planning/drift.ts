import type { DiffEntry, FieldVerdict } from "../types.ts";

/** Fields that no device ever tells. They are set, or happen, at each apply, and nothing can be said of them afterwards. */
const NEVER_TOLD = /^spec\.(?:location$|rootCertificates\[|media\[|push\[|openURL$)/u;

/** Whether a device can tell at all what it has in this field. */
export function canBeTold(path: string): boolean {
  return !NEVER_TOLD.test(path);
}

/**
 * Whether an entry says that a device has moved away from its profile, or may have: what differs, what the device can't do, and what was not told but can
 * be. A field that no device ever tells is no drift, or no check of a profile with one would ever pass.
 */
export function isDrift({ path, kind }: Pick<DiffEntry, "path" | "kind">): boolean {
  return kind !== "unknown" || canBeTold(path);
}

/** The same of a verdict. */
export function isOpen({ path, verdict }: Pick<FieldVerdict, "path" | "verdict">): boolean {
  return verdict !== "satisfied" && (verdict !== "unknown" || canBeTold(path));
}
