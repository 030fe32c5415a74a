import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, test } from "vitest";
import { listedSchemas } from "../../tool/index.ts";
import { SECRET } from "./backend.fixture.ts";
import { ROWS } from "./calls.fixture.ts";
import { ALL_TOOL_NAMES, cloudTools } from "./index.ts";
import { inputOf, toolsetForTest } from "./toolset.fixture.ts";

const label = (tool: string, operation: string | undefined) =>
  operation === undefined ? tool : `${tool} ${operation}`;
const rows = ROWS.map((row) => [label(row[0], row[1]), row] as const);

test("there are 34 tools, in the order in which clients know them", () => {
  expect(ALL_TOOL_NAMES).toEqual(
    `list_devices get_device get_device_screenshot get_device_ui_state list_apps_on_device create_device
     terminate_device list_workflow_resources get_workflow_resource create_action create_trigger create_flow
     manage_flow workflow_events webhooks list_credentials list_credential_packages run_task get_task list_tasks
     stop_task send_task_message get_task_media manage_device device_action manage_device_apps manage_device_files
     configure_device manage_esim apps manage_credentials proxies connect platform_catalog`.split(/\s+/),
  );
  expect(ALL_TOOL_NAMES).toHaveLength(34);
});

test("every operation of every tool has a row here", () => {
  const all = cloudTools.flatMap(({ name, operations }) =>
    operations === undefined ? [label(name, undefined)] : Object.keys(operations.facts).map((op) => label(name, op)),
  );
  expect(new Set(rows.map(([name]) => name))).toEqual(new Set(all));
});

test.each(rows)(
  "%s makes the calls that it stands for, and its answer is read through what it declares",
  async (_, row) => {
    const [tool, operation, input, expected] = row;
    const { call, calls, events } = toolsetForTest();
    const outcome = await call(tool, inputOf(tool, operation, input));
    expect(outcome).toMatchObject({ kind: "ok" });
    expect(calls.map(({ method, args }) => [method, ...args])).toEqual(expected);
    expect(events).toMatchObject([
      { toolName: tool, outcome: "ok", ...(operation === undefined ? {} : { operation }) },
    ]);
  },
);

test.each(rows)("%s: nothing of its answer is lost on the way to the caller", async (_, [tool, operation, input]) => {
  const declared = cloudTools.find(({ name }) => name === tool);
  const { call, tools } = toolsetForTest();
  const bound = tools.find(({ name }) => name === tool);
  const given = declared?.input.parse(inputOf(tool, operation, input)) ?? {};
  const answer = await bound?.handle(given, { signal: new AbortController().signal });
  expect(await call(tool, inputOf(tool, operation, input))).toMatchObject({ kind: "ok", structured: answer });
});

test.each(rows)("%s: a list that comes in parts can be asked for to its end", async (_, [tool, operation, input]) => {
  const outcome = await toolsetForTest().call(tool, inputOf(tool, operation, input));
  const answer = "structured" in outcome ? outcome.structured : {};
  const declared = cloudTools.find(({ name }) => name === tool);
  const takes = operation === undefined ? declared?.input.shape : branchOf(tool, operation).properties;
  if ("pagination" in answer) expect(Object.keys(takes ?? {})).toEqual(expect.arrayContaining(["page", "pageSize"]));
  if ("hasMore" in answer) expect(Object.keys(takes ?? {})).toContain("offset");
});

const REVEALING = [
  "connect get_proxy_login",
  "connect get_user_login",
  "device_action execute_script",
  "manage_device get_fingerprint",
  "manage_device_files download",
  "webhooks create",
  "webhooks rotate_secret",
];

test("a secret that the platform sends leaves only where it is the point, and never under readonly", async () => {
  const leaking = { full: new Set<string>(), readonly: new Set<string>() };
  for (const profile of ["full", "readonly"] as const) {
    for (const [name, [tool, operation, input]] of rows) {
      const outcome = await toolsetForTest({ profile }).call(tool, inputOf(tool, operation, input));
      if (JSON.stringify(outcome).includes(SECRET)) leaking[profile].add(name);
    }
  }
  expect([...leaking.full].sort()).toEqual(REVEALING);
  expect([...leaking.readonly]).toEqual([]);
});

