/** The revision that carries version and capabilities with each request. */
export const MODERN_VERSION = "2026-07-28";

/** The revisions that open with `initialize`, newest first. 2025-03-26 is left out on purpose: it asks for batches. */
export const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2024-11-05"] as const;
export type LegacyVersion = (typeof LEGACY_VERSIONS)[number];

export type Era = "legacy" | "modern";
