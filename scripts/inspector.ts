/** The official Inspector, whose CLI asks the MCP server what any client would. It is a large tool: `npm run setup` brings it, into the cache folder. */
import { existsSync } from "node:fs";
import { join } from "node:path";

export const INSPECTOR_PACKAGE = "@modelcontextprotocol/inspector@2.12.0";
export const INSPECTOR_PREFIX = join(import.meta.dirname, "..", ".cache", "inspector");
export const INSPECTOR = join(
  INSPECTOR_PREFIX,
  "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
);

export function inspectorMissing(): string | undefined {
  return existsSync(INSPECTOR) ? undefined : "The MCP Inspector is not installed. Run `npm run setup`.";
}
