import { z } from "zod";
import type {
  DiffEntry,
  ExecutionReport,
  FieldVerdict,
  Operation,
  OperationAction,
  Plan,
  Receipt,
  StateDiff,
} from "../types.ts";
import type { ShapeOf } from "./rule.ts";
import { udid } from "./text-rules.ts";

/**
 * What differs, what would be done and what was done. Strict: a plan is carried out, so what is not known in it is refused. An operation's arguments
 * are open here; what each action takes is checked where the command lines are made.
 */

const Json = z.json();

export const DiffEntrySchema = z.strictObject({
  path: z.string().describe("`spec.power`, `spec.applications[com.acme.demo].running`, …"),
  kind: z
    .enum(["add", "change", "remove", "unsupported", "unknown"])
    .describe("`unknown`: what is there could not be read, so it counts neither as equal nor as different."),
  current: Json.exactOptional(),
  desired: Json.exactOptional(),
  note: z.string().exactOptional(),
  sensitive: z
    .literal(true)
    .exactOptional()
    .describe("The values are secrets, and are masked wherever the entry is shown."),
} satisfies ShapeOf<DiffEntry>);

export const DiffSchema = z.strictObject({
  profileName: z.string(),
  targetUDID: udid(),
  hasChanges: z
    .boolean()
    .describe(
      "Whether the device has moved away from the profile. What no device ever tells, as its location, is in the diff and does not count.",
    ),
  diff: z.array(DiffEntrySchema),
  warnings: z.array(z.string()),
} satisfies ShapeOf<StateDiff>);

/** One key for each action, so that an action which is added is missed here by the compiler. */
const ACTIONS: Readonly<Record<OperationAction, true>> = {
  createDevice: true,
  erase: true,
  boot: true,
  shutdown: true,
  installApplication: true,
  uninstallApplication: true,
  launchApplication: true,
  terminateApplication: true,
  setPreference: true,
  setStatusBar: true,
  setAppearance: true,
  setIncreaseContrast: true,
  setContentSize: true,
  setLocalization: true,
  setPrivacy: true,
  setLocation: true,
  setPasteboard: true,
  addMedia: true,
  addRootCertificate: true,
  sendPush: true,
  openURL: true,
};
const isAction = (name: string): name is OperationAction => Object.hasOwn(ACTIONS, name);

export const ActionSchema = z.enum(Object.keys(ACTIONS).filter(isAction));

export const OperationSchema = z.strictObject({
  id: z.string().min(1).describe("Its place in the plan, from 1, and what it does: `004-setPreference`."),
  action: ActionSchema,
  targetUDID: udid(),
  arguments: z.record(z.string(), Json),
  risk: z
    .enum(["readOnly", "reversible", "destructive"])
    .describe("Derived anew from the action before it is carried out."),
  requiresConfirmation: z.boolean(),
  reason: z.string(),
} satisfies ShapeOf<Operation>);

export const PlanSchema = z.strictObject({
  profileName: z.string(),
  targetUDID: udid(),
  generatedAt: z.string().describe("ISO 8601, UTC."),
  diff: z.array(DiffEntrySchema),
  operations: z.array(OperationSchema),
  warnings: z.array(z.string()),
  factsDigest: z
    .string()
    .exactOptional()
    .describe("`sha256:…` of the facts that the plan rests on, as read when it was made."),
  digest: z.string().exactOptional().describe("`sha256:…` of the plan itself, by which it can be named."),
} satisfies ShapeOf<Plan>);

export const ReceiptSchema = z.strictObject({
  operationID: z.string(),
  action: ActionSchema,
  targetUDID: z.string(),
  commands: z
    .array(z.array(z.string()))
    .describe("Whole command lines, each beginning `xcrun simctl`. Secrets are masked."),
  exitCode: z.int(),
  standardOutput: z.string(),
  standardError: z.string(),
  startedAt: z.string(),
  finishedAt: z.string(),
  outcome: z
    .enum(["done", "satisfied", "failed", "skipped", "planned", "undone"])
    .exactOptional()
    .describe("`satisfied`: it was already so. `undone`: taken back after a failure."),
  note: z.string().exactOptional(),
} satisfies ShapeOf<Receipt>);

const VerdictSchema = z.strictObject({
  path: z.string(),
  verdict: z.enum(["satisfied", "different", "unknown", "unsupported"]),
  note: z.string().exactOptional(),
} satisfies ShapeOf<FieldVerdict>);

export const ReportSchema = z.strictObject({
  plan: PlanSchema,
  status: z.enum(["dryRun", "succeeded", "failed"]),
  receipts: z.array(ReceiptSchema),
  failure: z.string().exactOptional(),
  verification: z
    .array(VerdictSchema)
    .exactOptional()
    .describe("What a fresh read after the last operation found, for each field that the plan was about."),
  journal: z.string().exactOptional().describe("Names the journal, for resuming and taking back."),
  deviceUDID: z.string().exactOptional().describe("The device that the plan made."),
} satisfies ShapeOf<ExecutionReport>);
