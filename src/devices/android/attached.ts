import { SimlockError, type AttachedDevice } from "../../contract/index.ts";
import type { Identity } from "../driver.ts";
import { listBaseline } from "./clean.ts";
import type { AdbServer } from "./adb-server.ts";
import { isAddressable, whereIs, type Route, type Sight } from "./sight.ts";
import { stateHint, type Unleasable } from "./state-hints.ts";

/** Every device of the server's list, with why it can't be leased. Pure. */
export function listAttached(sights: readonly Sight[]): AttachedDevice[] {
  return sights.map((sight) => {
    const { listed, identity } = sight;
    const unleasable = unleasableBecause(sight, sights);
    return {
      platform: "android",
      serial: listed.serial,
      state: listed.state,
      leasable: unleasable === undefined,
      ...(unleasable === undefined ? {} : { reason: unleasable.reason, hint: unleasable.hint }),
      ...modelOf(sight),
      ...(identity === undefined ? {} : { osVersion: identity.spec.osVersion }),
    };
  });
}

function modelOf({ listed, identity }: Sight): { model?: string } {
  if (identity !== undefined) return { model: identity.spec.model };
  // adb writes every blank of a model as an underscore.
  const said = listed.fields.get("model")?.replaceAll("_", " ");
  return said === undefined || said === "" ? {} : { model: said };
}

function unleasableBecause(sight: Sight, sights: readonly Sight[]): Unleasable | undefined {
  const { listed, identity, problem, silent } = sight;
  const byState = stateHint(listed);
  if (byState !== undefined) return byState;
  if (!isAddressable(listed.serial)) {
    return {
      reason: "It has no serial that adb could call it by.",
      hint: "Give it a serial number of its own, or connect it over the network.",
    };
  }
  if (sights.filter((other) => other.listed.serial === listed.serial).length > 1) {
    return { reason: "Another connected device has the same serial.", hint: "Disconnect one of them." };
  }
  if (silent) return { reason: "It does not answer.", hint: "Reconnect its cable or network, or restart it." };
  if (identity === undefined) {
    return {
      reason: `Who it is is not known: ${problem ?? "it has not answered yet"}.`,
      hint: "Wait until it has started, unlock it, then look again.",
    };
  }
  const where = whereIs(identity.id, sights);
  if (where.kind === "ambiguous") {
    return {
      reason: "Another connected device says the same of itself.",
      hint: `Disconnect all but one of: ${where.serials.join(", ")}.`,
    };
  }
  if (where.kind === "reachable" && where.route.listed !== listed) {
    return {
      reason: `It is ${where.route.listed.serial}, connected twice.`,
      hint: `Use ${where.route.listed.serial}.`,
    };
  }
  return undefined;
}

/**
 * Who the device of a serial is, with what is on it. Throws `UNKNOWN_DEVICE` for a serial that is not there, `AMBIGUOUS` for one that two devices have, or
 * whose device can't be told from another, `DEVICE_NOT_LEASABLE` with the reason otherwise.
 */
export async function identifyAttached(
  server: AdbServer,
  sights: readonly Sight[],
  serial: string,
  signal: AbortSignal,
): Promise<Identity> {
  const named = sights.filter(({ listed }) => listed.serial === serial);
  const [sight] = named;
  if (sight === undefined) {
    const there = sights.map(({ listed }) => listed.serial);
    throw new SimlockError("UNKNOWN_DEVICE", `No device with the serial ${JSON.stringify(serial)} is connected.`, {
      details: { connected: there.slice(0, 50) },
      hint:
        there.length === 0
          ? "Connect it and see `adb devices -l`."
          : `Connected are: ${there.slice(0, 10).join(", ")}.`,
    });
  }
  const { identity } = sight;
  const where = identity === undefined ? undefined : whereIs(identity.id, sights);
  if (named.length > 1 || where?.kind === "ambiguous") {
    const unleasable = unleasableBecause(sight, sights);
    throw new SimlockError(
      "AMBIGUOUS",
      `${serial} can't be told from another device. ${unleasable?.reason ?? ""}`.trim(),
      {
        hint: unleasable?.hint ?? "Disconnect one of them.",
      },
    );
  }
  if (identity === undefined || where?.kind !== "reachable") {
    const unleasable = unleasableBecause(sight, sights);
    throw new SimlockError(
      "DEVICE_NOT_LEASABLE",
      `${serial} can't be leased. ${unleasable?.reason ?? "It does not answer."}`,
      {
        hint: unleasable?.hint ?? "Reconnect it.",
      },
    );
  }
  const route: Route = { listed: sight.listed, identity };
  const packages = await listBaseline({ server, signal }, route);
  return { id: identity.id, serial, spec: identity.spec, packages };
}
