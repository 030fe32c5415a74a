import { SimlockError, type AttachedDevice, type DeviceId } from "../../contract/index.ts";
import type { AttachedDriver, Driver, Observed } from "../../devices/index.ts";
import type { Device } from "../../leasing/index.ts";
import { bounded } from "../bounded.ts";
import type { Handlers } from "../call.ts";
import { answered, type Core } from "../core.ts";
import { READ_TIMEOUT_MS } from "../limits.ts";

type DeviceHandlers = Pick<Handlers, "device.add" | "device.list" | "device.remove">;

interface AttachedKind {
  readonly driver: Driver;
  readonly attached: AttachedDriver;
}

export function deviceHandlers(core: Core): DeviceHandlers {
  return {
    "device.add": async ({ serial, shared }) => {
      const { driver, attached } = await kindOf(core, serial);
      const bound = { timeoutMs: READ_TIMEOUT_MS, what: `Asking ${serial} who it is` };
      const identity = await bounded(bound, async (signal) => attached.identify(serial, signal));
      const asked = core.loop.ask((replyTo) => ({
        kind: "enrol",
        replyTo,
        of: driver.kind,
        identity: identity.id,
        address: identity.serial,
        spec: identity.spec,
        shared: shared === true,
        baseline: identity.packages,
      }));
      const { device, already } = answered(await asked.answer, "device");
      core.reality.update();
      return { deviceId: device.id, serial: identity.serial, spec: device.spec, shared: device.shared, already };
    },
    "device.list": async () => {
      const lists = await Promise.all(attachedKinds(core).map(async (kind) => listOf(core, kind)));
      return { devices: lists.flat() };
    },
    "device.remove": async ({ device: named }) => {
      const device = (await idOfSerial(core, named)) ?? named;
      const asked = core.loop.ask((replyTo) => ({ kind: "unenrol", replyTo, device }));
      const removed = answered(await asked.answer, "device");
      core.reality.update();
      return { deviceId: removed.device.id };
    },
  };
}

function attachedKinds(core: Core): readonly AttachedKind[] {
  const kinds = core.drivers.flatMap((driver) =>
    driver.attached === undefined ? [] : [{ driver, attached: driver.attached }],
  );
  if (kinds.length === 0) throw new SimlockError("NO_DRIVER", "This machine has no driver for attached devices.");
  return kinds;
}

/** The kind of device that a serial is. With one kind it is that one; its driver says what is wrong with the serial. */
async function kindOf(core: Core, serial: string): Promise<AttachedKind> {
  const [first, ...others] = attachedKinds(core);
  if (first === undefined) throw new SimlockError("NO_DRIVER", "This machine has no driver for attached devices.");
  for (const kind of others.length === 0 ? [] : [first, ...others]) {
    const listed = await list(kind).catch(() => []);
    if (listed.some((device) => device.serial === serial)) return kind;
  }
  return first;
}

async function list({ driver, attached }: AttachedKind): Promise<readonly AttachedDevice[]> {
  const bound = { timeoutMs: READ_TIMEOUT_MS, what: `Listing attached devices (${driver.kind})` };
  return bounded(bound, async (signal) => attached.list(signal));
}

/** What is connected, each with its enrolment, and the enrolled ones that are not connected. */
async function listOf(core: Core, kind: AttachedKind): Promise<readonly AttachedDevice[]> {
  const { driver } = kind;
  const enrolled = enrolledOf(core, driver);
  const [connected, identities] = await Promise.all([list(kind), enrolled.length === 0 ? [] : read(driver)]);
  const seen = new Set<DeviceId>();
  const shown = connected.map((device) => {
    const ours = enrolled.find((one) => isAt(one, device.serial, identities));
    if (ours === undefined) return device;
    seen.add(ours.id);
    return { ...device, enrolled: ours.id, shared: ours.shared };
  });
  const away = enrolled.filter((device) => !seen.has(device.id)).map((device) => awayDevice(device));
  return [...shown, ...away];
}

async function read(driver: Driver): Promise<readonly Observed[]> {
  const bound = { timeoutMs: READ_TIMEOUT_MS, what: `Reading the devices (${driver.kind})` };
  return bounded(bound, async (signal) => driver.read(signal)).catch(() => []);
}

function enrolledOf(core: Core, driver: Driver): readonly Device[] {
  return [...core.state.devices.values()].filter((device) => device.kind === driver.kind);
}

/** A serial can move from one device to another: what the device says of itself counts, the stored address only where it says nothing. */
function isAt(device: Device, serial: string, identities: readonly Observed[]): boolean {
  const observed = identities.find((one) => one.address === serial);
  if (observed !== undefined) return observed.driverDeviceId === device.driverDeviceId;
  return device.state !== "absent" && device.address === serial;
}

function awayDevice(device: Device): AttachedDevice {
  return {
    platform: device.spec.platform,
    serial: device.address ?? device.driverDeviceId ?? device.id,
    state: "absent",
    leasable: false,
    reason: "It is enrolled and not connected.",
    hint: "Connect it, or forget it with `simlock device remove`.",
    model: device.spec.model,
    osVersion: device.spec.osVersion,
    enrolled: device.id,
    shared: device.shared,
  };
}

/** The enrolled device that a serial stands for now. */
async function idOfSerial(core: Core, serial: string): Promise<DeviceId | undefined> {
  for (const { driver } of attachedKinds(core)) {
    const enrolled = enrolledOf(core, driver);
    if (enrolled.length === 0 || enrolled.some((device) => device.id === serial)) continue;
    const observed = (await read(driver)).find((device) => device.address === serial);
    const found = enrolled.find((device) => device.driverDeviceId === observed?.driverDeviceId);
    if (observed !== undefined && found !== undefined) return found.id;
  }
  return undefined;
}
