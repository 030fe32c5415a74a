import { type Path, type Problem, problemAt } from "./problems.ts";

/** Far more than a document of thousands of preferences holds; what aliases can expand to is bounded with it. */
const MAX_VALUES = 500_000;
const MAX_DEPTH = 64;

/**
 * What keeps a value from being plain JSON of a sensible size: too deep (or circular), too large, a number that is none, a value that JSON does not
 * have, a key that JavaScript gives a meaning of its own. Undefined where nothing does.
 */
export function boundProblem(value: unknown): Problem | undefined {
  const left = { values: MAX_VALUES };
  return walk(value, [], left);
}

function walk(value: unknown, path: Path, left: { values: number }): Problem | undefined {
  left.values -= 1;
  if (left.values < 0) return problemAt([], `holds more than ${MAX_VALUES} values`);
  if (path.length > MAX_DEPTH) return problemAt([], `is nested more than ${MAX_DEPTH} levels deep`);
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : problemAt(path, "must be a finite number");
    case "object":
      return value === null ? undefined : walkObject(value, path, left);
    default:
      return problemAt(path, `JSON has no ${typeof value}`);
  }
}

function walkObject(value: object, path: Path, left: { values: number }): Problem | undefined {
  if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) {
      const problem = walk(entry, [...path, index], left);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return problemAt(path, "must be a plain JSON object");
  for (const [key, entry] of Object.entries(value)) {
    if (key === "__proto__") return problemAt(path, 'must not have a field "__proto__"');
    const problem = walk(entry, [...path, key], left);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
