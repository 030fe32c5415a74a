/**
 * Fills the tables of the documents from the source, so that they can't tell of something else. What stands between `<!-- generated: NAME -->` and
 * `<!-- /generated -->` is written anew, and so are the schemas of state documents. `--check` writes nothing and fails where a file would change.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command, Option } from "commander";
import { format, resolveConfig } from "prettier";
import { z } from "zod";
import { buildProgram, everyCommand, GLOBAL_FLAGS } from "../src/cli/program.ts";
import {
  COMMON_ERRORS,
  Config,
  ERROR_CODES,
  ERRORS,
  EVENTS,
  EXIT_LEASE_LOST,
  OPERATIONS,
} from "../src/contract/index.ts";
import { cloudTables } from "./cloud-docs.ts";
import { schemaFiles, stateTables } from "./state-docs.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

const TABLES: Readonly<Record<string, () => string>> = {
  commands: commandsTable,
  "command details": commandDetails,
  "global options": () =>
    table(
      ["option", "what it does"],
      GLOBAL_FLAGS.map(([flags, says]) => [code(flags), says]),
    ),
  "exit codes": exitCodesTable,
  errors: errorsTable,
  config: configTable,
  events: eventsTable,
  operations: operationsTable,
  "common errors": () => COMMON_ERRORS.map(code).join(", "),
  ...stateTables(table),
  ...cloudTables(table),
};

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cellText).join(" | ")} |`;
  return [line(headings), line(headings.map(() => "---")), ...rows.map(line)].join("\n");
}

/** A bar would end the cell, and `<id>` outside of code would be taken for HTML. */
function cellText(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith("`") ? part : part.replaceAll("<", "&lt;")))
    .join("")
    .replaceAll("|", "\\|")
    .replaceAll("\n", " ");
}

const code = (text: string): string => `\`${text}\``;

function commands(): (readonly [Command, string])[] {
  const found: [Command, string][] = [];
  everyCommand(
    buildProgram(() => {}),
    (command, path) => {
      if (path !== "" && path !== "help" && !isHidden(command)) found.push([command, path]);
    },
  );
  return found;
}

/** Commander keeps it private; help is the one place where it shows. */
function isHidden(command: Command): boolean {
  const visible = command.parent?.createHelp().visibleCommands(command.parent);
  return visible !== undefined && !visible.includes(command);
}

function commandsTable(): string {
  const leaves = commands().filter(([command, path]) => command.commands.length === 0 || path === "lease");
  return table(
    ["command", "what it does"],
    leaves.map(([command, path]) => [
      `[\`simlock ${path}\`](#simlock-${path.replaceAll(" ", "-")})`,
      command.summary() || command.description(),
    ]),
  );
}

function commandDetails(): string {
  return commands()
    .filter(([command, path]) => command.commands.length === 0 || path === "lease")
    .map(([command, path]) => {
      const own = command.options.filter((option) => !GLOBAL_FLAGS.some(([flags]) => flags === option.flags));
      const usage = command.usage().replace("[options] [command]", "[options]");
      return [
        `### simlock ${path}`,
        command.description() || command.summary(),
        "```text",
        `simlock ${path} ${usage}`.trim(),
        "```",
        ...(own.length === 0
          ? []
          : [
              table(
                ["option", "what it does"],
                own.map((option) => [code(option.flags), optionSays(option)]),
              ),
            ]),
      ].join("\n\n");
    })
    .join("\n\n")
    .replaceAll("```text\n\n", "```text\n")
    .replaceAll("\n\n```\n", "\n```\n");
}

function optionSays(option: Option): string {
  const choices = option.argChoices === undefined ? "" : ` One of ${option.argChoices.map(code).join(", ")}.`;
  const standard =
    option.defaultValue === undefined || option.negate ? "" : ` Default: ${String(option.defaultValue)}.`;
  return `${option.description}${choices}${standard}`;
}

function exitCodesTable(): string {
  const byExit = new Map<number, string[]>();
  for (const name of ERROR_CODES) {
    const { exitCode } = ERRORS[name];
    byExit.set(exitCode, [...(byExit.get(exitCode) ?? []), name]);
  }
  const rows: (readonly [number, string])[] = [
    [0, "Done."],
    [
      EXIT_LEASE_LOST,
      "The lease ended while `lease` or `with` held it. A `lease-lost` line on standard error says why.",
    ],
    [141, "The reader of our output has gone (128 + SIGPIPE)."],
    ...[...byExit].map(([exit, names]) => [exit, names.map(code).join(", ")] as const),
  ];
  return table(
    ["exit code", "when"],
    rows.toSorted(([a], [b]) => a - b).map(([exit, when]) => [String(exit), when]),
  );
}

function errorsTable(): string {
  return table(
    ["code", "kind", "exit code", "HTTP status", "next step"],
    ERROR_CODES.map((name) => {
      const { kind, exitCode, httpStatus, hint } = ERRORS[name];
      return [code(name), kind, String(exitCode), String(httpStatus), hint ?? "In the error's own `hint`."];
    }),
  );
}

