/** `-g` is refused as an option; these are the words for the same domain. */
const NAMES: ReadonlySet<string> = new Set(["NSGlobalDomain", "Apple Global Domain"]);

export const GLOBAL_DOMAIN = "NSGlobalDomain";

export function isGlobalDomain(domain: string): boolean {
  return NAMES.has(domain);
}
