import { z } from "zod";
import { SimlockError, type StateProgress } from "../../contract/index.ts";
import { defineTool } from "../../tool/index.ts";
import type { Tool, ToolProgress } from "../../tool/index.ts";
import { compose, decodeOverlays } from "../documents/compose.ts";
import { decodeProfile, decodeSnapshot } from "../documents/decode.ts";
import { encodeProfile } from "../documents/encode.ts";
import { DiffSchema, PlanSchema, ReportSchema } from "../documents/plan-schema.ts";
import { presets } from "../documents/presets.ts";
import { V1 } from "../documents/profile-schema.ts";
import { SnapshotSchema } from "../documents/snapshot-schema.ts";
import { readBundles } from "../planning/bundle-facts.ts";
import { MASK } from "../planning/mask.ts";
import { diffOf, planNewDevice, planState } from "../planning/plan.ts";
import { resolveTarget } from "../planning/target.ts";
import { readRequestFor } from "../reading/read-request.ts";
import type { DeviceReader, ExecutionReport, Plan, Profile } from "../types.ts";
import { ComposedProfile, OutlinedOverlays, OutlinedProfile, WholeOverlays, WholeProfile } from "./document-schemas.ts";
import { InventorySchema } from "./inventory-schema.ts";
import { RecentPlans, shownPlan } from "./recent-plans.ts";

/**
 * Carries a plan out, or without confirmation tells what it would do. The plan comes from outside and is not to be trusted; the report shows no secret
 * of it.
 */
export type ApplyPlan = (request: {
  readonly plan: unknown;
  readonly confirm: boolean;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: StateProgress) => void;
}) => Promise<ExecutionReport>;

export interface StateToolsOptions {
  readonly reader: DeviceReader;
  /** The UDID of the simulator that the caller has leased: what a simlock/v1 profile means that names no target. */
  readonly leased?: () => Promise<string | undefined>;
  readonly apply: ApplyPlan;
}

/** What a client is told of these tools as a whole. */
export const STATE_INSTRUCTIONS = `Simulator state as documents: a profile says what an iOS simulator should be like.
1. simulator_inventory lists the simulators; simulator_snapshot reads one. A field that could not be read is unknown: its capability says why.
2. simulator_presets and simulator_compose build the whole profile from a base and overlays.
3. simulator_diff shows what differs, simulator_plan the operations that would change it. Neither changes anything.
4. Show the user the operations, the warnings and the highest risk.
5. simulator_apply is a dry run unless confirm is true. Send confirm: true only after the user has approved that very plan; planDigest names it. Keep the report.
`;

/** The toolset `state`: seven tools, in the order in which they are listed. */
export function createStateTools(options: StateToolsOptions): readonly Tool[] {
  const { reader, apply } = options;
  const recent = new RecentPlans();
  return [
    inventoryTool(reader),
    snapshotTool(reader),
    presetsTool(),
    composeTool(),
    diffTool(options),
    planTool(options, recent),
    applyTool(apply, recent),
  ];
}

function inventoryTool(reader: DeviceReader) {
  return defineTool({
    name: "simulator_inventory",
    title: "List simulators",
    description: "List the simulators, the runtimes and the device types of this Mac. Changes nothing.",
    input: z.strictObject({}),
    output: InventorySchema,
    effects: ["read"],
    handle: async (_input, { signal }) => copy(await reader.inventory(signal)),
  });
}

