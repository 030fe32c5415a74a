import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { SimlockError } from "../../contract/index.ts";
import { decodePlan } from "../documents/decode-plan.ts";
import { ReceiptSchema } from "../documents/plan-schema.ts";
import type { JsonValue, Plan, Receipt } from "../types.ts";

/** How many runs a folder keeps; the oldest go first. */
const MOST_RUNS = 200;

const Json = z.json();
const Line = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("begin"),
    version: z.literal(1),
    at: z.string(),
    power: z.enum(["booted", "shutdown", "unsettled"]),
    plan: z.unknown(),
  }),
  /** Written before an operation; `before` is what the device had, left out where it is unknown. */
  z.object({ type: z.literal("start"), at: z.string(), id: z.string(), before: Json.exactOptional() }),
  z.object({ type: z.literal("end"), at: z.string(), id: z.string(), receipt: ReceiptSchema }),
  /** The device that the plan made. */
  z.object({ type: z.literal("bound"), at: z.string(), udid: z.string() }),
  z.object({ type: z.literal("undone"), at: z.string(), id: z.string() }),
  z.object({ type: z.literal("finish"), at: z.string(), status: z.enum(["succeeded", "failed", "rolledBack"]) }),
]);
type Line = z.infer<typeof Line>;

/** What is written, by those who have it as what it is. */
type Entry =
  | { readonly type: "begin"; readonly version: 1; readonly power: JournalledRun["power"]; readonly plan: Plan }
  | { readonly type: "start"; readonly id: string; readonly before?: JsonValue }
  | { readonly type: "end"; readonly id: string; readonly receipt: Receipt }
  | { readonly type: "bound"; readonly udid: string }
  | { readonly type: "undone"; readonly id: string }
  | { readonly type: "finish"; readonly status: "succeeded" | "failed" | "rolledBack" };

/**
 * What a run did, a JSON object a line, each on disk before the next thing happens. It holds the plan and what was there before with their values, as
 * a run can't be resumed without: nobody but the owner may read it.
 */
export class Journal {
  readonly path: string;
  readonly #file: number;

  private constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, "a", 0o600);
  }

  static begin(folder: string, plan: Plan, power: "booted" | "shutdown" | "unsettled", udid: string): Journal {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    retire(folder);
    const stamp = new Date().toISOString().replace(/[-:.]/g, "");
    const journal = new Journal(join(folder, `${stamp}-${udid}-${randomBytes(4).toString("hex")}.jsonl`));
    journal.write({ type: "begin", version: 1, power, plan });
    return journal;
  }

  static reopen(path: string): Journal {
    const journal = new Journal(path);
    // A line that a crash tore must not run into the next one.
    writeSync(journal.#file, "\n");
    return journal;
  }

  write(line: Entry): void {
    writeSync(this.#file, `${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`);
    fsyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}

export interface JournalledRun {
  readonly plan: Plan;
  readonly power: "booted" | "shutdown" | "unsettled";
  /** By operation, in the order in which they were begun; `before` is undefined where it was not known. */
  readonly started: ReadonlyMap<string, { readonly before: JsonValue | undefined }>;
  readonly receipts: ReadonlyMap<string, Receipt>;
  readonly undone: ReadonlySet<string>;
  readonly bound: string | undefined;
  readonly finished: "succeeded" | "failed" | "rolledBack" | undefined;
}

/** Reads a journal; a last line that was torn by a crash is passed over. Throws BAD_REQUEST for a file that is none. */
export function readJournal(path: string): JournalledRun {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new SimlockError("BAD_REQUEST", `The journal ${path} can't be read.`, { cause: error });
  }
  const lines = text.split("\n").flatMap((line) => lineOf(line) ?? []);
  const [begin] = lines;
  if (begin?.type !== "begin") throw new SimlockError("BAD_REQUEST", `${path} is no journal of an applied plan.`);
  const started = new Map<string, { readonly before: JsonValue | undefined }>();
  const receipts = new Map<string, Receipt>();
  const undone = new Set<string>();
  let bound: string | undefined;
  let finished: JournalledRun["finished"];
  for (const line of lines) {
    if (line.type === "start") {
      // What was there before the first attempt is what counts.
      if (!started.has(line.id)) started.set(line.id, { before: line.before });
      finished = undefined;
    }
    if (line.type === "end") receipts.set(line.id, line.receipt);
    if (line.type === "undone") undone.add(line.id);
    if (line.type === "bound") bound = line.udid;
    if (line.type === "finish") finished = line.status;
  }
  return { plan: decodePlan(begin.plan), power: begin.power, started, receipts, undone, bound, finished };
}

/** The device of a journal's run: the one that it made, or the one that its plan names. Throws BAD_REQUEST. */
export function deviceOfJournal(path: string): string {
  const { bound, plan } = readJournal(path);
  return bound ?? plan.targetUDID;
}

function lineOf(text: string): Line | undefined {
  try {
    const parsed = Line.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** Names begin with their time, so the oldest come first. */
function retire(folder: string): void {
  const runs = readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .toSorted();
  for (const name of runs.slice(0, Math.max(0, runs.length - MOST_RUNS + 1)))
    rmSync(join(folder, name), { force: true });
}
