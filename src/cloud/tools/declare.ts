import { z } from "zod";
import type { Effect, Facts, Operations, Tool } from "../../tool/index.ts";
import { BackendError } from "../backend/errors.ts";
import { cut, fitted } from "./bounds.ts";
import { maskSecrets } from "./secrets.ts";
import type { Use } from "./use.ts";

/** A tool of this room: made once for the process, given its backend at each call. */
export interface CloudTool extends Omit<Tool, "handle" | "devicesOf"> {
  /** The devices that a call acts on without naming them. */
  readonly devices?: DevicesOf;
  run(input: Record<string, unknown>, use: Use): Promise<Record<string, unknown>>;
}

export type DevicesOf = (input: Record<string, unknown>, use: Use) => Promise<readonly string[]>;

export type Shape = Readonly<Record<string, z.ZodType>>;
type Given<F extends Shape, N extends keyof F, M extends keyof F> = { readonly [K in N]: z.output<F[K]> } & {
  readonly [K in M]?: z.output<F[K]> | undefined;
};

interface Answering extends Facts {
  readonly answer: z.ZodObject;
  /** The answer holds a secret that is said on purpose, once. */
  readonly tellsSecret?: boolean;
}

export interface OneOperation<
  F extends Shape,
  N extends keyof F,
  M extends keyof F,
  A extends z.ZodObject,
> extends Answering {
  /** Fields that it can't do without, and fields that it takes. All others are refused. */
  readonly needs?: readonly N[];
  readonly may?: readonly M[];
  /** Of these it needs at least one. */
  readonly someOf?: readonly (N | M)[];
  readonly answer: A;
  /** What is wrong with the fields together, if anything. */
  check?(input: Given<F, N, M>): string | undefined;
  run(input: Given<F, N, M>, use: Use): Promise<z.input<A>>;
}

type Loose = OneOperation<Shape, string, string, z.ZodObject>;
/** Keeps the types of one operation while it stands among others. */
type Declare<F extends Shape> = <
  A extends z.ZodObject,
  N extends keyof F & string = never,
  M extends keyof F & string = never,
>(
  operation: OneOperation<F, N, M, A>,
) => Loose;

