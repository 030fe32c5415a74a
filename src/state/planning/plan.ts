import { SimlockError } from "../../contract/index.ts";
import type {
  DesiredPower,
  DiffEntry,
  FieldVerdict,
  Inventory,
  InventoryDevice,
  Operation,
  Plan,
  Profile,
  Risk,
  Snapshot,
  StateDiff,
} from "../types.ts";
import { afterErase, NOTHING, UNREAD } from "./after-erase.ts";
import type { BundleFacts } from "./bundle-facts.ts";
import { byText } from "./canonical.ts";
import { compare, STAGES } from "./compare.ts";
import type { Comparison } from "./compare.ts";
import { isDrift } from "./drift.ts";
import { planDigest, plannedFacts } from "./facts.ts";
import { maskedEntry } from "./mask.ts";
import { actOf } from "./operations.ts";
import type { Act } from "./operations.ts";
import { reasonOf } from "./reason.ts";
import { seeing } from "./seen.ts";
import type { Seen } from "./seen.ts";
import { NIL_UDID } from "./shapes.ts";
import { requireTarget } from "./target.ts";
import type { CreateIntent } from "./target.ts";

export interface PlanOptions {
  /** What the bundles at the profile's source paths are: see `readBundles`. Without it an installed app is never taken for an older build. */
  readonly bundles?: ReadonlyMap<string, BundleFacts>;
  /** What simlock/v1 targets are matched against: names of device types, and which runtime is the latest. */
  readonly inventory?: Inventory;
  /** False leaves out what happens again at each apply (push, openURL, media): a drift check asks for what can converge. Default true. */
  readonly events?: boolean;
  readonly now?: Date;
}

/**
 * What would make the device be as the profile says. Pure: the same profile, snapshot and time give the same plan. Unknown is planned for, never taken
 * for satisfied; a device is booted only for something that has to be done on it, and put back to the power it had. Throws BAD_REQUEST where the
 * snapshot's device is not the profile's target, STATE_INVALID where a value can't be put in a command.
 */
export function planState(profile: Profile, snapshot: Snapshot, options: PlanOptions = {}): Plan {
  requireTarget(profile, snapshot.device, options.inventory);
  return assemble(profile, subjectOf(snapshot), options);
}

/** The plan for a device that is not there yet. Its first operation makes it; the nil UUID stands for it until then. */
export function planNewDevice(profile: Profile, intent: CreateIntent, options: PlanOptions = {}): Plan {
  return assemble(
    profile,
    { udid: NIL_UDID, power: "shutdown", seen: "cloneFrom" in intent ? UNREAD : NOTHING, intent },
    options,
  );
}

/** The plan without its operations. Sensitive values are masked: nobody applies a diff. */
export function diffOf(plan: Plan): StateDiff {
  return {
    profileName: plan.profileName,
    targetUDID: plan.targetUDID,
    hasChanges: plan.diff.some(isDrift),
    diff: plan.diff.map(maskedEntry),
    warnings: plan.warnings,
  };
}

/** A verdict on each field that the profile names. Events are not fields: nothing of them stays. */
export function verifyState(profile: Profile, snapshot: Snapshot, options: PlanOptions = {}): readonly FieldVerdict[] {
  requireTarget(profile, snapshot.device, options.inventory);
  const subject = subjectOf(snapshot);
  const spec = profile.spec;
  const fields = compare(desiredOf(profile, { ...options, events: false }), subject.seen, subject.capabilities);
  const power = powerEntry(spec.power, subject);
  return [
    ...(spec.power === "unchanged"
      ? []
      : [
          {
            path: "spec.power",
            verdict:
              power === undefined
                ? "satisfied"
                : power.kind === "change"
                  ? "different"
                  : power.kind === "unsupported"
                    ? "unsupported"
                    : "unknown",
          } as const,
        ]),
    ...fields.map(({ path, verdict, entry }) => ({
      path,
      verdict,
      ...(entry?.note === undefined ? {} : { note: entry.note }),
    })),
  ].toSorted((a, b) => byText(a.path, b.path));
}

const RISKS = ["readOnly", "reversible", "destructive"] as const;

/** The highest risk of any operation; `readOnly` where there are none. */
export function maximumRisk(plan: Plan): Risk {
  const highest = Math.max(0, ...new Set(plan.operations.map(({ risk }) => RISKS.indexOf(risk))));
  return RISKS[highest] ?? "destructive";
}

/** What is planned for. */
interface Subject {
  readonly udid: string;
  /** `unsettled`: on its way between the two. */
  readonly power: "booted" | "shutdown" | "unsettled";
  readonly seen: Seen;
  readonly device?: InventoryDevice;
  readonly capabilities?: Snapshot["capabilities"];
  readonly intent?: CreateIntent;
}

function subjectOf(snapshot: Snapshot): Subject {
  const { device, state, capabilities } = snapshot;
  const settled = device.state === "Booted" || device.state === "Shutdown";
  return {
    udid: device.udid,
    power: settled ? state.power : "unsettled",
    seen: seeing(snapshot),
    device,
    capabilities,
  };
}

function desiredOf(profile: Profile, options: PlanOptions) {
  return {
    spec: profile.spec,
    bundles: options.bundles ?? new Map<string, BundleFacts>(),
    events: options.events ?? true,
  };
}

interface Step {
  readonly act: Act;
  readonly reason: string;
}