/** What a JSON schema says of one value, as far as our schemas use it. */
interface Shape {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly additionalProperties?: Shape | boolean;
  readonly propertyNames?: Shape;
}

function shapeOf(schema: z.ZodType): Shape {
  // Our schemas are checked data, and JSON Schema is what the library makes of them.
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Shape;
}

function typeText(shape: Shape): string {
  if (shape.const !== undefined) return code(JSON.stringify(shape.const));
  if (shape.enum !== undefined) return shape.enum.map((value) => code(String(value))).join(", ");
  if (shape.anyOf !== undefined) return shape.anyOf.map(typeText).join(" or ");
  if (shape.type === "array") return `list of ${shape.items === undefined ? "values" : typeText(shape.items)}`;
  if (shape.type === "integer") return `whole number${rangeText(shape)}`;
  if (shape.type === "number") return `number${rangeText(shape)}`;
  if (
    shape.type === "object" &&
    shape.propertyNames?.enum !== undefined &&
    typeof shape.additionalProperties === "object"
  ) {
    return `${typeText(shape.additionalProperties)} for each of ${typeText(shape.propertyNames)}`;
  }
  return shape.type ?? "any";
}

const SAFE = Number.MAX_SAFE_INTEGER;
function rangeText({ minimum, maximum }: Shape): string {
  const most = maximum === undefined || maximum === SAFE || maximum === 2_147_483_647 ? undefined : maximum;
  const least = minimum === undefined || minimum === -SAFE ? undefined : minimum;
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}`;
  return least === undefined ? "" : `, at least ${least}`;
}

function configTable(): string {
  const rows: string[][] = [];
  const walk = (shape: Shape, path: string): void => {
    for (const [name, value] of Object.entries(shape.properties ?? {})) {
      const at = path === "" ? name : `${path}.${name}`;
      if (value.properties !== undefined) {
        walk(value, at);
        continue;
      }
      const standard = value.default === undefined ? "–" : code(JSON.stringify(value.default));
      rows.push([code(at), standard, typeText(value), value.description ?? ""]);
    }
  };
  walk(shapeOf(Config), "");
  return table(["key", "default", "value", "meaning"], rows);
}

function eventsTable(): string {
  return table(
    ["event", "payload"],
    Object.entries(EVENTS).map(([name, schema]) => {
      const shape = shapeOf(schema);
      const fields = Object.keys(shape.properties ?? {}).map((field) =>
        code(shape.required?.includes(field) === true ? field : `${field}?`),
      );
      return [code(name), fields.join(", ")];
    }),
  );
}

function operationsTable(): string {
  return table(
    ["operation", "role", "what it does"],
    Object.entries(OPERATIONS).map(([name, { role, summary }]) => [code(name), role, summary]),
  );
}

const BLOCK = /(<!-- generated: ([^>]+?) -->\n)[\s\S]*?(<!-- \/generated -->)/g;

/** The text with every generated block filled anew, in the form that the formatter gives it. */
async function filled(path: string, text: string): Promise<string> {
  const next = text.replaceAll(BLOCK, (_whole, open: string, name: string, close: string) => {
    const make = TABLES[name];
    if (make === undefined)
      throw new Error(`${path}: nothing generates "${name}". Known: ${Object.keys(TABLES).join(", ")}.`);
    return `${open}\n${make()}\n\n${close}`;
  });
  return format(next, { ...(await resolveConfig(path)), filepath: path });
}

const check = process.argv.includes("--check");
const pages = (await readdir(join(root, "docs")))
  .filter((name) => name.endsWith(".md"))
  .map((name) => join("docs", name));
let stale = 0;
for (const page of [...pages, "README.md", "ARCHITECTURE.md"]) {
  const path = join(root, page);
  const text = await readFile(path, "utf8");
  if (text.includes("<!-- generated: ")) await settle(page, text, await filled(path, text));
}

const schemas = schemaFiles();
for (const [page, text] of schemas) {
  const path = join(root, page);
  const there = await readFile(path, "utf8").catch(() => "");
  await settle(page, there, await format(text, { ...(await resolveConfig(path)), filepath: path }));
}
for (const name of await readdir(join(root, "schemas")).catch(() => [])) {
  const page = `schemas/${name}`;
  if (schemas.some(([known]) => known === page)) continue;
  stale += 1;
  if (!check) await rm(join(root, page));
  process.stdout.write(`${page}: ${check ? "comes from no schema. Run `npm run docs`." : "removed"}\n`);
}

async function settle(page: string, there: string, next: string): Promise<void> {
  if (next === there) return;
  stale += 1;
  if (!check) {
    await mkdir(dirname(join(root, page)), { recursive: true });
    await writeFile(join(root, page), next);
  }
  process.stdout.write(`${page}: ${check ? "is not what the source says. Run `npm run docs`." : "written"}\n`);
}
if (check && stale > 0) process.exitCode = 1;
