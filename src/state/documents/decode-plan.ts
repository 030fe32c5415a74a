import type { ExecutionReport, Plan } from "../types.ts";
import { boundProblem } from "./bounded.ts";
import { PlanSchema, ReportSchema } from "./plan-schema.ts";
import { type Problem, problemAt, problemsOf, stateInvalid } from "./problems.ts";

/**
 * A plan's form: every field known, one device, ids that name one operation each. What an operation's arguments may be, and whether the device exists,
 * is decided where it is carried out. Throws STATE_INVALID.
 */
export function decodePlan(input: unknown, { what = "plan" }: { readonly what?: string } = {}): Plan {
  const bound = boundProblem(input);
  if (bound !== undefined) throw stateInvalid(what, [bound]);
  const parsed = PlanSchema.safeParse(input);
  if (!parsed.success) throw stateInvalid(what, problemsOf(parsed.error));
  const problems = planProblems(parsed.data);
  if (problems.length > 0) throw stateInvalid(what, problems);
  return parsed.data;
}

/** A report, as a journal holds it. Throws STATE_INVALID. */
export function decodeReport(input: unknown, { what = "report" }: { readonly what?: string } = {}): ExecutionReport {
  const bound = boundProblem(input);
  if (bound !== undefined) throw stateInvalid(what, [bound]);
  const parsed = ReportSchema.safeParse(input);
  if (!parsed.success) throw stateInvalid(what, problemsOf(parsed.error));
  const problems = planProblems(parsed.data.plan).map(({ pointer, message }) => ({
    pointer: `/plan${pointer}`,
    message,
  }));
  if (problems.length > 0) throw stateInvalid(what, problems);
  return parsed.data;
}

function planProblems({ targetUDID, operations }: Plan): readonly Problem[] {
  const seen = new Set<string>();
  return operations.flatMap((operation, index) => {
    const problems: Problem[] = [];
    if (operation.targetUDID !== targetUDID) {
      problems.push(problemAt(["operations", index, "targetUDID"], "must be the plan's own targetUDID"));
    }
    if (seen.has(operation.id)) {
      problems.push(problemAt(["operations", index, "id"], "is the id of an earlier operation; ids are unique"));
    }
    seen.add(operation.id);
    return problems;
  });
}
