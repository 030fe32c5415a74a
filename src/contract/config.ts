import { z } from "zod";
import { DurationMs } from "./lease.ts";

const defaultModels = z.partialRecord(
  z.enum(["phone", "tablet", "watch", "tv", "vision", "auto", "desktop"]),
  z.union([z.string(), z.array(z.string())]),
);

const maxDevices = z.int().min(0).max(256).describe("Devices of this platform that may exist at once.");
const maxRunning = z.int().min(0).max(256).describe("Devices of this platform that may run at once.");

/**
 * `config.json` in the home, merged over these defaults and read when the daemon starts. Unknown keys are warned of; a wrong value
 * stops the start. Times are milliseconds.
 */
export const Config = z.object({
  capacity: z
    .object({
      strategy: z
        .enum(["resource", "fixed"])
        .default("resource")
        .describe("From the host's processors and memory, or a fixed number."),
      maxRunning: z
        .int()
        .min(1)
        .max(256)
        .optional()
        .describe("Devices that may run at once. Under `fixed`: 2 when left out."),
      ios: z
        .object({ maxDevices: maxDevices.optional(), maxRunning: maxRunning.optional() })
        .prefault({})
        .describe("Limits for simulators."),
      android: z
        .object({ maxDevices: maxDevices.optional(), maxRunning: maxRunning.optional() })
        .prefault({})
        .describe("Limits for emulators. Attached devices do not count."),
    })
    .prefault({}),
  lease: z
    .object({
      defaultTtlMs: DurationMs.default(15 * 60_000).describe(
        "How long a lease lasts without renewal, when the request does not say.",
      ),
      maxTtlMs: DurationMs.default(4 * 3_600_000).describe("The most a request may ask for; more is refused."),
      requestRetentionMs: DurationMs.default(10 * 60_000).describe(
        "How long a settled request is kept for its idempotency key.",
      ),
      maxRequestRecords: z
        .int()
        .min(100)
        .max(1_000_000)
        .default(10_000)
        .describe("How many settled requests are kept at most."),
      maxWaiting: z.int().min(1).max(1_000_000).default(20_000).describe("How many requests may wait at once."),
    })
    .prefault({}),
  exec: z
    .object({
      timeoutMs: DurationMs.default(10 * 60_000).describe("The time limit of one command."),
      drainMs: DurationMs.default(60_000).describe("How long a command may go on after its lease has ended."),
      hostCode: z
        .enum(["allow", "deny"])
        .default("allow")
        .describe("Whether commands that run code on the host (flag X) are let through."),
      writableRoots: z
        .array(z.string())
        .default([])
        .describe("Folders beside the scratch folder that a confined command may write to."),
      maxConcurrent: z.int().min(1).max(10_000).default(256).describe("How many commands may run at once."),
    })
    .prefault({}),
  ios: z
    .object({
      deviceSet: z
        .string()
        .optional()
        .describe("An absolute path: keep our simulators in a device set of their own there."),
      defaultModels: defaultModels.default({}).describe("Models for a class, most wanted first."),
      bootTimeoutMs: DurationMs.default(120_000).describe("How long a simulator may take to boot."),
    })
    .prefault({}),
  android: z
    .object({
      adbServerPort: z
        .int()
        .min(1024)
        .max(65_535)
        .default(5037)
        .describe("The adb server that attached devices are on."),
      defaultModels: defaultModels.default({}).describe("Models for a class, most wanted first."),
    })
    .prefault({}),
  quarantine: z
    .object({
      maxRetries: z.int().min(0).max(100).default(3).describe("How often cleaning is tried again after it failed."),
      retryBackoffMs: DurationMs.default(30_000).describe("The pause before the first new try."),
      retryBackoffMultiplier: z.number().min(1).max(10).default(2).describe("Each pause is this many times the last."),
      maxRetryBackoffMs: DurationMs.default(5 * 60_000).describe("The longest pause between two tries."),
    })
    .prefault({}),
  health: z
    .object({
      probeIntervalMs: DurationMs.default(30_000).describe("How often the machine is read while a device is leased."),
      stableObservations: z
        .int()
        .min(1)
        .max(100)
        .default(2)
        .describe("How many readings in a row must miss a device before it counts as gone."),
    })
    .prefault({}),
  stalledTransition: z
    .object({
      thresholdMultiplier: z
        .number()
        .min(1)
        .default(3)
        .describe("Work on a device counts as stalled after this many times its estimate."),
      minimumThresholdMs: DurationMs.default(60_000).describe("It never counts as stalled before this."),
    })
    .prefault({}),
  eventLog: z
    .object({
      retentionMs: DurationMs.default(7 * 24 * 3_600_000).describe("How long events are kept."),
      maxEvents: z.int().min(1000).max(10_000_000).default(200_000).describe("How many events are kept at most."),
    })
    .prefault({}),
  log: z
    .object({
      level: z
        .enum(["debug", "info", "warn", "error"])
        .default("info")
        .describe("The least weighty lines that are written."),
      rotateBytes: z
        .int()
        .min(4096)
        .default(5 * 1024 * 1024)
        .describe("The log file is rotated at this size; one old file is kept."),
    })
    .prefault({}),
});
export type Config = z.infer<typeof Config>;

export const DEFAULT_CONFIG: Config = Config.parse({});
