import { SimlockError, type DeviceId } from "../contract/index.ts";
import { platformIdKey } from "./book.ts";
import type { Draft } from "./draft.ts";
import * as events from "./events.ts";
import { refuse } from "./leases.ts";
import type { Input } from "./protocol.ts";
import { deviceInUse } from "./refusals.ts";
import { refuseUnserviceable } from "./requests.ts";
import { entered, quarantine, startCleaning } from "./transitions.ts";
import type { Device } from "./state.ts";

/** An attached device becomes one of ours, as it is: what it has on it now is what cleaning leaves. */
export function enrol(draft: Draft, asked: Extract<Input, { kind: "enrol" }>): void {
  const { state, now } = draft;
  const { of: kind, identity, address, spec, shared, baseline, replyTo } = asked;
  const knownId = state.deviceByPlatformId.get(platformIdKey(kind, identity));
  const known = knownId === undefined ? undefined : state.devices.get(knownId);
  if (known !== undefined) {
    const device = known.shared === shared ? known : draft.putDevice({ ...known, shared });
    if (device.state === "ready" && device.intent === undefined) draft.readied.push(device.id);
    draft.reply(replyTo, { kind: "device", device, already: true });
    return;
  }
  const id = draft.mint("dev") as DeviceId;
  const device: Device = {
    id,
    kind,
    spec,
    class: undefined,
    mode: "full",
    state: "ready",
    stateSince: now.wall,
    physical: true,
    shared,
    name: `simlock-${id}`,
    mark: draft.mint("int"),
    driverDeviceId: identity,
    address,
    environment: {},
    baseline,
    createdAt: now.wall,
    lastLeaseEndedAt: undefined,
    intent: undefined,
    quarantine: undefined,
  };
  // Its first holder gets it cleaned like every other: what came onto it since its enrolment is gone.
  const ours = startCleaning(draft, { ...device, state: "provisioning" }, "enrolled", undefined);
  draft.event(events.enrolled(ours));
  draft.reply(replyTo, { kind: "device", device: ours, already: false });
}

export function unenrol(draft: Draft, { replyTo, device: name }: Extract<Input, { kind: "unenrol" }>): void {
  const { state } = draft;
  const named = [...state.devices.values()].filter(
    (device) => device.physical && (device.id === name || device.address === name || device.driverDeviceId === name),
  );
  const [device, second] = named;
  if (device === undefined) {
    return refuse(draft, replyTo, new SimlockError("UNKNOWN_DEVICE", `No enrolled device is called "${name}".`));
  }
  if (second !== undefined) {
    return refuse(
      draft,
      replyTo,
      new SimlockError("AMBIGUOUS", `"${name}" names ${named.length} enrolled devices.`, {
        details: { deviceIds: named.map((one) => one.id) },
        hint: "Name it by its device id.",
      }),
    );
  }
  const leaseId = state.leaseByDevice.get(device.id);
  const lease = leaseId === undefined ? undefined : state.leases.get(leaseId);
  if (lease !== undefined) return refuse(draft, replyTo, deviceInUse(device, lease));
  draft.removeDevice(device, events.deleted(device, "operator"));
  refuseUnserviceable(draft);
  draft.reply(replyTo, { kind: "device", device, already: false });
}

/** What `doctor --fix` does about one device. */
export function mend(draft: Draft, { replyTo, deviceId, action }: Extract<Input, { kind: "mend" }>): void {
  const { state } = draft;
  const device = state.devices.get(deviceId);
  if (device === undefined) {
    return refuse(draft, replyTo, new SimlockError("UNKNOWN_DEVICE", `There is no device ${deviceId}.`));
  }
  const leaseId = state.leaseByDevice.get(deviceId);
  const lease = leaseId === undefined ? undefined : state.leases.get(leaseId);
  if (lease !== undefined) return refuse(draft, replyTo, deviceInUse(device, lease));
  switch (action) {
    case "forget-device":
      draft.removeDevice(device, events.deleted(device, "doctor"));
      refuseUnserviceable(draft);
      break;
    case "correct-state":
      if (device.state === "ready" && device.intent === undefined) {
        draft.putDevice(entered(draft, device, "shutdown"), events.shutDown(device, "doctor"));
      }
      break;
    case "quarantine":
      quarantine(draft, device, { code: "TOOL_FAILED", message: "It stood still for too long." }, "clean");
      break;
  }
  draft.reply(replyTo, { kind: "done" });
}