function assemble(profile: Profile, subject: Subject, options: PlanOptions): Plan {
  const { spec } = profile;
  if (profile.kind !== "SimulatorState") throw new SimlockError("BAD_REQUEST", "Only a SimulatorState can be planned.");
  const seen = spec.eraseBeforeApply && subject.intent === undefined ? afterErase(subject.seen) : subject.seen;
  const fields = compare(desiredOf(profile, options), seen, subject.capabilities);
  const powerOf = powerEntry(spec.power, subject);
  const canPower = powerOf?.kind !== "unsupported";
  const { steps, warnings } = arranged(canPower ? spec : { ...spec, power: "unchanged" }, subject, fields);
  const erased = spec.eraseBeforeApply && subject.intent === undefined;
  const generatedAt = (options.now ?? new Date()).toISOString().replace(/\.\d+Z$/, "Z");
  const operations = steps.map(({ act, reason }, index): Operation => ({
    // In the order of the alphabet, as the digest takes them.
    action: act.action,
    arguments: act.arguments,
    id: `${String(index + 1).padStart(3, "0")}-${act.action}`,
    reason,
    requiresConfirmation: true,
    risk: act.risk,
    targetUDID: subject.udid,
  }));
  const diff = [
    ...creationEntry(subject),
    ...(erased ? [ERASE_ENTRY] : []),
    ...optional(powerOf),
    ...fields.flatMap(({ entry }) => optional(entry)),
  ].toSorted((a, b) => byText(a.path, b.path));
  const plan = {
    profileName: profile.metadata.name,
    targetUDID: subject.udid,
    generatedAt,
    diff,
    operations,
    warnings: [
      ...new Set([
        ...warnings,
        ...(canPower ? [] : [`Skipped power: ${powerOf.note ?? ""}`]),
        ...fields.flatMap(({ warning }) => optional(warning)),
      ]),
    ].toSorted(byText),
    factsDigest: plannedFacts({ device: subject.device, power: subject.power, diff, erased }),
  };
  return { ...plan, digest: planDigest(plan) };
}

function optional<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}

const ERASE_ENTRY: DiffEntry = {
  path: "spec.eraseBeforeApply",
  kind: "change",
  current: false,
  desired: true,
  note: "All content and settings of the device go.",
};

function creationEntry({ intent }: Subject): readonly DiffEntry[] {
  return intent === undefined ? [] : [{ path: "target", kind: "add", desired: { ...intent } }];
}

function powerEntry(wanted: DesiredPower, { power, capabilities }: Subject): DiffEntry | undefined {
  if (wanted === "unchanged" || wanted === power) return undefined;
  const path = "spec.power";
  const capability = capabilities?.power;
  if (capability?.writable === false || capability?.support === "unsupported") {
    return { path, kind: "unsupported", note: capability.note ?? "The device can't be booted or shut down." };
  }
  if (power !== "unsettled") return { path, kind: "change", current: power, desired: wanted };
  return { path, kind: "unknown", desired: wanted, note: "The device is between booted and shut down." };
}

/** The steps in their order, with the power that each needs. */
function arranged(
  spec: Profile["spec"],
  subject: Subject,
  fields: readonly Comparison[],
): { readonly steps: readonly Step[]; readonly warnings: readonly string[] } {
  const online = STAGES.flatMap((stage) =>
    fields.flatMap(({ stage: own, act, why }) =>
      own === stage && act !== undefined ? [{ act, reason: why ?? reasonOf(act) }] : [],
    ),
  );
  const steps: Step[] = [];
  const power = (action: "boot" | "shutdown" | "erase", reason: string): void => {
    steps.push({ act: actOf(action, {}), reason });
  };
  const initial = subject.power;
  let on: boolean | undefined = initial === "unsettled" ? undefined : initial === "booted";
  if (subject.intent !== undefined) {
    const act = actOf("createDevice", subject.intent);
    steps.push({ act, reason: reasonOf(act) });
  } else if (spec.eraseBeforeApply) {
    if (on !== false) power("shutdown", "Shut the device down: it can only be erased while it is off.");
    on = false;
    power("erase", "Erase all content and settings, as the profile asks.");
  }
  if ((spec.power === "booted" || online.length > 0) && on !== true) {
    power(
      "boot",
      spec.power === "booted" ? "Boot the device, as the profile asks." : "Boot the device for what follows.",
    );
    on = true;
  }
  steps.push(...online);
  const end =
    spec.power === "unchanged" ? (initial === "unsettled" ? on : initial === "booted") : spec.power === "booted";
  if (end === true && on !== true) power("boot", "Boot the device again: it was booted before.");
  if (end === false && on !== false) {
    const asked = spec.power === "shutdown";
    power(
      "shutdown",
      asked ? "Shut the device down, as the profile asks." : "Shut the device down again: it was off before.",
    );
  }
  const warnings = [
    ...(end === false ? lost(online) : []),
    ...(initial === "unsettled" ? ["The device is between booted and shut down: what it has could not be read."] : []),
  ];
  return { steps, warnings };
}

/** What is gone with the shutdown at the end. */
function lost(online: readonly Step[]): readonly string[] {
  return online.flatMap(({ act }) =>
    act.lasts === false ? [`${act.path ?? act.action} does not last: the device is shut down at the end.`] : [],
  );
}
