import { SimlockError } from "../../contract/index.ts";
import { isDictionary, readXmlPlist } from "../../plist/index.ts";
import type { PlistDictionary } from "../../plist/index.ts";
import type { JsonValue, Localization, ObservedPreference } from "../types.ts";
import { jsonOf } from "./property-json.ts";

/** Where language, locale, time zone and clock are kept. */
export const GLOBAL_DOMAIN = "NSGlobalDomain";

const GLOBAL_NAMES: ReadonlySet<string> = new Set([GLOBAL_DOMAIN, "Apple Global Domain", ".GlobalPreferences"]);

/** Whether this is another name of the global domain. */
export function isGlobal(domain: string): boolean {
  return GLOBAL_NAMES.has(domain);
}

/** Throws BAD_REQUEST for what `defaults` would take for an option, or for the path of any property list of this host. */
export function checkDomain(domain: string): void {
  if (domain !== "" && domain.length <= 255 && !/^[-~]|\/|\p{Cc}/u.test(domain)) return;
  throw new SimlockError("BAD_REQUEST", `"${domain.slice(0, 80)}" is no preference domain that can be read.`, {
    hint: "Name a domain such as an app's bundle identifier; it has no slash, and no dash or tilde in front.",
  });
}

/** What `defaults export DOMAIN -` prints. Throws `Error` where it is no dictionary. */
export function domainOf(output: string): PlistDictionary {
  const value = readXmlPlist(output);
  if (!isDictionary(value)) throw new Error("the domain is not a dictionary");
  return value;
}

/** `defaults` complains with exit code 1 of a domain that nobody has written to yet. */
export function saysMissing(stderr: string): boolean {
  return /The domain .* does not exist|Domain .* does not exist/s.test(stderr);
}

export function preferencesOf(domain: string, values: PlistDictionary): readonly ObservedPreference[] {
  return Object.entries(values).map(([key, value]) => ({ domain, key, value: jsonOf(value) }));
}

/** What the global domain says of language and region. A key that is not set, or holds what it never should, is left out. */
export function localizationOf(values: PlistDictionary): Localization {
  const json = (key: string): JsonValue | undefined => {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    return value === undefined ? undefined : jsonOf(value);
  };
  const languages = json("AppleLanguages");
  const locale = json("AppleLocale");
  const timeZone = json("AppleTimeZone");
  const clock = json("AppleICUForce24HourTime");
  return {
    ...(Array.isArray(languages) && languages.every((each) => typeof each === "string") ? { languages } : {}),
    ...(typeof locale === "string" ? { locale } : {}),
    ...(typeof timeZone === "string" ? { timeZone } : {}),
    ...(typeof clock === "boolean" || clock === 0 || clock === 1 ? { use24HourClock: Boolean(clock) } : {}),
  };
}
