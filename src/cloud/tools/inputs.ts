import { z } from "zod";

/** An id as it came from the platform. What a path would take for itself or its parent is none. */
export const id = z
  .string()
  .min(1)
  .max(256)
  .refine((value) => value !== "." && value !== "..", "is not an id");
export const deviceId = id.describe("Device id, from list_devices.");
export const packageName = z.string().min(1).max(256).describe("Package name of the app, as in com.example.notes.");
export const page = z.int().positive().describe("Page, from 1.");
export const pageSize = z.int().positive().max(100).describe("Entries a page.");
export const json = z.record(z.string(), z.unknown());
export const text = z.string();
export const flag = z.boolean();
export const port = z.int().min(1).max(65_535);

/** The longest wait that one call may ask for, in seconds. */
export const MAX_WAIT_S = 600;
export const waitSeconds = z
  .int()
  .min(0)
  .max(MAX_WAIT_S)
  .describe("How long to wait at most. Progress is reported meanwhile.");
