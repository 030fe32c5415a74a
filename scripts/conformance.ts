/** The official conformance suite of MCP, which asks a server what the specification demands. `npm run setup` brings it, into the cache folder. */
import { existsSync } from "node:fs";
import { join } from "node:path";

export const CONFORMANCE_PACKAGE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
export const CONFORMANCE_PREFIX = join(import.meta.dirname, "..", ".cache", "conformance");
const folder = join(CONFORMANCE_PREFIX, "node_modules/@modelcontextprotocol/conformance");
export const CONFORMANCE = join(folder, "dist/index.js");
/** Which scenarios each revision of the protocol requires. */
export const CONFORMANCE_REQUIREMENTS = join(folder, "requirements");

export function conformanceMissing(): string | undefined {
  return existsSync(CONFORMANCE) ? undefined : "The MCP conformance suite is not installed. Run `npm run setup`.";
}