test("what the caller types as a secret is not said back", async () => {
  for (const [, [tool, operation, input]] of rows) {
    const outcome = await toolsetForTest().call(tool, inputOf(tool, operation, input));
    expect(JSON.stringify(outcome)).not.toContain("typed-by-user");
  }
});

describe("schemas", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const inputs = new Map<string, ReturnType<typeof ajv.compile>>();
  const outputs = new Map<string, ReturnType<typeof ajv.compile>>();
  beforeAll(() => {
    for (const tool of cloudTools) {
      const { inputSchema, outputSchema } = listedSchemas(tool);
      inputs.set(tool.name, ajv.compile(inputSchema));
      outputs.set(tool.name, ajv.compile(outputSchema));
    }
  });

  test("a tool's schemas are objects at the root, with nothing there that model APIs refuse", () => {
    for (const tool of cloudTools) {
      const { inputSchema, outputSchema } = listedSchemas(tool);
      expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      for (const schema of [inputSchema, outputSchema]) {
        expect(schema).toMatchObject({ type: "object" });
        expect(Object.keys(schema)).not.toEqual(
          expect.arrayContaining([expect.stringMatching(/^(oneOf|anyOf|allOf)$/)]),
        );
      }
      expect(tool.title).not.toBe("");
      expect(tool.description.length).toBeGreaterThan(30);
    }
  });

  test.each(rows)("%s: its answer meets the output schema", async (_, [tool, operation, input]) => {
    const outcome = await toolsetForTest().call(tool, inputOf(tool, operation, input));
    const validate = outputs.get(tool);
    const valid = validate?.("structured" in outcome && outcome.structured);
    expect({ valid, errors: validate?.errors ?? null }).toEqual({ valid: true, errors: null });
  });

  test.each(rows.filter(([, row]) => row[1] !== undefined))(
    "%s: the schema and the tool agree on what is missing and what is foreign",
    (_, [name, operation, input]) => {
      const tool = cloudTools.find((known) => known.name === name);
      const schema = inputs.get(name);
      const agreed = (given: Record<string, unknown>) => {
        const byTool = tool?.input.safeParse(given).success;
        return [schema?.(given), byTool];
      };
      const good = inputOf(name, operation, input);
      expect(agreed(good)).toEqual([true, true]);
      expect(agreed({ ...good, noSuchField: 1 })).toEqual([false, false]);
      const branch = branchOf(name, operation);
      const missing = `${name} ${tool?.operations?.field}=${operation} requires `;
      for (const field of Object.keys(good)) {
        const { [field]: _left, ...rest } = good;
        const refusals = tool?.input.safeParse(rest).error?.issues.map(({ message }) => message) ?? [];
        const needed = refusals.some((message) => message.startsWith(missing));
        if (needed || branch.required.includes(field)) expect([field, ...agreed(rest)]).toEqual([field, false, false]);
      }
      const foreign = Object.keys(tool?.input.shape ?? {}).filter((field) => !(field in branch.properties));
      for (const field of foreign) {
        const row = ROWS.find(([of, , values]) => of === name && field in values);
        if (row === undefined) continue;
        expect([field, ...agreed({ ...good, [field]: row[2][field] })]).toEqual([field, false, false]);
      }
    },
  );

  test("what all of them take to list stays within what a model can be given", () => {
    const listed = cloudTools.map((tool) => JSON.stringify({ ...listedSchemas(tool), about: tool.description }));
    expect(listed.join("").length).toBeLessThan(110_000);
    for (const [at, text] of listed.entries())
      expect([cloudTools[at]?.name, text.length < 10_000]).toEqual([cloudTools[at]?.name, true]);
  });
});

interface Branch {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
}

function branchOf(name: string, operation: string | undefined): Branch {
  const tool = cloudTools.find((known) => known.name === name);
  if (tool?.operations === undefined) throw new Error(`${name} has no operations`);
  const { field } = tool.operations;
  const { dependentSchemas } = listedSchemas(tool).inputSchema as {
    dependentSchemas?: Record<string, { oneOf: Branch[] }>;
  };
  const found = dependentSchemas?.[field]?.oneOf.find(({ properties }) => {
    const chosen = properties[field] as { const?: string; enum?: string[] };
    return chosen.const === operation || chosen.enum?.includes(operation ?? "") === true;
  });
  if (found === undefined) throw new Error(`${name} has no branch for ${operation}`);
  return { ...found, required: [field, ...(found.required ?? [])] };
}
