import type {
  AttachedDevice,
  DeviceId,
  DeviceKind,
  DeviceSpec,
  DeviceTool,
  Finding,
  HostTool,
  Platform,
  PlatformCatalog,
} from "../contract/index.ts";
import type { RunState } from "../exec/index.ts";

/** What we know of one device of ours. `name` and `mark` were committed before the platform was asked to make it. */
export interface OwnDevice {
  readonly deviceId: DeviceId;
  /** The platform's id: a simulator's UDID, an attached device's identity. Unknown until the device was made. */
  readonly driverDeviceId: string | undefined;
  /** The name we give it on the platform: `simlock-<device id>`. */
  readonly name: string;
  /** The token of its two marks: a durable one that survives an erase, and one that dies with it. */
  readonly mark: string;
  readonly spec: DeviceSpec;
  /** Attached devices: the packages that its enrolment listed. Whatever else is there is removed between holders. */
  readonly baseline: readonly string[] | undefined;
}

export type { RunState };

/** One device as the platform shows it. */
export interface Observed {
  readonly driverDeviceId: string;
  readonly name: string | undefined;
  readonly runState: RunState;
  /** What its marks say; undefined where it has none or it can't be read now. */
  readonly durableMark: string | undefined;
  readonly erasableMark: string | undefined;
  readonly address: string | undefined;
  readonly spec: DeviceSpec | undefined;
}

export interface Estimates {
  readonly provisionMs: number;
  readonly bootMs: number;
  readonly reclaimMs: number;
}

/** The device a command may reach, as its tool names it. */
export type Target =
  | { readonly kind: "simulator"; readonly udid: string }
  | { readonly kind: "emulator"; readonly serial: string }
  | { readonly kind: "android"; readonly serial: string }
  | { readonly kind: "iphone"; readonly udid: string };

/** How a device tool is started: file, the arguments in front of the decided ones, and the variables it needs. */
export interface ToolCommand {
  readonly file: string;
  readonly prefix: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * One kind of device on one platform. A driver does what it is told and reports: it keeps no state that matters, decides nothing, and every
 * wait in it is bounded. All methods throw `SimlockError`; `signal` ends them early. Each step may be repeated after a crash, so each is
 * idempotent: booting a booted device, shutting down a shut one, destroying one that is gone are successes.
 */
export interface Driver {
  readonly kind: DeviceKind;
  readonly platform: Platform;
  /** The tools whose commands can reach this kind of device. */
  readonly tools: readonly DeviceTool[];

  /** What can be made (or, for attached kinds, an empty catalog). Throws `TOOL_MISSING`, `TOOL_FAILED`. */
  catalog(signal?: AbortSignal): Promise<PlatformCatalog>;
  /** Every device that is ours by name or mark; for attached kinds every device that is connected. Throws when it can't be read: never an empty list instead. */
  read(signal?: AbortSignal): Promise<readonly Observed[]>;
  /** Makes the device, marked, not booted. */
  create(device: OwnDevice, signal: AbortSignal): Promise<{ readonly driverDeviceId: string }>;
  /** Marks it again after its holder's own confirmed erase, which took the mark within with it. Only kinds that are erased have it. */
  remark?(device: OwnDevice, signal: AbortSignal): Promise<void>;
  /** Boots it and waits until it can be used. */
  boot(device: OwnDevice, signal: AbortSignal): Promise<{ readonly address: string }>;
  /** Removes all traces of its last holder and marks it again. Says in which state that leaves it. */
  clean(
    device: OwnDevice,
    signal: AbortSignal,
  ): Promise<{ readonly state: "ready" | "shutdown"; readonly strategy: string; readonly address?: string }>;
  shutdown(device: OwnDevice, signal: AbortSignal): Promise<void>;
  /** Removes a device that registry, name and mark prove to be ours. A device whose making was interrupted is found by its name. */
  destroy(device: OwnDevice, signal: AbortSignal): Promise<void>;

  estimates(spec: DeviceSpec): Estimates;
  /** Variables of a grant that point the platform's own tools at the device. */
  environment(device: OwnDevice, address: string): Readonly<Record<string, string>>;
  /** What a command may reach now. An attached device is found by its identity each time: a serial can move. Throws `DEVICE_UNAVAILABLE`. */
  target(device: OwnDevice): Promise<Target>;
  command(tool: DeviceTool): ToolCommand;
  /** adb kinds: the forwards that the server holds, LOCAL to serial. Absent where the tool has none. */
  forwards?(): Promise<ReadonlyMap<string, string>>;

  /** What is missing on this host, with the places tried and the remedy. */
  prerequisites(): Promise<readonly Finding[]>;
  /** Versions of the tools behind it, for `status`. Never throws. */
  hostTools(): Promise<readonly HostTool[]>;
  readonly attached?: AttachedDriver;
  dispose(): Promise<void>;
}

/** What a device says of itself, strong enough to know it again under another serial. */
export interface Identity {
  readonly id: string;
  readonly serial: string;
  readonly spec: DeviceSpec;
  readonly packages: readonly string[];
}

/** The part of a driver whose devices are attached, not made. */
export interface AttachedDriver {
  list(signal?: AbortSignal): Promise<readonly AttachedDevice[]>;
  /** Asks the device who it is. Throws `UNKNOWN_DEVICE`, `DEVICE_NOT_LEASABLE`, `AMBIGUOUS`. */
  identify(serial: string, signal?: AbortSignal): Promise<Identity>;
  /** Calls back, soon after each change and at least every `pollMs`, with all that is connected. Returns the end of it. */
  watch(changed: (devices: readonly Observed[]) => void, failed: (error: unknown) => void): () => void;
}
