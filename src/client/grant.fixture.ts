import type { LeaseGrant, LeaseRecord } from "../contract/index.ts";
import { DeviceId, LeaseId } from "../contract/index.ts";

export function leaseRecord(id: string): LeaseRecord {
  return {
    id: LeaseId.parse(id),
    deviceId: DeviceId.parse("dev_1"),
    requesterId: "agent",
    ownerId: "agent",
    grantedAt: 1_000,
    ttlMs: 900_000,
    ttlDeadline: 901_000,
    lastRenewedAt: 1_000,
  };
}

export function leaseGrant(id: string): LeaseGrant {
  return {
    device: {
      id: DeviceId.parse("dev_1"),
      driverDeviceId: "6F1C",
      spec: { platform: "ios", model: "iPhone 17", osVersion: "26.0" },
      address: "6F1C",
      mode: "full",
    },
    environment: {},
    lease: leaseRecord(id),
    timing: { estimatedProvisionMs: 0, estimatedBootMs: 0, estimatedReclaimMs: 0, estimatedReadyMs: 0 },
  };
}
