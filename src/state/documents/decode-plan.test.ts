import { expect, test } from "vitest";
import { decodePlan, decodeReport } from "./decode-plan.ts";
import { pointers, refusal } from "./documents.fixture.ts";

const operation = {
  id: "001-boot",
  action: "boot",
  targetUDID: "U",
  arguments: {},
  risk: "reversible",
  requiresConfirmation: true,
  reason: "it is to be booted",
};
const plan = {
  profileName: "demo",
  targetUDID: "U",
  generatedAt: "2026-08-18T00:00:00Z",
  diff: [{ path: "spec.power", kind: "change", current: "shutdown", desired: "booted" }],
  operations: [operation],
  warnings: [],
};

test("a plan is read as it was written", () => {
  expect(decodePlan(plan)).toEqual(plan);
  const report = { plan, status: "dryRun", receipts: [] };
  expect(decodeReport(report)).toEqual(report);
});

test.each([
  ["for every device", { ...plan, targetUDID: "all", operations: [] }, ["/targetUDID"]],
  ["for no device", { ...plan, targetUDID: "", operations: [] }, ["/targetUDID"]],
  [
    "with an operation on another device",
    { ...plan, operations: [{ ...operation, targetUDID: "V" }] },
    ["/operations/0/targetUDID"],
  ],
  ["with one id twice", { ...plan, operations: [operation, operation] }, ["/operations/1/id"]],
  ["with an unknown action", { ...plan, operations: [{ ...operation, action: "explode" }] }, ["/operations/0/action"]],
  [
    "with an action that every object has",
    { ...plan, operations: [{ ...operation, action: "constructor" }] },
    ["/operations/0/action"],
  ],
  ["with an unknown field", { ...plan, operations: [{ ...operation, argv: ["rm"] }] }, ["/operations/0"]],
  ["that is none", null, [""]],
])("a plan %s is refused, and so is a report on it", (_what, input, expected) => {
  expect(pointers(refusal(() => decodePlan(input)))).toEqual(expected);
  const report = { plan: input, status: "dryRun", receipts: [] };
  expect(pointers(refusal(() => decodeReport(report)))).toEqual(expected.map((pointer) => `/plan${pointer}`));
});
