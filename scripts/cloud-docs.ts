/** The tables of the cloud tools' contract and environment, made of what the source says. */
import { cloudTools } from "../src/cloud/index.ts";
import { HTTP_ENVIRONMENT } from "../src/mcp/http/environment.ts";
import { POLICY_PROFILES, ProfileFile, type PolicyProfile } from "../src/tool/index.ts";
import { currentSurface, TOOL_ERRORS } from "./tool-surface.ts";

type Table = (headings: readonly string[], rows: readonly (readonly string[])[]) => string;

export function cloudTables(table: Table): Readonly<Record<string, () => string>> {
  return {
    "cloud tools": () => toolsTable(table),
    "cloud profiles": () => profilesTable(table),
    "cloud policy file": () =>
      table(
        ["key", "what it says"],
        Object.entries(ProfileFile.shape).map(([name, schema]) => [code(name), schema.description ?? ""]),
      ),
    "cloud errors": () =>
      table(
        ["code", "when"],
        Object.entries(TOOL_ERRORS).map(([name, says]) => [code(name), says]),
      ),
    "http environment": () => table(ENVIRONMENT_HEADINGS, [...httpVariables(), ...OF_BOTH]),
    "stdio environment": () =>
      table(ENVIRONMENT_HEADINGS, [
        KEY_VARIABLE,
        ...httpVariables().filter(([name = ""]) => USED_ON_STDIO.has(name.slice(1, -1))),
        ...OF_BOTH,
      ]),
  };
}

const code = (text: string): string => `\`${text}\``;

function toolsTable(table: Table): string {
  const { tools } = currentSurface("");
  return table(
    ["tool", "operation", "effects", "open in"],
    tools.flatMap(({ name, title, by, operations }) =>
      Object.entries(operations).map(([operation, { effects, marks, profiles }], at) => [
        at === 0 ? `${code(name)}: ${title}` : "",
        by === undefined ? "–" : code(at === 0 ? `${by}: ${operation}` : operation),
        [...effects, ...marks].join(", "),
        profiles.length === POLICY_PROFILES.length ? "all" : profiles.map(code).join(", "),
      ]),
    ),
  );
}

const PROFILES: Readonly<Record<PolicyProfile, string>> = {
  readonly:
    "Reads, and of those none that reveals a secret, hands out a file of the device, or dials a host of your choice.",
  "safe-writes": "Nothing that costs, destroys, reveals or dials; so no task runs.",
  "no-commerce": "The default. No buying, and no ending of what is paid for; task runs, which cost credits, are open.",
  full: "Everything that is classified.",
};

function profilesTable(table: Table): string {
  const { tools } = currentSurface("");
  const all = tools.flatMap(({ operations }) => Object.values(operations)).length;
  return table(
    ["profile", "tools", "operations", "what is open"],
    POLICY_PROFILES.map((profile) => {
      const open = tools.map(({ operations }) =>
        Object.values(operations).filter(({ profiles }) => profiles.includes(profile)),
      );
      return [
        code(profile),
        `${open.filter((operations) => operations.length > 0).length} of ${cloudTools.length}`,
        `${open.flat().length} of ${all}`,
        PROFILES[profile],
      ];
    }),
  );
}

const ENVIRONMENT_HEADINGS = ["variable", "default", "what it does"];
const KEY_VARIABLE = [
  code("MOBILERUN_CLOUD_API_KEY"),
  "–",
  "Your API key. It must be set, unless the platform is a virtual one. Over HTTP each request brings its own.",
];
const OF_BOTH = [
  [
    code("SIMLOCK_VIRTUAL"),
    code("0"),
    "1 brings a platform of its own, in memory, which takes any key that begins with `dr_sk_`; `--virtual` does the same.",
  ],
];
/** The others are checked there too. */
const USED_ON_STDIO = new Set(["MOBILERUN_BASE_URL", "MCP_POLICY_PROFILE", "MCP_POLICY_FILE", "MCP_CONFIRM"]);

function httpVariables(): string[][] {
  const defaults: Readonly<Record<string, unknown>> = HTTP_ENVIRONMENT.parse({});
  return Object.entries(HTTP_ENVIRONMENT.shape).map(([name, schema]) => {
    const value = defaults[name];
    const text = Array.isArray(value) ? value.join(",") : String(value ?? "");
    return [code(name), text === "" ? "–" : code(text), schema.description ?? ""];
  });
}
