import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_ANSWER, fitted, sliceOf } from "./bounds.ts";
import { ROWS } from "./calls.fixture.ts";
import { maskSecrets } from "./secrets.ts";
import { inputOf, toolsetForTest } from "./toolset.fixture.ts";

test("an answer that fits is left as it is", () => {
  const answer = { items: [1, 2], pagination: {} };
  expect(fitted(answer)).toBe(answer);
});

test("long texts are clipped before anything is left out", () => {
  const cut = fitted({ items: Array.from({ length: 20 }, (_, id) => ({ id, text: "x".repeat(4000) })) });
  expect(cut.items).toHaveLength(20);
  expect(cut).toMatchObject({ truncated: true, note: expect.stringContaining("clipped") });
});

test("a list that is too long is shortened, says so, and its paging follows", () => {
  const items = Array.from({ length: 5000 }, (_, id) => ({ id, text: "x".repeat(50) }));
  const page = fitted({ items, pagination: { page: 1 } });
  const kept = (page.items as unknown[]).length;
  expect(kept).toBeGreaterThan(100);
  expect(page.note).toContain(`first ${kept} of 5000`);
  const slice = fitted({
    ...sliceOf(
      items.slice(0, 200).map((item) => ({ ...item, more: "y".repeat(900) })),
      { limit: 200 },
    ),
  });
  const keptSlice = (slice.items as unknown[]).length;
  expect(slice).toMatchObject({ hasMore: true, nextOffset: keptSlice, truncated: true });
});

test("whatever the answer, it becomes small enough and stays JSON", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.integer({ min: 1000, max: 3000 }), (answer, limit) => {
      const cut = fitted(answer as Record<string, unknown>, limit);
      expect(JSON.stringify(cut).length).toBeLessThanOrEqual(
        Math.max(limit, JSON.stringify(answer).length > limit ? limit : Infinity),
      );
    }),
  );
  const deep = { data: { steps: Array.from({ length: 9000 }, (_, step) => ({ step, said: "word ".repeat(20) })) } };
  const cut = fitted(deep);
  expect(JSON.stringify(cut).length).toBeLessThanOrEqual(MAX_ANSWER);
  expect((cut.data as { steps: unknown[] }).steps.length).toBeGreaterThan(10);
});

test("slices of a list cover it once", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (list, limit) => {
      const seen: number[] = [];
      let offset: number | undefined = 0;
      while (offset !== undefined) {
        const slice: ReturnType<typeof sliceOf<number>> = sliceOf(list, { offset, limit });
        seen.push(...slice.items);
        offset = slice.nextOffset;
      }
      expect(seen).toEqual(list);
    }),
  );
});

test.each([
  "password",
  "apiKey",
  "api_key",
  "X-Api-Key",
  "access_token",
  "Authorization",
  "clientSecret",
  "privateKey",
  "Set-Cookie",
])("the text under %s is masked wherever it stands", (key) => {
  const masked = JSON.stringify(maskSecrets({ a: [{ [key]: "hush" }, { b: { [key]: ["hush", { c: "hush" }] } }] }));
  expect(masked.match(/hush/g)).toEqual(key === "" ? null : ["hush"]);
});

test("what is no secret is left alone", () => {
  const plain = {
    tokens: 3,
    total_tokens: 12,
    isPassword: true,
    fieldType: "password",
    properties: { password: { type: "string" } },
  };
  expect(maskSecrets(plain)).toEqual(plain);
});

test("whatever the platform sends, no answer is longer than a model can be given", async () => {
  const long = "x".repeat(3000);
  const thing = {
    id: "x-1",
    name: long,
    description: long,
    eventType: "e",
    packageName: "p",
    credentialName: "c",
    method: "m",
  };
  const many = Array.from({ length: 60 }, () => ({ ...thing, params: { task: long } }));
  const pagination = { page: 1, pages: 1, pageSize: 400, total: 400, hasNext: false, hasPrev: false };
  const whole = {
    ...thing,
    taskId: "t",
    items: many,
    data: many,
    events: many,
    files: many,
    pagination,
    result: long.repeat(50),
  };
  const forms = [
    whole,
    { ...whole, data: { ...thing, params: { long: long.repeat(50) } } },
    many,
    many.map(() => long),
  ];
  let read = 0;
  for (const form of forms) {
    const everything = new Proxy({}, { get: () => () => form });
    for (const [tool, operation, input] of ROWS) {
      const outcome = await toolsetForTest({ answers: everything }).call(tool, inputOf(tool, operation, input));
      if (outcome.kind !== "ok") continue;
      const { length } = JSON.stringify(outcome.structured);
      expect([tool, operation, length <= MAX_ANSWER]).toEqual([tool, operation, true]);
      read += length > MAX_ANSWER / 2 ? 1 : 0;
    }
  }
  // Enough of them had to be cut for this to say something.
  expect(read).toBeGreaterThan(20);
});
