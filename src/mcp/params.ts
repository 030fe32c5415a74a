/** Of what kind each parameter of a method must be. What is not listed is the server's own to check. */
const SHAPES: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  initialize: { protocolVersion: string(), capabilities: object(), clientInfo: object() },
  "logging/setLevel": { level: oneOf("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency") },
  "tools/list": { cursor: optional(string()) },
  "tools/call": { name: string(), arguments: optional(object()) },
  "resources/list": { cursor: optional(string()) },
  "resources/templates/list": { cursor: optional(string()) },
  "resources/read": { uri: string() },
};

interface Check {
  readonly must: string;
  readonly holds: (value: unknown) => boolean;
}

/**
 * Why the parameters cannot be read, or undefined where they can. The SDK answers some of these with -32603 and a dump of its schema.
 */
export function faultOf(method: string, params: Readonly<Record<string, unknown>>): string | undefined {
  const meta = params["_meta"];
  if (meta !== undefined && !isObject(meta)) return "_meta must be an object";
  const token = isObject(meta) ? meta["progressToken"] : undefined;
  if (token !== undefined && typeof token !== "string" && !Number.isInteger(token)) {
    return "_meta.progressToken must be a string or an integer";
  }
  const shape = Object.hasOwn(SHAPES, method) ? SHAPES[method] : undefined;
  for (const [name, check] of Object.entries(shape ?? {})) {
    if (!check.holds(params[name])) return `${name} must be ${check.must}`;
  }
  return undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function string(): Check {
  return { must: "a string", holds: (value) => typeof value === "string" };
}

function object(): Check {
  return { must: "an object", holds: isObject };
}

function oneOf(...words: readonly string[]): Check {
  return { must: `one of ${words.join(", ")}`, holds: (value) => typeof value === "string" && words.includes(value) };
}

function optional(check: Check): Check {
  return { must: check.must, holds: (value) => value === undefined || check.holds(value) };
}
