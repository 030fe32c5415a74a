import fc from "fast-check";
import { expect, test } from "vitest";
import { listingOf } from "./listing.ts";
import { allowedOperations, allowsTool, policyWhere } from "./policy.ts";
import { readProfile } from "./profile-file.ts";
import { POLICY_PROFILES, policyForProfile } from "./profiles.ts";
import type { Effect, Facts, Tool } from "./tool.ts";

const facts: Record<string, Facts> = {
  look: { effects: ["read"] },
  peek: { effects: ["read"], reveals: true },
  dial: { effects: ["read"], dials: true },
  put: { effects: ["write"] },
  task: { effects: ["write"], billed: true },
  wipe: { effects: ["write", "destructive"] },
  buy: { effects: ["write", "commerce"] },
  fresh: { effects: [] },
};
const bundle = {
  name: "things",
  description: "Things.",
  effects: ["read", "write", "destructive", "commerce"],
  operations: { field: "operation", facts },
} as unknown as Tool;
const single = { name: "look", description: "Look.", effects: ["read"] } as unknown as Tool;
const buy = { name: "buy", description: "Buy.", effects: ["commerce"] } as unknown as Tool;
const tools = [single, bundle, buy];

test.each([
  ["readonly", ["look"], ["look", "things"]],
  ["safe-writes", ["look", "put"], ["look", "things"]],
  ["no-commerce", ["look", "peek", "dial", "put", "task", "wipe"], ["look", "things"]],
  ["full", ["look", "peek", "dial", "put", "task", "wipe", "buy"], ["look", "things", "buy"]],
] as const)("the profile %s is computed from effects", (profile, operations, names) => {
  const policy = policyForProfile(profile, tools);
  expect(allowedOperations(policy, bundle)).toEqual(operations);
  expect([...policy.toolAllowlist]).toEqual(names);
});

test("an operation that nobody has classified is open in no profile, whatever rule it is given", () => {
  const effect = fc.constantFrom<Effect>("read", "write", "destructive", "commerce");
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.uniqueArray(effect)),
      fc.constantFrom(...POLICY_PROFILES),
      (map, profile) => {
        const generated = Object.fromEntries(Object.entries(map).map(([name, effects]) => [name, { effects }]));
        const tool = { ...bundle, operations: { field: "operation", facts: generated } };
        for (const policy of [policyForProfile(profile, [tool]), policyWhere([tool], () => true)]) {
          for (const name of allowedOperations(policy, tool) ?? []) expect(map[name]).not.toEqual([]);
        }
      },
    ),
  );
});

test("a narrowed bundle says what is open and is annotated by that alone", () => {
  const [, listed] = listingOf(tools, policyForProfile("readonly", tools));
  expect(listed?.description).toBe("Things. Available for this credential: look.");
  expect(listed?.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  expect(listingOf(tools, policyForProfile("full", tools)).map(({ tool }) => tool.name)).toEqual([
    "look",
    "things",
    "buy",
  ]);
});

test("a bundle none of whose operations is open is not there", () => {
  const policy = { toolAllowlist: new Set(["things"]), operationAllowlist: new Map([["things", new Set(["other"])]]) };
  expect(allowsTool(policy, bundle)).toBe(false);
  expect(listingOf(tools, policy)).toEqual([]);
});

test("a profile file narrows its base", () => {
  const profile = readProfile(
    {
      base: "no-commerce",
      tools: { things: ["look", "put"] },
      devices: ["d1"],
      billedCallsPerHour: 3,
      confirm: ["billed"],
    },
    tools,
  );
  expect(allowedOperations(profile.policy, bundle)).toEqual(["look", "put"]);
  expect(allowsTool(profile.policy, single)).toBe(false);
  expect(profile).toMatchObject({ devices: new Set(["d1"]), billedCallsPerHour: 3, confirm: new Set(["billed"]) });
  expect(allowedOperations(readProfile({ base: "readonly", tools: { things: "all" } }, tools).policy, bundle)).toEqual([
    "look",
  ]);
  expect(readProfile({ base: "readonly" }, tools).policy).toEqual(policyForProfile("readonly", tools));
});

test.each([
  [{}, /base/],
  [{ base: "readonly", tols: {} }, /tols/],
  [{ base: "readonly", tools: { nothing: "all" } }, /no such tool/],
  [{ base: "readonly", tools: { buy: "all" } }, /does not allow it/],
  [{ base: "readonly", tools: { things: ["wipe"] } }, /does not allow the operation wipe/],
  [{ base: "readonly", tools: { things: ["lok"] } }, /no operation lok/],
  [{ base: "readonly", tools: { look: ["x"] } }, /no operations/],
  [{ base: "readonly", billedCallsPerHour: -1 }, /billedCallsPerHour/],
])("a profile file that cannot mean what it says is refused at the start: %j", (content, problem) => {
  expect(() => readProfile(content, tools)).toThrow(problem);
  expect(() => readProfile(content, tools)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
});
