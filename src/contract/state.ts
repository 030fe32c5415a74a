import { z } from "zod";
import { LeaseId } from "./ids.ts";

/** Simulator state in the daemon: its documents are the state room's, which decodes them strictly; here they are objects. */
const document = z.record(z.string(), z.unknown());
/** A file of the home's journals; never a path. */
const journal = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,128}\.jsonl$/u)
  .describe("The name of the journal that a report names.");

export const StateSnapshotInput = z.strictObject({
  leaseId: LeaseId,
  domains: z.array(z.string().min(1).max(256)).max(1000).optional().describe("The preference domains to read."),
  privacyOf: z.array(z.string().min(1).max(256)).max(1000).optional().describe("The apps whose grants are read."),
  pasteboard: z.boolean().optional().describe("Read the pasteboard too."),
});
export type StateSnapshotInput = z.infer<typeof StateSnapshotInput>;
export const StateSnapshotOutput = z.object({ snapshot: document });

/** `confirm` is judged where the plan is: only the literal `true` changes anything. */
export const StateApplyInput = z.strictObject({
  leaseId: LeaseId,
  plan: document,
  confirm: z.unknown().optional(),
  allowStale: z.boolean().optional(),
});
export type StateApplyInput = z.infer<typeof StateApplyInput>;

/** Goes on with an apply that was cut off, or takes back what of it can be taken back. */
export const StateRecoverInput = z.strictObject({
  leaseId: LeaseId,
  journal,
  how: z.enum(["resume", "rollback"]),
  confirm: z.unknown().optional(),
});
export type StateRecoverInput = z.infer<typeof StateRecoverInput>;
export const StateReportOutput = z.object({ report: document });

/** One operation of an apply that begins, or, with an outcome, has ended. */
export const StateProgress = z.object({
  operationID: z.string(),
  action: z.string(),
  /** From 1. */
  position: z.int(),
  total: z.int(),
  outcome: z.string().optional(),
});
export type StateProgress = z.infer<typeof StateProgress>;
