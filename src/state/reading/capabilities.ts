import type { Capability, CapabilityName, InventoryDevice } from "../types.ts";
import type { DeviceReads } from "./device-reads.ts";

type Capabilities = Readonly<Record<CapabilityName, Capability>>;
type Support = Capability["support"];

/** What can be read back is exact where simctl has a verb for both ways and its effect is what it prints. */
const SUPPORT: Readonly<Record<CapabilityName, Support>> = {
  power: "exact",
  applications: "bestEffort",
  running: "bestEffort",
  preferences: "bestEffort",
  statusBar: "bestEffort",
  appearance: "exact",
  increaseContrast: "exact",
  contentSize: "exact",
  localization: "bestEffort",
  privacy: "bestEffort",
  location: "bestEffort",
  pasteboard: "bestEffort",
  media: "bestEffort",
  rootCertificates: "bestEffort",
  push: "bestEffort",
  openURL: "bestEffort",
};

const NO_READBACK = "simctl has no verb that reads it back.";
const STATUS_BAR = "simctl prints what is not set as 0 beside what is; overrides end when the device shuts down.";
const PASTEBOARD = "Not read unless it is asked for: Simulator may have copied the host's pasteboard there.";
const PRIVACY = "Access to the location is kept elsewhere and is unknown.";
const NOT_BOOTED = "Only a booted device can be asked.";

const WRITE_ONLY: readonly CapabilityName[] = ["location", "media", "rootCertificates", "push", "openURL"];
const NEED_BOOTED: readonly CapabilityName[] = [
  "applications",
  "preferences",
  "appearance",
  "increaseContrast",
  "contentSize",
  "localization",
  "pasteboard",
];

/** What a running device's reads say of each field. */
export function capabilitiesOf(device: InventoryDevice, reads: DeviceReads): Capabilities {
  const failed = [...reads.domains].flatMap(([name, read]) => (read.ok ? [] : [`${name}: ${read.why}`]));
  const applications = reads.applications.ok
    ? readable()
    : unreadable(`Installed apps could not be read, though they can be changed: ${reads.applications.why}`);
  return forDevice(device, {
    applications,
    running: reads.running.ok ? readable() : unreadable(reads.running.why),
    preferences:
      failed.length === 0
        ? readable("Only the domains that were asked for are read.")
        : { ...readable(`Could not be read: ${failed.join("; ")}`), readable: failed.length < reads.domains.size },
    statusBar: reads.statusBar.ok ? readable(STATUS_BAR) : unreadable(reads.statusBar.why),
    appearance: option(reads.appearance, reads.appearance.ok && reads.appearance.value),
    increaseContrast: option(reads.increaseContrast, reads.increaseContrast.ok && reads.increaseContrast.value),
    contentSize: option(reads.contentSize, reads.contentSize.ok && reads.contentSize.value),
    localization: reads.global.ok ? readable() : unreadable(reads.global.why),
    privacy: reads.privacy.ok ? readable(PRIVACY) : unreadable(reads.privacy.why),
    pasteboard:
      reads.pasteboard === undefined
        ? unreadable(PASTEBOARD)
        : reads.pasteboard.ok
          ? readable()
          : unreadable(reads.pasteboard.why),
  });
}

/** What is known of a device that is shut down: nothing runs on it, and overrides of its status bar did not survive. */
export function capabilitiesOfShutdown(device: InventoryDevice, privacy: DeviceReads["privacy"]): Capabilities {
  return forDevice(device, {
    ...Object.fromEntries(NEED_BOOTED.map((name) => [name, unreadable(NOT_BOOTED)])),
    running: readable("Nothing runs on a device that is shut down."),
    statusBar: readable("Overrides do not survive a shutdown."),
    privacy: privacy.ok ? readable(PRIVACY) : unreadable(privacy.why),
  });
}

/** Of a device that is neither on nor off nothing is known yet. */
export function capabilitiesOfTransition(device: InventoryDevice): Capabilities {
  const between = unreadable("The device is starting, stopping or being made; read it again when that is over.");
  return forDevice(device, {
    ...Object.fromEntries(NEED_BOOTED.map((name) => [name, between])),
    power: between,
    running: between,
    statusBar: between,
    privacy: between,
  });
}

type Partly = Omit<Capability, "support"> & { readonly support?: Support };

const readable = (note?: string): Partly => ({
  readable: true,
  writable: true,
  ...(note === undefined ? {} : { note }),
});
const unreadable = (note: string): Partly => ({ readable: false, writable: true, note });

function option(read: { readonly ok: boolean; readonly why?: string }, value: unknown): Partly {
  if (!read.ok) return unreadable(read.why ?? "");
  if (value === "unknown") return unreadable("simctl says that it does not know.");
  if (value !== undefined && value !== "unsupported") return readable();
  return { support: "unsupported", readable: true, writable: false, note: "This kind of device has no such option." };
}

function forDevice(device: InventoryDevice, known: Partial<Record<CapabilityName, Partly>>): Capabilities {
  const writeOnly = Object.fromEntries(WRITE_ONLY.map((name) => [name, unreadable(NO_READBACK)]));
  const all: Partial<Record<CapabilityName, Partly>> = { ...writeOnly, ...known };
  const complete = (name: CapabilityName): Capability => {
    const part = all[name] ?? readable();
    const base = { support: part.support ?? SUPPORT[name], readable: part.readable, writable: part.writable };
    // A device whose runtime is gone can't be started, so nothing of it can be changed.
    if (!device.isAvailable) return { ...base, writable: false, note: `The device can't be used: ${reasonOf(device)}` };
    return part.note === undefined ? base : { ...base, note: part.note };
  };
  return {
    power: complete("power"),
    applications: complete("applications"),
    running: complete("running"),
    preferences: complete("preferences"),
    statusBar: complete("statusBar"),
    appearance: complete("appearance"),
    increaseContrast: complete("increaseContrast"),
    contentSize: complete("contentSize"),
    localization: complete("localization"),
    privacy: complete("privacy"),
    location: complete("location"),
    pasteboard: complete("pasteboard"),
    media: complete("media"),
    rootCertificates: complete("rootCertificates"),
    push: complete("push"),
    openURL: complete("openURL"),
  };
}

function reasonOf(device: InventoryDevice): string {
  return device.availabilityError ?? "simctl says that it is unavailable.";
}
