import { DeviceId, LeaseId, RequestId, type EventFact } from "../contract/index.ts";
import type { Change, Device, Lease, Request } from "../leasing/index.ts";

/** Rows for tests: valid, with every optional field left out unless it is named. */
export function deviceRow(id: string, more: Partial<Device> = {}): Device {
  return {
    id: DeviceId.parse(id),
    kind: "simulator",
    spec: { platform: "ios", model: "iPhone 17", osVersion: "26.0" },
    class: "phone",
    mode: "full",
    state: "ready",
    stateSince: 1_000,
    physical: false,
    shared: false,
    name: `simlock-${id}`,
    mark: `mark-${id}`,
    driverDeviceId: undefined,
    address: undefined,
    environment: {},
    baseline: undefined,
    createdAt: 1_000,
    lastLeaseEndedAt: undefined,
    intent: undefined,
    quarantine: undefined,
    ...more,
  };
}

export function leaseRow(id: string, device: string, requester: string, more: Partial<Lease> = {}): Lease {
  return {
    id: LeaseId.parse(id),
    deviceId: DeviceId.parse(device),
    requestId: RequestId.parse("req_1"),
    requesterId: requester,
    ownerId: requester,
    grantedAt: 2_000,
    ttlMs: 900_000,
    ttlDeadline: 902_000,
    lastRenewedAt: 2_000,
    boundTo: undefined,
    poweredOff: false,
    ...more,
  };
}

export function requestRow(id: string, seq: number, requester: string, more: Partial<Request> = {}): Request {
  return {
    id: RequestId.parse(id),
    seq,
    requesterId: requester,
    ownerId: requester,
    principal: requester,
    input: { platform: "ios", model: "iPhone 17" },
    boundTo: undefined,
    createdAt: 1_500,
    deadline: undefined,
    state: "open",
    failures: 0,
    settledAt: undefined,
    grant: undefined,
    failure: undefined,
    ...more,
  };
}

export const putDevice = (row: Device): Change => ({ table: "devices", key: row.id, row });
export const putLease = (row: Lease): Change => ({ table: "leases", key: row.id, row });
export const putRequest = (row: Request): Change => ({ table: "requests", key: row.id, row });

export const renewed = (lease: string, deadline: number): EventFact => ({
  event: "lease.renewed",
  payload: { leaseId: LeaseId.parse(lease), deadline },
});
