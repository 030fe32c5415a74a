/** The rules of docs/tool-contract.md: what differs between two surfaces of the cloud tools, and the version that it asks for. Pure. */
import { deprecates, schemaDifferences, type Difference, type Kind, type Schema } from "./schema-changes.ts";

export type Bump = "patch" | "minor" | "major";

/** What one operation does, and the profiles that it is open in. */
export interface OperationSurface {
  readonly effects: readonly string[];
  /** `reveals`, `dials`, `billed`, `anyDevice`. */
  readonly marks: readonly string[];
  readonly profiles: readonly string[];
}

export interface ToolSurface {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The input field that chooses the operation. A tool without one has one operation, whose name is empty. */
  readonly by?: string;
  readonly operations: Readonly<Record<string, OperationSurface>>;
  readonly annotations: Readonly<Record<string, boolean>>;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
}

/** What a release promises. */
export interface Surface {
  readonly version: string;
  readonly codes: readonly string[];
  readonly tools: readonly ToolSurface[];
}

export interface Change {
  readonly bump: Bump;
  readonly what: string;
}

export function changesBetween(before: Surface, after: Surface): Change[] {
  const now = new Map(after.tools.map((tool) => [tool.name, tool]));
  const known = before.tools.map(({ name }) => name);
  return [
    ...namesChanged("the error code", before.codes, after.codes),
    ...namesChanged("the tool", known, [...now.keys()]),
    ...before.tools.flatMap((tool) => {
      const same = now.get(tool.name);
      return same === undefined ? [] : toolChanges(tool, same);
    }),
  ];
}

function namesChanged(what: string, before: readonly string[], after: readonly string[]): Change[] {
  return [
    ...before.filter((name) => !after.includes(name)).map((name) => change("major", `${what} ${name} is gone`)),
    ...after.filter((name) => !before.includes(name)).map((name) => change("minor", `${what} ${name} is new`)),
  ];
}

function toolChanges(before: ToolSurface, after: ToolSurface): Change[] {
  const { name } = before;
  const kept = Object.keys(before.operations).filter((operation) => operation in after.operations);
  const hints = Object.entries(after.annotations).filter(([hint, value]) => before.annotations[hint] !== value);
  return [
    ...(["title", "description"] as const)
      .filter((text) => before[text] !== after[text])
      .map((text) =>
        deprecates(before[text], after[text])
          ? change("minor", `${name}: is deprecated`)
          : change("patch", `${name}: its ${text} is worded anew`),
      ),
    ...hints.map(([hint, value]) => change("minor", `${name}: ${hint} is now ${value}`)),
    ...namesChanged(`${name}: the operation`, Object.keys(before.operations), Object.keys(after.operations)),
    ...kept.flatMap((operation) => operationChanges(before, after, operation)),
    ...ofSide("input", name, schemaDifferences(withoutChoice(before), withoutChoice(after))),
    ...ofSide("output", name, schemaDifferences(before.outputSchema, after.outputSchema)),
  ];
}

function operationChanges(before: ToolSurface, after: ToolSurface, operation: string): Change[] {
  const where = operation === "" ? before.name : `${before.name} ${operation}`;
  const [old, now] = [before.operations[operation], after.operations[operation]];
  if (old === undefined || now === undefined) return [];
  // Who granted a profile relies on what it opens, and on what it keeps closed.
  const moved = [
    ...old.profiles.filter((profile) => !now.profiles.includes(profile)).map((profile) => `out of ${profile}`),
    ...now.profiles.filter((profile) => !old.profiles.includes(profile)).map((profile) => `into ${profile}`),
  ];
  const [did, does] = [
    [...old.effects, ...old.marks],
    [...now.effects, ...now.marks],
  ];
  const gained = does.filter((fact) => !did.includes(fact));
  const lost = did.filter((fact) => !does.includes(fact));
  return [
    ...moved.map((how) => change("major", `${where} moves ${how}`)),
    ...gained.map((fact) => change("minor", `${where} gains ${fact}`)),
    ...lost.map((fact) => change("minor", `${where} loses ${fact}`)),
    ...ofSide("input", where, schemaDifferences(branchOf(before, operation), branchOf(after, operation))),
  ];
}

