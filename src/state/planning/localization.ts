import { z } from "zod";
import type { JsonValue } from "../types.ts";
import { GLOBAL_DOMAIN } from "./global-domain.ts";
import { LIMITS } from "./limits.ts";
import type { Command } from "./command.ts";
import { preferenceCommand } from "./preference-command.ts";
import type { Seen } from "./seen.ts";
import { LanguageTag, LocaleName, TimeZoneName } from "./shapes.ts";

export const LocalizationShape = z
  .strictObject({
    languages: z.array(LanguageTag).min(1).max(100).optional(),
    locale: LocaleName.optional(),
    timeZone: TimeZoneName.optional(),
    use24HourClock: z.boolean().optional(),
  })
  .refine((given) => Object.keys(given).length > 0, "must set something");
type Given = z.infer<typeof LocalizationShape>;

/** The keys of the global domain that the system reads. */
const KEYS = {
  languages: "AppleLanguages",
  locale: "AppleLocale",
  timeZone: "AppleTimeZone",
  use24HourClock: "AppleICUForce24HourTime",
} as const;
const FIELDS = Object.keys(KEYS) as readonly (keyof typeof KEYS)[];

export function localizationFact({ state }: Seen, given: Given): JsonValue | undefined {
  const { localization } = state;
  if (localization === undefined) return undefined;
  const named = FIELDS.filter((field) => given[field] !== undefined);
  return Object.fromEntries(named.map((field) => [field, localization[field] ?? null]));
}

export function localizationCommands(udid: string, given: Given): readonly Command[] {
  const values = FIELDS.flatMap((field) => {
    const value = given[field];
    return value === undefined ? [] : [preferenceCommand(udid, GLOBAL_DOMAIN, KEYS[field], value)];
  });
  return [...values, restartSpringBoard(udid)];
}

export function undoLocalization(udid: string, before: JsonValue | undefined): readonly Command[] | undefined {
  if (typeof before !== "object" || before === null) return undefined;
  const old = Object.entries(before).flatMap(([field, value]: [string, JsonValue]) => {
    const known = FIELDS.find((each) => each === field);
    return known === undefined ? [] : [preferenceCommand(udid, GLOBAL_DOMAIN, KEYS[known], value)];
  });
  return [...old, restartSpringBoard(udid)];
}

/** The home screen and what it starts read these settings when it starts. */
function restartSpringBoard(udid: string): Command {
  return { args: ["spawn", udid, "launchctl", "stop", "com.apple.SpringBoard"], timeoutMs: LIMITS.short };
}