function snapshotTool(reader: DeviceReader) {
  return defineTool({
    name: "simulator_snapshot",
    title: "Read a simulator's state",
    description:
      "Read what a simulator is like now: power, apps and which run, status bar, appearance, language, privacy, and the preference domains that you name. capabilities says what could be read and what can be changed; what could not be read is unknown, not empty. Changes nothing, and boots nothing.",
    input: z.strictObject({
      udid: z.string().min(1).describe("Exactly as simulator_inventory lists it."),
      domains: z
        .array(z.string())
        .max(64)
        .optional()
        .describe("Preference domains to read, such as a bundle identifier."),
      pasteboard: z
        .boolean()
        .optional()
        .describe("Read the pasteboard too. It may hold what the user copied on the Mac. Default false."),
    }),
    output: SnapshotSchema,
    effects: ["read"],
    async handle({ udid, domains, pasteboard }, { signal }) {
      const request = {
        udid,
        signal,
        ...(domains === undefined ? {} : { domains }),
        ...(pasteboard === undefined ? {} : { pasteboard }),
      };
      return copy(await reader.snapshot(request));
    },
  });
}

function presetsTool() {
  return defineTool({
    name: "simulator_presets",
    title: "List presets",
    description: "List the built-in overlays by name. Needs neither Xcode nor a simulator.",
    input: z.strictObject({}),
    output: z.object({ presets: z.array(z.object({ name: z.string(), description: z.string() })) }),
    effects: ["read"],
    handle: async () => ({ presets: presets().map((preset) => ({ ...preset })) }),
  });
}

function composeTool() {
  return defineTool({
    name: "simulator_compose",
    title: "Compose a profile",
    description:
      "Lay overlays over a profile and answer the whole profile, every default written out. Applications are laid over by bundleIdentifier, preferences by domain and key, the status bar by field. Reads no simulator and changes nothing.",
    input: z.strictObject({ profile: WholeProfile, overlays: WholeOverlays }),
    output: ComposedProfile,
    effects: ["read"],
    handle: async ({ profile, overlays }) => ComposedProfile.parse(encodeProfile(composed(profile, overlays))),
  });
}

const compared = z.strictObject({
  profile: OutlinedProfile,
  overlays: OutlinedOverlays,
  snapshot: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("A snapshot as simulator_snapshot answered it. Without it the simulator is read now."),
  udid: z
    .string()
    .min(1)
    .optional()
    .describe("The simulator to read. Without it the profile's target chooses, and must fit exactly one."),
});

function diffTool(options: StateToolsOptions) {
  return defineTool({
    name: "simulator_diff",
    title: "Compare a simulator with a profile",
    description:
      "Show what of a simulator differs from a profile, field by field, and what could not be told. Changes nothing.",
    input: compared,
    output: DiffSchema,
    effects: ["read"],
    handle: async (input, { signal }) => copy(diffOf(shownPlan(await planned(options, input, signal)))),
  });
}

function planTool(options: StateToolsOptions, recent: RecentPlans) {
  return defineTool({
    name: "simulator_plan",
    title: "Plan a simulator's changes",
    description:
      "Answer the operations that would make a simulator be as a profile says, each with its risk, and warnings. Changes nothing: show the plan to the user, then pass it, or its digest, to simulator_apply.",
    input: compared,
    output: PlanSchema,
    effects: ["read"],
    async handle(input, { signal }) {
      const plan = await planned(options, input, signal);
      recent.add(plan);
      return copy(shownPlan(plan));
    },
  });
}

function applyTool(apply: ApplyPlan, recent: RecentPlans) {
  return defineTool({
    name: "simulator_apply",
    title: "Apply a plan to a simulator",
    description:
      "Carry out a plan of simulator_plan. Without confirm: true it is a dry run that changes nothing. Set confirm only after the user has approved exactly this plan: it may erase the simulator or remove apps. The report says what was done; keep it.",
    input: z.strictObject({
      plan: z
        .record(z.string(), z.unknown())
        .optional()
        .describe("The whole plan as simulator_plan answered it. Either this or planDigest."),
      planDigest: z
        .string()
        .regex(/^sha256:[0-9a-f]{64}$/)
        .optional()
        .describe("The digest of a plan that this server has made lately."),
      confirm: z.boolean().optional().meta({
        default: false,
        description: "true, and only that, carries the plan out.",
      }),
    }),
    output: ReportSchema,
    effects: ["write", "destructive"],
    failed: ({ status }) => status === "failed",
    async handle({ plan, planDigest, confirm }, { signal, progress }) {
      const report = await apply({
        plan: chosenPlan(recent, plan, planDigest),
        confirm: confirm === true,
        signal,
        ...(progress === undefined ? {} : { onProgress: (each) => progress(progressOf(each)) }),
      });
      return copy(report);
    },
  });
}

