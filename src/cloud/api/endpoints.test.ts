import { expect, test } from "vitest";
import { z } from "zod";
import { allEndpoints, endpoints } from "./endpoints.ts";

test("no two endpoints share a name, or a method and path", () => {
  expect(new Set(allEndpoints.map(({ name }) => name)).size).toBe(allEndpoints.length);
  const routes = allEndpoints.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, "{}")}`);
  expect(new Set(routes).size).toBe(allEndpoints.length);
});

test("names are made of the domain and the operation", () => {
  for (const [domain, operations] of Object.entries(endpoints)) {
    for (const [operation, { name }] of Object.entries(operations)) expect(name).toBe(`${domain}.${operation}`);
  }
});

test("what may be sent again only reads, or needs a key", () => {
  const repeated = allEndpoints.filter(({ retry }) => retry === "safe");
  expect(repeated.every(({ effects }) => effects.join() === "read")).toBe(true);
  expect(allEndpoints.filter(({ retry }) => retry === "withKey").map(({ name }) => name)).toEqual(["tasks.run"]);
});

test("every deletion is called destructive, unless it only undoes a setting", () => {
  const mild = allEndpoints.filter(({ method, effects }) => method === "DELETE" && !effects.includes("destructive"));
  expect(mild.map(({ name }) => name).sort()).toEqual([
    "deviceApps.leaveKiosk",
    "deviceApps.revokePermission",
    "deviceSettings.disconnectProxy",
    "deviceSettings.resetLocation",
    "media.end",
    "screen.clearText",
  ]);
});

test("what costs money says so", () => {
  const paid = allEndpoints.filter(({ effects }) => effects.includes("commerce")).map(({ name }) => name);
  expect(paid.sort()).toEqual([
    "connect.buy",
    "connect.cancel",
    "devices.create",
    "devices.resume",
    "devices.stop",
    "devices.terminate",
    "tasks.run",
    "tasks.stream",
  ]);
});

test("requests are strict: a field that the API does not know is an error of the caller", () => {
  for (const { declared } of allEndpoints) {
    if (declared.query !== undefined) expect(isStrict(declared.query)).toBe(true);
    if (declared.body?.kind === "json") expect(isStrict(declared.body.schema)).toBe(true);
  }
});

function isStrict(schema: z.ZodObject): boolean {
  return schema.def.catchall instanceof z.ZodNever;
}

test("an answer keeps what is declared and drops the rest", () => {
  const schema = endpoints.devices.get.declared.answer.schema;
  const device = schema.parse({ $schema: "x", id: "dev-1", state: "parked", userId: "u", ownerId: "o", extra: 1 });
  expect(device).toEqual({ id: "dev-1", state: "parked", ownerId: "o" });
});

test("the counts of devices are numbers only", () => {
  const schema = endpoints.devices.count.declared.answer.schema;
  expect(schema.parse({ $schema: "https://x", android_cloud_phone: 3 })).toEqual({ android_cloud_phone: 3 });
});

test("a tree of the screen keeps its nodes, leaves out what is none, and ends", () => {
  const schema = endpoints.screen.uiState.declared.answer.schema;
  const state = schema.parse({
    a11y_tree: {
      className: "Root",
      userId: 1,
      children: [{ text: "Save", isClickable: true, children: null }, 7, null],
    },
    ime_tree: {},
  });
  expect(state).toEqual({
    a11y_tree: { className: "Root", children: [{ text: "Save", isClickable: true, children: null }] },
  });
  let deep: object = { text: "end" };
  for (let depth = 0; depth < 100_000; depth += 1) deep = { children: [deep] };
  expect(schema.safeParse({ a11y_tree: deep }).success).toBe(true);
  expect(schema.parse({ a11y_tree: [1] }).a11y_tree).toBeUndefined();
});
