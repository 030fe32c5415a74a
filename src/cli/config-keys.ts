import { SimlockError } from "../contract/index.ts";

type Tree = Readonly<Record<string, unknown>>;

/** The value at a dotted path. Undefined where there is none. */
export function valueAt(tree: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>((at, name) => (isTree(at) && Object.hasOwn(at, name) ? at[name] : undefined), tree);
}

/** The tree with another value at a dotted path; null removes it, and the branches that it leaves empty. Throws `USAGE`. */
export function withValue(tree: Tree, path: string, value: unknown): Tree {
  const [name = "", ...rest] = path.split(".");
  if (name === "" || name === "__proto__") throw new SimlockError("USAGE", `"${path}" is not a key.`);
  const next = rest.length === 0 ? value : withValue(branchOf(tree[name], path), rest.join("."), value);
  const { [name]: _old, ...others } = tree;
  const empty = next === null || (rest.length > 0 && isTree(next) && Object.keys(next).length === 0);
  return empty ? others : { ...others, [name]: next };
}

function branchOf(value: unknown, path: string): Tree {
  if (value === undefined) return {};
  if (isTree(value)) return value;
  throw new SimlockError("USAGE", `"${path}" goes through a value that has no keys.`);
}

export function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value as it is typed: JSON where it is JSON, else the text itself. */
export function typedValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
