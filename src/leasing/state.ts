import type {
  Config,
  DeviceClass,
  DeviceId,
  DeviceKind,
  DeviceMode,
  DeviceSpec,
  DeviceState,
  LeaseGrant,
  LeaseId,
  LeaseRequestInput,
  RequestId,
  WireError,
} from "../contract/index.ts";

/** Work on a device that is under way, committed before it is begun. A result that names another id or attempt is stale and ignored. */
export interface Intent {
  readonly id: string;
  readonly kind: "create" | "boot" | "clean" | "shutdown" | "destroy";
  readonly attempt: number;
  /** Wall clock, epoch ms. */
  readonly startedAt: number;
  /** What the event of its end says set it off: a request, a lease's end, quarantine, doctor. */
  readonly because: string;
}

export interface Quarantine {
  readonly error: string;
  /** How a retry tries to end it. */
  readonly goal: "clean" | "destroy";
  readonly attempts: number;
  /** Wall clock; undefined while the retry runs, and when there will be none (stranded). */
  readonly nextRetryAt?: number;
  readonly stranded: boolean;
}

/** A device we know. All rows are plain data: what is here is what the database holds. */
export interface Device {
  readonly id: DeviceId;
  readonly kind: DeviceKind;
  readonly spec: DeviceSpec;
  readonly class: DeviceClass | undefined;
  readonly mode: DeviceMode;
  readonly state: DeviceState;
  readonly stateSince: number;
  readonly physical: boolean;
  /** Attached devices: serves any request of its platform, not only one that says physical or names the model. */
  readonly shared: boolean;
  readonly name: string;
  readonly mark: string;
  readonly driverDeviceId: string | undefined;
  readonly address: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly baseline: readonly string[] | undefined;
  readonly createdAt: number;
  readonly lastLeaseEndedAt: number | undefined;
  readonly intent: Intent | undefined;
  readonly quarantine: Quarantine | undefined;
}

export interface BoundProcess {
  readonly pid: number;
  /** What the system says of its start, so that a recycled pid is not taken for it. */
  readonly startedAt: string;
}

export interface Lease {
  readonly id: LeaseId;
  readonly deviceId: DeviceId;
  readonly requestId: RequestId;
  readonly requesterId: string;
  readonly ownerId: string;
  readonly grantedAt: number;
  readonly ttlMs: number;
  /** Wall clock. While the daemon runs, the monotonic deadline in memory decides. */
  readonly ttlDeadline: number;
  readonly lastRenewedAt: number;
  readonly boundTo: BoundProcess | undefined;
  /** The holder shut the device down on purpose: nobody boots it again but the holder. */
  readonly poweredOff: boolean;
}

export type RequestState = "open" | "granted" | "failed" | "cancelled";

export interface Request {
  readonly id: RequestId;
  /** The order of arrival: what "oldest" means. */
  readonly seq: number;
  readonly requesterId: string;
  readonly ownerId: string;
  /** Who asked: only they may cancel it, and join it by its key. */
  readonly principal: string;
  readonly input: LeaseRequestInput;
  readonly boundTo: BoundProcess | undefined;
  readonly createdAt: number;
  /** Wall clock, from `timeoutMs`. */
  readonly deadline: number | undefined;
  readonly state: RequestState;
  readonly failures: number;
  readonly settledAt: number | undefined;
  readonly grant: LeaseGrant | undefined;
  readonly failure: WireError | undefined;
}

/** The rows of the database, by table. */
export interface Tables {
  readonly devices: Device;
  readonly leases: Lease;
  readonly requests: Request;
}
export type TableName = keyof Tables;

/** One row written or, without a row, removed. */
export type Change = {
  [T in TableName]: { readonly table: T; readonly key: string; readonly row: Tables[T] | undefined };
}[TableName];

export interface StoredState {
  readonly devices: readonly Device[];
  readonly leases: readonly Lease[];
  readonly requests: readonly Request[];
}

/** What the policies read of the configuration. */
export type Settings = Pick<Config, "capacity" | "lease" | "quarantine" | "health" | "ios" | "android">;

/** `mono` stands still while the machine sleeps and decides deadlines; `wall` is what is stored and shown. Milliseconds. */
export interface Now {
  readonly wall: number;
  readonly mono: number;
}
