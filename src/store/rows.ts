import { z } from "zod";
import {
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
import type { Device, Lease, Request, TableName, Tables } from "../leasing/index.ts";

const BoundProcess = z.object({ pid: z.int(), startedAt: z.string() });

const DeviceBody = z.object({
  id: DeviceId,
  kind: DeviceKind,
  spec: DeviceSpec,
  class: DeviceClass.optional(),
  mode: DeviceMode,
  state: DeviceState,
  stateSince: z.number(),
  physical: z.boolean(),
  shared: z.boolean(),
  name: z.string(),
  mark: z.string(),
  driverDeviceId: z.string().optional(),
  address: z.string().optional(),
  environment: z.record(z.string(), z.string()),
  baseline: z.array(z.string()).optional(),
  createdAt: z.number(),
  lastLeaseEndedAt: z.number().optional(),
  intent: z
    .object({
      id: z.string(),
      kind: z.enum(["create", "boot", "clean", "shutdown", "destroy"]),
      attempt: z.int(),
      startedAt: z.number(),
      because: z.string(),
    })
    .optional(),
  quarantine: z
    .object({
      error: z.string(),
      goal: z.enum(["clean", "destroy"]),
      attempts: z.int(),
      nextRetryAt: z.number().exactOptional(),
      stranded: z.boolean(),
    })
    .optional(),
});

const LeaseBody = z.object({
  id: LeaseId,
  deviceId: DeviceId,
  requestId: RequestId,
  requesterId: z.string(),
  ownerId: z.string(),
  grantedAt: z.number(),
  ttlMs: z.number(),
  ttlDeadline: z.number(),
  lastRenewedAt: z.number(),
  boundTo: BoundProcess.optional(),
  poweredOff: z.boolean(),
});

const RequestBody = z.object({
  id: RequestId,
  seq: z.int(),
  requesterId: z.string(),
  ownerId: z.string(),
  principal: z.string(),
  // The caller's input was checked when it came; a field that a later version knows is no reason to refuse the row.
  input: z.object(LeaseRequestInput.shape),
  boundTo: BoundProcess.optional(),
  createdAt: z.number(),
  deadline: z.number().optional(),
  state: z.enum(["open", "granted", "failed", "cancelled"]),
  failures: z.int(),
  settledAt: z.number().optional(),
  grant: LeaseGrant.optional(),
  failure: WireError.optional(),
});

/** JSON has no `undefined`: a field that was undefined is absent in the body, and is put back here. */
function device(body: unknown): Device {
  const row = DeviceBody.parse(body);
  return {
    ...row,
    class: row.class,
    driverDeviceId: row.driverDeviceId,
    address: row.address,
    baseline: row.baseline,
    lastLeaseEndedAt: row.lastLeaseEndedAt,
    intent: row.intent,
    quarantine: row.quarantine,
  };
}

function lease(body: unknown): Lease {
  const row = LeaseBody.parse(body);
  return { ...row, boundTo: row.boundTo };
}

function request(body: unknown): Request {
  const row = RequestBody.parse(body);
  return {
    ...row,
    boundTo: row.boundTo,
    deadline: row.deadline,
    settledAt: row.settledAt,
    grant: row.grant,
    failure: row.failure,
  };
}

/** A row from the parsed JSON of its body. Throws what zod throws when it is not one. */
export const ROWS: { readonly [T in TableName]: (body: unknown) => Tables[T] } = {
  devices: device,
  leases: lease,
  requests: request,
};
