import { z } from "zod";

const VerbPattern = z
  .string()
  .min(1)
  .max(64)
  .describe("A verb (`boot`), a verb and one of its words (`io screenshot`), or `*` for every call.");
const Milliseconds = z.int().min(0).max(3_600_000);

/** One thing that goes wrong. What it does to a call is what it has fields for; several may hold at once. */
export const Fault = z.strictObject({
  verb: VerbPattern,
  device: z.string().optional().describe("Only calls that name this device, by the word that they use for it."),
  skip: z.int().min(0).max(1_000_000).optional().describe("Matching calls that pass before the first one is hit."),
  times: z.int().min(1).max(1_000_000).optional().describe("How many calls are hit; without it every one."),
  delayMs: Milliseconds.optional().describe("Wait before doing anything."),
  noise: z
    .strictObject({ stdout: z.string().optional(), stderr: z.string().optional() })
    .optional()
    .describe("Printed before the call's own output."),
  fail: z
    .strictObject({
      exit: z.int().min(0).max(255),
      stdout: z.string().optional(),
      stderr: z.string().optional(),
    })
    .optional()
    .describe("Do nothing, print this, exit so. Exit 0 is a success that did nothing."),
  failAfter: z
    .strictObject({ exit: z.int().min(0).max(255), stderr: z.string().optional() })
    .optional()
    .describe("Do it, then answer as if it had failed."),
  hang: z.literal(true).optional().describe("Never answer; ends on a signal."),
  kill: z
    .enum(["before", "during", "after"])
    .optional()
    .describe(
      "SIGKILL of the call itself: before it did anything, after its first change is stored, or before it answers.",
    ),
  boot: z
    .enum(["never", "no-display"])
    .optional()
    .describe("For `boot` and `bootstatus -b`: stay in Booting for ever, or come up without a screen."),
});
export type Fault = z.infer<typeof Fault>;

/** What `<root>/faults.json` may say. It is read at each call; `{}` is a Mac without faults. */
export const Control = z.strictObject({
  pace: z
    .enum(["none", "quick", "real"])
    .optional()
    .describe("How long things take: at once, some hundred milliseconds (default), or what is measured on a Mac."),
  latencyMs: z
    .record(z.string(), Milliseconds)
    .optional()
    .describe(
      "By verb, over the pace: `boot`, `bootstatus`, `shutdown`, `erase`, `create`, …; `*` is added to every call.",
    ),
  format: z
    .enum(["today", "mixed", "legacy"])
    .optional()
    .describe("The form of `list -j`: today's, both kinds of availability, or that of Xcode 10 and before."),
  listappsJson: z.enum(["json", "plist"]).optional().describe("What `listapps --json` prints: both are seen on Macs."),
  missingRuntimes: z
    .array(z.string())
    .max(64)
    .optional()
    .describe("Identifiers of runtimes that are not installed: their devices are unavailable."),
  xcode: z
    .enum(["installed", "command-line-tools", "absent"])
    .optional()
    .describe("Without Xcode, xcrun finds no simctl and exits 72; absent also has no xcodebuild."),
  faults: z.array(Fault).max(256).optional(),
});
export type Control = z.infer<typeof Control>;