export interface Head {
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

export interface BundleHead<F extends Shape> extends Head {
  /** The input field that chooses, and what its fields are called in errors. */
  readonly by: string;
  readonly choice?: string;
  readonly noun?: "field" | "filter";
  readonly devices?: DevicesOf;
  readonly fields: F;
}

/** A tool that does one of several things. Each names the fields it needs and takes, both in the schema and in what it is refused with. */
export function bundle<const F extends Shape>(
  head: BundleHead<F>,
  declare: (operation: Declare<F>) => Readonly<Record<string, Loose>>,
): CloudTool {
  const operations = declare((operation) => operation as unknown as Loose);
  const names = Object.keys(operations);
  const choice = z.enum(names as [string, ...string[]]);
  const partial = Object.fromEntries(Object.entries(head.fields).map(([name, type]) => [name, type.optional()]));
  const input = z
    .strictObject({ [head.by]: head.choice === undefined ? choice : choice.describe(head.choice), ...partial })
    .superRefine((value, context) => {
      const operation = operations[String(value[head.by])];
      const wrong = operation === undefined ? undefined : wrongWith(head, operation, value);
      if (wrong !== undefined) context.addIssue({ code: "custom", message: wrong });
    })
    // Below the root: some model APIs refuse a tool whose schema has oneOf, anyOf or allOf at the root.
    .meta({ dependentSchemas: { [head.by]: { oneOf: branchesOf(head.by, operations) } } });
  return {
    name: head.name,
    title: head.title,
    description: head.description,
    input,
    output: togetherOf(Object.values(operations).map(({ answer }) => answer)),
    effects: effectsOf(Object.values(operations)),
    operations: factsOf(head.by, operations),
    openWorld: true,
    ...(head.devices === undefined ? {} : { devices: head.devices }),
    async run(given, use) {
      const operation = operations[String(given[head.by])];
      if (operation === undefined) throw new BackendError("invalid_input", `${head.name} has no such operation.`);
      return answered(head.name, operation, await operation.run(given, use));
    },
  };
}

/** A tool that does one thing. */
export function single<I extends z.ZodObject, A extends z.ZodObject>(
  tool: Head &
    Facts & {
      readonly input: I;
      readonly answer: A;
      readonly idempotent?: boolean;
      readonly devices?: DevicesOf;
      run(input: z.output<I>, use: Use): Promise<z.input<A>>;
    },
): CloudTool {
  const { answer, run, ...rest } = tool;
  return {
    ...rest,
    output: togetherOf([answer]),
    openWorld: true,
    run: async (input, use) =>
      answered(tool.name, { effects: tool.effects, answer }, await run(input as z.output<I>, use)),
  };
}

/** Only what is declared, without secrets, and no longer than an answer may be. */
function answered(tool: string, how: Answering, raw: unknown): Record<string, unknown> {
  const parsed = how.answer.safeParse(raw);
  if (!parsed.success) {
    throw new BackendError("upstream_error", `${tool}: Mobilerun answered with something that cannot be read.`);
  }
  const safe = how.tellsSecret === true ? parsed.data : (maskSecrets(parsed.data) as Record<string, unknown>);
  return fitted(safe);
}

function wrongWith(head: BundleHead<Shape>, operation: Loose, value: Record<string, unknown>): string | undefined {
  const noun = head.noun ?? "field";
  const where = `${head.by}=${String(value[head.by])}`;
  const given = Object.keys(value).filter((key) => key !== head.by && value[key] !== undefined);
  const missing = (operation.needs ?? []).filter((name) => !given.includes(name));
  if (missing.length > 0) {
    return `${head.name} ${where} requires ${noun === "filter" ? "filter: " : ""}${missing.join(", ")}`;
  }
  const takes = taken(operation);
  const foreign = given.filter((name) => Object.hasOwn(head.fields, name) && !takes.includes(name));
  if (foreign.length > 0) {
    return `${noun} ${foreign.join(", ")} is not valid for ${where}; allowed ${noun}s: ${takes.join(", ") || "none"}`;
  }
  if (operation.someOf !== undefined && !operation.someOf.some((name) => given.includes(name))) {
    return `${head.name} ${where} requires at least one of ${operation.someOf.join(", ")}`;
  }
  const wrong = operation.check?.(value as never);
  return wrong === undefined ? undefined : `${head.name} ${where}: ${wrong}`;
}

const taken = (operation: Pick<Loose, "needs" | "may">): string[] => [
  ...(operation.needs ?? []),
  ...(operation.may ?? []),
];

/** What the fields must be for each operation: one branch for all those that need and take the same. */
function branchesOf(by: string, operations: Readonly<Record<string, Loose>>): unknown[] {
  const alike = new Map<string, [Loose, ...string[]]>();
  for (const [name, operation] of Object.entries(operations)) {
    const key = JSON.stringify([operation.needs ?? [], operation.may ?? [], operation.someOf ?? []]);
    alike.set(key, [...(alike.get(key) ?? [operation]), name] as [Loose, ...string[]]);
  }
  return [...alike.values()].map(([{ needs = [], someOf, ...operation }, ...names]) => ({
    properties: {
      [by]: names.length === 1 ? { const: names[0] } : { enum: names },
      ...Object.fromEntries(taken({ needs, ...operation }).map((field) => [field, {}])),
    },
    ...(needs.length === 0 ? {} : { required: needs }),
    additionalProperties: false,
    ...(someOf === undefined ? {} : { anyOf: someOf.map((field) => ({ required: [field] })) }),
  }));
}

const FACTS = ["reveals", "dials", "billed", "anyDevice"] as const;

function factsOf(field: string, operations: Readonly<Record<string, Loose>>): Operations {
  const facts = Object.entries(operations).map(([name, operation]): [string, Facts] => [
    name,
    {
      effects: operation.effects,
      ...Object.fromEntries(FACTS.filter((fact) => operation[fact] === true).map((fact) => [fact, true])),
    },
  ]);
  return { field, facts: Object.fromEntries(facts) };
}

function effectsOf(operations: readonly Facts[]): readonly Effect[] {
  return [...new Set(operations.flatMap(({ effects }) => effects))];
}

/**
 * What any of the answers may hold, keys that only the platform knows included. Every key is optional: an answer that was cut may lack one. A key that means different things in
 * different answers is passed on as it is, since it was read through its own answer before, and shows all its forms.
 */
function togetherOf(answers: readonly z.ZodObject[]): z.ZodObject {
  const keys = new Map<string, Set<z.ZodType>>();
  for (const answer of answers) {
    for (const [key, type] of Object.entries(answer.shape as Shape)) {
      keys.set(key, (keys.get(key) ?? new Set()).add(type));
    }
  }
  const shape = [...keys].map(([key, types]): [string, z.ZodType] => {
    const [only, ...others] = [...types];
    if (only !== undefined && others.length === 0) return [key, only.optional()];
    const forms = lazyForms([...types]);
    return [key, z.unknown().optional().meta(forms)];
  });
  const together = z.object({ ...Object.fromEntries(shape), ...cut });
  const others = answers.find(({ def }) => def.catchall !== undefined)?.def.catchall;
  return others === undefined ? together : together.catchall(others);
}

/** Made when the tools are listed: a process that never lists them need not wait for it. */
function lazyForms(types: readonly z.ZodType[]): { anyOf: unknown[] } {
  let forms: unknown[] | undefined;
  return {
    get anyOf() {
      forms ??= formsOf(types);
      return forms;
    },
  };
}

function formsOf(types: readonly z.ZodType[]): unknown[] {
  const forms = types.map((type) => {
    const { $schema: _, ...form } = z.toJSONSchema(type, { io: "output", unrepresentable: "any" });
    return JSON.stringify(form);
  });
  return [...new Set(forms)].map((form) => JSON.parse(form) as unknown);
}
