import { randomFillSync } from "node:crypto";
import { z } from "zod";

/** Opaque ids. Each kind has its own prefix, so that an id in a log says what it names. */
export const DeviceId = z
  .string()
  .regex(/^dev_[A-Za-z0-9_-]{1,64}$/)
  .brand("DeviceId");
export type DeviceId = z.infer<typeof DeviceId>;

export const LeaseId = z.string().min(1).max(200).brand("LeaseId");
export type LeaseId = z.infer<typeof LeaseId>;

export const RequestId = z
  .string()
  .regex(/^req_[A-Za-z0-9_-]{1,64}$/)
  .brand("RequestId");
export type RequestId = z.infer<typeof RequestId>;

export const EventId = z
  .string()
  .regex(/^evt_[A-Za-z0-9_-]{1,64}$/)
  .brand("EventId");
export type EventId = z.infer<typeof EventId>;

export type IdPrefix = "dev" | "lse" | "req" | "evt" | "int" | "run" | "sub" | "tok";

/** Makes a new id. A port: tests hand in a counter. */
export type MintId = (prefix: IdPrefix) => string;

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** Asking the system for random bytes costs more than all else in making an id: they are fetched for many at once. */
const ID_LENGTH = 16;
const pool = Buffer.allocUnsafe(ID_LENGTH * 256);
let used = pool.length;

/** 16 characters of base 32: 80 random bits. */
export const mintId: MintId = (prefix) => {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let id = "";
  for (const end = used + ID_LENGTH; used < end; used += 1) id += ALPHABET[(pool[used] ?? 0) & 31];
  return `${prefix}_${id}`;
};
