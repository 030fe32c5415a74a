import type { DeviceId, LeaseId, PushPayload } from "../contract/index.ts";

/** Something that happened to a lease while nobody asked. `data` is what the client is told. */
export interface Notice {
  readonly level: "warning" | "info";
  readonly data: {
    readonly message: string;
    readonly leaseId: LeaseId;
    readonly deviceId: DeviceId;
    readonly reason?: string;
    readonly attempts?: number;
  };
}

/** A lease that ended under its holder. The reason is `unknown` where we only found it gone. */
export interface LostLease {
  readonly leaseId: LeaseId;
  readonly deviceId: DeviceId;
  readonly reason: PushPayload<"lease-lost">["reason"] | "unknown";
}

const HOW: Readonly<Record<LostLease["reason"], string>> = {
  expired: "its time to live ran out before it was renewed",
  killed: "an operator ended it",
  released: "its owner gave it back elsewhere",
  "device-lost": "its device is gone",
  "holder-gone": "the process that it was bound to has ended",
  unknown: "the daemon does not know it any more",
};

export function leaseLostNotice(lost: LostLease): Notice {
  // A newer daemon may know reasons that we do not.
  const how = Object.hasOwn(HOW, lost.reason) ? HOW[lost.reason] : lost.reason;
  return {
    level: "warning",
    data: {
      message: `Lease ${lost.leaseId} is lost: ${how}. The device is no longer yours; call lease_simulator for another.`,
      ...lost,
    },
  };
}

export function unhealthyNotice(push: { leaseId: LeaseId; deviceId: DeviceId; reason: string }): Notice {
  return {
    level: "warning",
    data: {
      message: `The device of lease ${push.leaseId} is unhealthy (${push.reason}) and is being recovered. What ran on it is gone.`,
      ...push,
    },
  };
}

export function recoveredNotice(push: { leaseId: LeaseId; deviceId: DeviceId; attempts: number }): Notice {
  return {
    level: "info",
    data: {
      message: `The device of lease ${push.leaseId} works again. Apps have to be launched anew.`,
      ...push,
    },
  };
}
