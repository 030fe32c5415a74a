import { SimlockError } from "../../contract/index.ts";
import { decodePlan } from "../documents/decode-plan.ts";
import { sameJson } from "../planning/canonical.ts";
import { factsDigest, planDigest } from "../planning/facts.ts";
import { actOf } from "../planning/operations.ts";
import type { Act } from "../planning/operations.ts";
import { seeing } from "../planning/seen.ts";
import type { Seen } from "../planning/seen.ts";
import { NIL_UDID } from "../planning/shapes.ts";
import type { DeviceReader, DiffEntry, JsonValue, Plan, ReadRequest, Snapshot } from "../types.ts";

export interface Step {
  readonly id: string;
  readonly act: Act;
}

/** A plan whose every operation was derived anew from its action and arguments. */
export interface CheckedPlan {
  readonly plan: Plan;
  readonly steps: readonly Step[];
}

/**
 * Decodes a plan and refuses what the planner could not have made: unknown or doubled operations, another target, other arguments, a risk or an id that
 * is not the operation's own, an operation that the device's power by then rules out, and a plan that was changed after it was made. Throws STATE_INVALID.
 */
export function checkPlan(input: unknown): CheckedPlan {
  const plan = decodePlan(input);
  if (plan.digest !== undefined && plan.digest !== planDigest(plan)) {
    throw refused("its digest does not fit: it was changed after it was made");
  }
  const seen = new Set<string>();
  let on: boolean | undefined;
  const steps = plan.operations.map((operation, index): Step => {
    const { id, action, targetUDID } = operation;
    if (seen.has(id)) throw refused(`the operation ${id} stands in it twice`);
    seen.add(id);
    const own = `${String(index + 1).padStart(3, "0")}-${action}`;
    if (id !== own) throw refused(`its operation number ${index + 1} must be ${own}, not ${id}`);
    if (targetUDID !== plan.targetUDID) throw refused(`the operation ${id} is for another device than the plan`);
    const act = actOf(action, operation.arguments);
    if (operation.risk !== act.risk) throw refused(`the operation ${id} is ${act.risk}, not ${operation.risk}`);
    if (!operation.requiresConfirmation) throw refused(`the operation ${id} needs a confirmation`);
    const field = `${action} ${act.path ?? ""}`;
    if (act.path !== "spec.power" && seen.has(field)) throw refused(`${act.path ?? action} is changed twice`);
    seen.add(field);
    if (action === "createDevice" ? index !== 0 : index === 0 && plan.targetUDID === NIL_UDID) {
      throw refused("a device is made by the first operation or not at all");
    }
    if (action === "createDevice" && plan.targetUDID !== NIL_UDID) {
      throw refused("the device that it is for is there already, so none is made");
    }
    if (action === "erase" && on !== false && on !== undefined) throw refused("a booted device can't be erased");
    if (act.needs === "booted" && on === false) throw refused(`the device is shut down before ${id}`);
    on =
      action === "boot"
        ? true
        : ["shutdown", "createDevice", "erase"].includes(action)
          ? false
          : (on ?? act.needs === "booted");
    return { id, act };
  });
  if (plan.targetUDID === NIL_UDID && steps.length === 0) throw refused("it names no device");
  return { plan, steps };
}

function refused(why: string): SimlockError {
  return new SimlockError("STATE_INVALID", `The plan is refused: ${why}.`, {
    hint: "Plan again, and apply that plan.",
  });
}

/** What has to be read of the device before a plan can be applied to it. */
export function readRequest({ plan, steps }: CheckedPlan, udid: string, signal?: AbortSignal): ReadRequest {
  const named = (action: string, name: string): readonly string[] => [
    ...new Set(
      steps.flatMap(({ act }) => {
        const value = act.action === action ? act.arguments[name] : undefined;
        return typeof value === "string" ? [value] : [];
      }),
    ),
  ];
  return {
    udid,
    domains: named("setPreference", "domain"),
    privacyOf: named("setPrivacy", "bundleIdentifier"),
    ...(plan.operations.some(({ action }) => action === "setPasteboard") ? { pasteboard: true } : {}),
    ...(signal === undefined ? {} : { signal }),
  };
}

/**
 * Reads the device anew and sees that the plan still rests on what is there. Gives what was read; undefined where the plan makes its device. Throws
 * UNKNOWN_DEVICE where the device is gone, DEVICE_UNAVAILABLE where it can't be used, PLAN_STALE where it has changed and `allowStale` is not set.
 */
export async function checkFacts(
  checked: CheckedPlan,
  reader: DeviceReader,
  { allowStale, signal }: { readonly allowStale: boolean; readonly signal?: AbortSignal | undefined },
): Promise<Snapshot | undefined> {
  const { plan } = checked;
  if (plan.targetUDID === NIL_UDID) {
    const name = checked.steps[0]?.act.arguments["name"];
    const { devices } = await reader.inventory(signal);
    const there = devices.find((each) => each.name === name);
    if (there !== undefined && !allowStale) {
      throw new SimlockError(
        "PLAN_STALE",
        `The plan makes a device ${there.name}, and there is one now: ${there.udid}.`,
      );
    }
    return undefined;
  }
  const snapshot = await reader.snapshot(readRequest(checked, plan.targetUDID, signal));
  if (!snapshot.device.isAvailable) {
    throw new SimlockError(
      "DEVICE_UNAVAILABLE",
      `${snapshot.device.name} can't be used: its runtime is not available.`,
    );
  }
  if (!allowStale) requireFresh(checked, snapshot);
  return snapshot;
}

function requireFresh({ plan, steps }: CheckedPlan, snapshot: Snapshot): void {
  const erased = steps.some(({ act }) => act.action === "erase");
  const seen = seeing(snapshot);
  const acts = new Map(steps.flatMap(({ act }) => (act.path === undefined ? [] : [[act.path, act] as const])));
  const now = (entry: DiffEntry): JsonValue | undefined => currentOf(entry, acts.get(entry.path), seen);
  const changed = plan.diff.filter((entry) => {
    if (entry.current === undefined || (erased && entry.path !== "spec.power")) return false;
    const current = now(entry);
    return current === undefined || !sameJson(current, entry.current);
  });
  const settled = snapshot.device.state === "Booted" || snapshot.device.state === "Shutdown";
  const power = settled ? snapshot.state.power : ("unsettled" as const);
  const digest = factsDigest({ device: snapshot.device, power, diff: plan.diff, erased }, now);
  if (changed.length === 0 && (plan.factsDigest === undefined || plan.factsDigest === digest)) return;
  const fields = changed.slice(0, 10).map(({ path }) => path);
  const what = fields.length === 0 ? "its power or identity" : fields.join(", ");
  throw new SimlockError("PLAN_STALE", `The device ${plan.targetUDID} has changed since the plan was made: ${what}.`, {
    details: { changed: fields },
  });
}

/** A field that no operation is for can't be asked about; it is taken as the plan has it. */
function currentOf(entry: DiffEntry, act: Act | undefined, seen: Seen): JsonValue | undefined {
  return act === undefined || act.action === "erase" ? entry.current : act.fact(seen);
}
