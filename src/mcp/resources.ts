import { ResourceNotFoundError, type Server, type ServerContext } from "@modelcontextprotocol/server";
import type { Toolset } from "./toolset.ts";

export function hasResources({ resources, originals }: Toolset): boolean {
  return resources.length > 0 || originals !== undefined;
}

/** Serves a toolset's texts, and to each subject the files that its own answers link to. */
export function serveResources(
  server: Server,
  { resources, originals }: Toolset,
  subjectOf: (context: ServerContext) => string | undefined,
): void {
  const texts = new Map(resources.map((resource) => [resource.uri, resource]));
  server.setRequestHandler("resources/list", () => ({
    resources: resources.map(({ text: _text, ...listed }) => listed),
  }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", ({ params: { uri } }, context) => {
    const subject = subjectOf(context);
    const original = subject === undefined ? undefined : originals?.read(subject, uri);
    if (original !== undefined) {
      const { bytes, mimeType } = original;
      return { contents: [{ uri, mimeType, blob: Buffer.from(bytes).toString("base64") }] };
    }
    const resource = texts.get(uri);
    if (resource === undefined) throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, mimeType: resource.mimeType, text: resource.text }] };
  });
}

const LISTS = ["tools/list", "server/discover"] as const;
const RESOURCE_LISTS = ["resources/list", "resources/read"] as const;

/** What a client may keep: tools and texts do not change while the process runs, but behind a gate they depend on who asks. */
export function cacheHints(toolset: Toolset, cacheScope: "public" | "private") {
  const methods = hasResources(toolset) ? [...LISTS, ...RESOURCE_LISTS] : LISTS;
  return Object.fromEntries(methods.map((method) => [method, { ttlMs: 3_600_000, cacheScope }]));
}