/** An operation that has begun is not yet done. */
function progressOf({ operationID, position, total, outcome }: StateProgress): ToolProgress {
  const message = outcome === undefined ? operationID : `${operationID}: ${outcome}`;
  return { progress: outcome === undefined ? position - 1 : position, total, message };
}

function composed(profile: unknown, overlays: unknown): Profile {
  const base = decodeProfile(profile);
  return compose(base, decodeOverlays(overlays)).profile;
}

/** A simlock/v1 profile that names no target is for the leased simulator, where there is one. */
async function withTarget(
  profile: Readonly<Record<string, unknown>>,
  leased: StateToolsOptions["leased"],
): Promise<Readonly<Record<string, unknown>>> {
  const names = "target" in profile || "targets" in profile;
  if (names || profile["apiVersion"] !== V1) return profile;
  const udid = await leased?.();
  return udid === undefined ? profile : { ...profile, target: { udid } };
}

/** Documents are decoded before anything is read. */
async function planned(
  { reader, leased }: StateToolsOptions,
  input: z.output<typeof compared>,
  signal: AbortSignal,
): Promise<Plan> {
  const profile = composed(await withTarget(input.profile, leased), input.overlays);
  const saved = input.snapshot === undefined ? undefined : decodeSnapshot(input.snapshot);
  const bundles = await readBundles(profile);
  if (saved !== undefined) {
    if (input.udid !== undefined && input.udid !== saved.device.udid) {
      throw new SimlockError(
        "BAD_REQUEST",
        `The snapshot is of ${saved.device.udid}, and udid names another simulator: ${input.udid}.`,
        { hint: "Leave out udid to use the snapshot, or leave out snapshot to read that simulator." },
      );
    }
    return planState(profile, saved, { bundles });
  }
  const inventory = await reader.inventory(signal);
  const target = input.udid === undefined ? resolveTarget(profile.target, inventory, profile.apiVersion) : undefined;
  if (target?.kind === "create") return planNewDevice(profile, target.intent, { bundles, inventory });
  const udid = target?.device.udid ?? input.udid ?? "";
  return planState(profile, await reader.snapshot(readRequestFor(profile, udid, signal)), { bundles, inventory });
}

function chosenPlan(
  recent: RecentPlans,
  plan: Readonly<Record<string, unknown>> | undefined,
  digest: string | undefined,
): unknown {
  if ((plan === undefined) === (digest === undefined)) {
    throw new SimlockError("BAD_REQUEST", "Exactly one of plan and planDigest says what is to be applied.", {
      hint: "Pass the plan that simulator_plan answered, or its digest.",
    });
  }
  if (plan !== undefined) {
    const own = recent.shownAs(plan);
    if (own === undefined && JSON.stringify(plan).includes(JSON.stringify(MASK))) {
      throw new SimlockError("BAD_REQUEST", "The plan's secrets are masked, and this server has no such plan.", {
        hint: "Plan again with simulator_plan, and pass its digest as planDigest.",
      });
    }
    return own ?? plan;
  }
  const found = digest === undefined ? undefined : recent.get(digest);
  if (found !== undefined) return found;
  throw new SimlockError("BAD_REQUEST", "This server has made no plan with that digest lately.", {
    hint: "Plan again with simulator_plan, or pass the whole plan.",
  });
}

/** Readonly data as the plain JSON that an answer is. */
function copy<T>(value: T): Mutable<T> {
  return structuredClone(value) as Mutable<T>;
}

type Mutable<T> = T extends readonly (infer E)[]
  ? Mutable<E>[]
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T;
