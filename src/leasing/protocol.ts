import type {
  DeviceId,
  DeviceKind,
  DeviceSpec,
  EventFact,
  HostFacts,
  LeaseGrant,
  LeaseId,
  LeaseProgress,
  LeaseRecord,
  LeaseRequestInput,
  PlatformCatalog,
  RequestId,
  Role,
  SimlockError,
  WireError,
} from "../contract/index.ts";
import type { BoundProcess, Change, Device, Intent } from "./state.ts";

export interface Caller {
  readonly principal: string;
  readonly role: Role;
}

/** Names who waits for an answer. The shell makes it and alone knows what it stands for. */
export type ReplyTo = number;

/** A device as the platform shows it, in the words of the policies. */
export interface Sighting {
  readonly driverDeviceId: string;
  readonly name: string | undefined;
  readonly runState: "running" | "stopped" | "transitioning";
  readonly address: string | undefined;
}

/** One reading of one kind of device. Unreadable is not the same as empty. */
export type Reality =
  | { readonly kind: DeviceKind; readonly readable: true; readonly devices: readonly Sighting[] }
  | { readonly kind: DeviceKind; readonly readable: false; readonly error: string };

export interface Estimate {
  readonly provisionMs: number;
  readonly bootMs: number;
  readonly reclaimMs: number;
}

/** All that can set a decision off: an operation, a clock that reached a deadline, an effect's result, a fact about the world. */
export type Input =
  | {
      readonly kind: "request";
      readonly replyTo: ReplyTo;
      readonly caller: Caller;
      readonly input: LeaseRequestInput;
      readonly boundTo: BoundProcess | undefined;
    }
  | { readonly kind: "cancel"; readonly replyTo: ReplyTo; readonly caller: Caller; readonly requesterId: string }
  /** The connection that waited is gone: nobody can take the grant, unless a key can ask for it again. */
  | { readonly kind: "abandoned"; readonly waiters: readonly ReplyTo[] }
  | {
      readonly kind: "renew";
      readonly replyTo: ReplyTo;
      readonly caller: Caller;
      readonly leaseId: LeaseId;
      readonly ttlMs: number | undefined;
    }
  | {
      readonly kind: "release";
      readonly replyTo: ReplyTo;
      readonly caller: Caller;
      readonly leaseId: LeaseId;
      readonly force: boolean;
    }
  | { readonly kind: "release-all"; readonly replyTo: ReplyTo; readonly caller: Caller }
  /** A process that a lease or a waiting request was bound to has ended. */
  | { readonly kind: "holder-gone"; readonly pid: number; readonly startedAt: string }
  | { readonly kind: "tick" }
  | {
      readonly kind: "effect-done";
      readonly deviceId: DeviceId;
      readonly intentId: string;
      readonly attempt: number;
      readonly result: EffectResult;
    }
  | {
      readonly kind: "catalog";
      readonly of: DeviceKind;
      readonly catalog: PlatformCatalog;
      readonly estimate: Estimate;
    }
  | { readonly kind: "host"; readonly facts: HostFacts }
  | { readonly kind: "reality"; readonly reality: Reality }
  /** The first input of a daemon's life: what the machine shows, before anything is decided. */
  | { readonly kind: "recovered"; readonly realities: readonly Reality[] }
  | {
      readonly kind: "enrol";
      readonly replyTo: ReplyTo;
      readonly of: DeviceKind;
      readonly identity: string;
      readonly address: string;
      readonly spec: DeviceSpec;
      readonly shared: boolean;
      readonly baseline: readonly string[];
    }
  | { readonly kind: "unenrol"; readonly replyTo: ReplyTo; readonly device: string }
  /** doctor --fix, for one device: forget what is gone, correct a state, quarantine what is stalled. */
  | {
      readonly kind: "mend";
      readonly replyTo: ReplyTo;
      readonly deviceId: DeviceId;
      readonly action: "forget-device" | "correct-state" | "quarantine";
    }
  /** A grant could not be handed over: its connection ended first. */
  | { readonly kind: "undelivered"; readonly leaseId: LeaseId }
  /** The holder is about to boot or shut down its own device. */
  | { readonly kind: "power"; readonly leaseId: LeaseId; readonly off: boolean };

export type EffectResult =
  | { readonly ok: true; readonly kind: "create"; readonly driverDeviceId: string }
  | {
      readonly ok: true;
      readonly kind: "boot";
      readonly address: string;
      readonly environment: Readonly<Record<string, string>>;
    }
  | {
      readonly ok: true;
      readonly kind: "clean";
      readonly state: "ready" | "shutdown";
      readonly strategy: string;
      readonly address?: string;
      readonly environment?: Readonly<Record<string, string>>;
    }
  | { readonly ok: true; readonly kind: "shutdown" | "destroy" }
  | { readonly ok: false; readonly error: WireError };

/**
 * Work for a driver. It is let out only after the commit that holds its intent, and its result comes back as an input. Effects on one device are carried
 * out one after another; an effect that a newer one overtakes is aborted, and its result no longer counts.
 */
export interface Effect {
  readonly device: Device;
  readonly intent: Intent;
  /** The lease that has just ended on it: its commands are drained before the device is cleaned. */
  readonly drain: LeaseId | undefined;
}

export type Answer =
  | { readonly kind: "grant"; readonly grant: LeaseGrant }
  | { readonly kind: "cancelled"; readonly result: "cancelled" | "not-found" | "not-cancellable" }
  | { readonly kind: "lease"; readonly lease: LeaseRecord }
  | { readonly kind: "released"; readonly leaseIds: readonly LeaseId[] }
  | { readonly kind: "device"; readonly device: Device; readonly already: boolean }
  | { readonly kind: "done" }
  | { readonly kind: "error"; readonly error: SimlockError };

export interface Reply {
  readonly to: ReplyTo;
  readonly answer: Answer;
}

/** Something that a lease's owner is told without asking. `exceptTo`: the call that caused it, which knows already. */
export type Notice =
  | {
      readonly kind: "lease-lost";
      readonly ownerId: string;
      readonly leaseId: LeaseId;
      readonly deviceId: DeviceId;
      readonly reason: "expired" | "killed" | "device-lost" | "holder-gone" | "released";
      readonly exceptTo: ReplyTo | undefined;
    }
  | {
      readonly kind: "progress";
      readonly to: readonly ReplyTo[];
      readonly requestId: RequestId;
      readonly progress: LeaseProgress;
    };

export interface Decision {
  /** Rows to write, in one commit, with the events. */
  readonly changes: readonly Change[];
  readonly events: readonly EventFact[];
  /** Let out only once the commit stands. */
  readonly replies: readonly Reply[];
  readonly notices: readonly Notice[];
  readonly effects: readonly Effect[];
}
