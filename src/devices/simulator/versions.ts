/** `26.1` as numbers. Undefined for a version that is not dotted numbers. */
function parts(version: string): readonly number[] | undefined {
  return /^\d+(\.\d+)*$/.test(version) ? version.split(".").map(Number) : undefined;
}

/** Orders versions newest first; `26.10` is newer than `26.9`. What is not dotted numbers comes last, by its text. */
export function newestFirst(a: string, b: string): number {
  const left = parts(a);
  const right = parts(b);
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1;
    if (right !== undefined) return 1;
    return a < b ? 1 : a > b ? -1 : 0;
  }
  for (let i = 0; i < Math.max(left.length, right.length); i += 1) {
    const difference = (right[i] ?? 0) - (left[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A version in the form of a device type's bounds: 0xAABBCC for AA.BB.CC. A bound without an end, 0xFFFFFF or 0xFFFFFFFF, is above them all. */
export function packed(version: string): number | undefined {
  const [major, minor = 0, patch = 0] = parts(version) ?? [];
  return major === undefined ? undefined : (major << 16) | (minor << 8) | patch;
}