interface Branch extends Schema {
  readonly properties?: Readonly<Record<string, { readonly const?: string; readonly enum?: readonly string[] }>>;
}

/** What an operation asks of the fields. Branches may be shared, so which one it is counts for nothing. */
function branchOf({ by, inputSchema }: ToolSurface, operation: string): Schema {
  if (by === undefined) return {};
  const all = inputSchema["dependentSchemas"] as
    Readonly<Record<string, { readonly oneOf?: readonly Branch[] }>> | undefined;
  const found = all?.[by]?.oneOf?.find(({ properties }) => {
    const choice = properties?.[by];
    return choice?.const === operation || choice?.enum?.includes(operation) === true;
  });
  return { ...found, properties: { ...found?.properties, [by]: {} } };
}

/** The rest of the input: the operations and what each asks for are compared one by one. */
function withoutChoice({ by, inputSchema }: ToolSurface): Schema {
  const { dependentSchemas, properties, ...rest } = inputSchema;
  if (by === undefined) return inputSchema;
  const { [by]: _branches, ...others } = (dependentSchemas ?? {}) as Readonly<Record<string, unknown>>;
  const choice = (properties as Readonly<Record<string, Schema>> | undefined)?.[by];
  const { enum: _names, ...word } = choice ?? {};
  return { ...rest, properties: { ...(properties as object), [by]: word }, dependentSchemas: others };
}

/** Whoever calls is served by inputs that take more, and whoever reads by outputs that say less. */
const BUMPS: Readonly<Record<"input" | "output", Readonly<Record<Kind, Bump>>>> = {
  input: { narrower: "major", wider: "minor", gone: "major", grown: "minor", other: "major", wording: "patch" },
  output: { narrower: "minor", wider: "major", gone: "major", grown: "minor", other: "major", wording: "patch" },
};

function ofSide(side: "input" | "output", where: string, found: readonly Difference[]): Change[] {
  return found.map((one) => change(BUMPS[side][one.kind], `${where}: ${side}${one.where}: ${one.what}`));
}

const change = (bump: Bump, what: string): Change => ({ bump, what });

const ORDER: readonly Bump[] = ["patch", "minor", "major"];

/** What all of them together ask for. */
export function bumpOf(changes: readonly Change[]): Bump | undefined {
  return ORDER.findLast((bump) => changes.some((one) => one.bump === bump));
}

/** The lowest version that may carry such a change. Before 1.0.0 each number stands for the one to the left of it. */
export function versionAfter(version: string, bump: Bump): string {
  const [major = 0, minor = 0, patch = 0] = numbersOf(version);
  const place = major === 0 ? (bump === "major" ? "minor" : "patch") : bump;
  if (place === "major") return `${major + 1}.0.0`;
  return place === "minor" ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

export function isAtLeast(version: string, least: string): boolean {
  const [ours, theirs] = [numbersOf(version), numbersOf(least)];
  const at = [0, 1, 2].find((place) => ours[place] !== theirs[place]);
  return at === undefined || (ours[at] ?? 0) > (theirs[at] ?? 0);
}

const numbersOf = (version: string): number[] => version.split(/[.+-]/, 3).map(Number);

/** Nothing where `version` may carry what changed since `released`; else what changed and what it asks for. */
export function versionProblem(released: Surface, current: Surface, version: string): string | undefined {
  const changes = changesBetween(released, current);
  const bump = bumpOf(changes);
  if (bump === undefined) return undefined;
  const least = versionAfter(released.version, bump);
  if (isAtLeast(version, least)) return undefined;
  const lines = ORDER.toReversed().flatMap((of) =>
    changes.filter((one) => one.bump === of).map(({ what }) => `  ${of}: ${what}`),
  );
  return [
    `The cloud tools differ from those of ${released.version}:`,
    ...lines,
    `This is ${bump}: it needs version ${least}, and package.json says ${version}.`,
  ].join("\n");
}
