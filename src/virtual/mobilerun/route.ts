import type { Endpoint } from "../../cloud/index.ts";

export interface Route {
  readonly endpoint: Endpoint;
  readonly path: Readonly<Record<string, string>>;
}

export type Routed = Route | "no such path" | "another method";

/** Finds endpoints by method and path; a word in a template goes before a parameter. */
export function createRouter(endpoints: readonly Endpoint[]): (method: string, pathname: string) => Routed {
  const routes = endpoints.map((endpoint) => ({ endpoint, segments: endpoint.path.slice(1).split("/") }));
  return (method, pathname) => {
    const segments = decoded(pathname);
    if (segments === undefined) return "no such path";
    const fitting = routes
      .filter((route) => fits(route.segments, segments))
      .sort((a, b) => parameters(a.segments) - parameters(b.segments));
    const found = fitting.find(({ endpoint }) => endpoint.method === method);
    if (found === undefined) return fitting.length === 0 ? "no such path" : "another method";
    const named = found.segments.flatMap((name, at) =>
      isParameter(name) ? [[name.slice(1, -1), segments[at] ?? ""] as const] : [],
    );
    return { endpoint: found.endpoint, path: Object.fromEntries(named) };
  };
}

function decoded(pathname: string): readonly string[] | undefined {
  try {
    return pathname.slice(1).split("/").map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

const isParameter = (segment: string) => segment.startsWith("{");
const parameters = (segments: readonly string[]) => segments.filter(isParameter).length;

function fits(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((part, at) => (isParameter(part) ? segments[at] !== "" : part === segments[at]))
  );
}
