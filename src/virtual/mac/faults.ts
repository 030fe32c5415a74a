import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Control, Fault } from "./control.ts";
import { failure } from "./failure.ts";

const FILE = "faults.json";
/** The text that was found valid, so that a call need not load the schema: zod alone would double the start of a small process. */
const CHECKED = "faults.checked.json";

interface Checked {
  readonly text: string;
  readonly control: Control;
  /** Names the counters of this text: a new text starts them anew. */
  readonly generation: string;
}

export interface ReadControl {
  readonly control: Control;
  readonly generation: string;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Reads the control file, checked. Throws `badControl` when it is not what `Control` says. */
export async function readControl(root: string): Promise<ReadControl> {
  const text = textOf(join(root, FILE));
  if (text === undefined) return { control: {}, generation: "none" };
  const known = textOf(join(root, CHECKED));
  if (known !== undefined) {
    const checked: Checked = JSON.parse(known);
    if (checked.text === text) return checked;
  }
  const [{ Control }, { createHash }] = await Promise.all([import("./control.ts"), import("node:crypto")]);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw failure("badControl", { why: error instanceof Error ? error.message : String(error) });
  }
  const parsed = Control.safeParse(json);
  if (!parsed.success) throw failure("badControl", { why: parsed.error.issues.map(issueText).join("; ") });
  // A text that was written by hand is counted by its content: two calls that check it at once must agree on the counters.
  const generation = createHash("sha256").update(text).digest("hex").slice(0, 16);
  writeWhole(join(root, CHECKED), JSON.stringify({ text, control: parsed.data, generation }));
  return { control: parsed.data, generation };
}

function issueText(issue: { readonly path: readonly PropertyKey[]; readonly message: string }): string {
  return `${issue.path.map(String).join(".") || "the file"}: ${issue.message}`;
}

/** Writes a checked control file; its counters start anew even if the text is the same as before. */
export function storeControl(root: string, control: Control): void {
  const text = `${JSON.stringify(control, null, 2)}\n`;
  // The checked copy first: a call between the two sees the old text, finds that the copy is not of it, and checks it itself.
  writeWhole(
    join(root, CHECKED),
    JSON.stringify({ text, control, generation: `${Date.now()}-${process.pid}-${Math.random()}` }),
  );
  writeWhole(join(root, FILE), text);
}

/** A reader sees the old or the new file, never half of one. */
export function writeWhole(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  writeFileSync(draft, content);
  renameSync(draft, path);
}

/** The faults that hit this call, each counted once for it. */
export function claimFaults(root: string, read: ReadControl, words: readonly string[]): readonly Fault[] {
  const hits: Fault[] = [];
  for (const [index, fault] of (read.control.faults ?? []).entries()) {
    if (!matches(fault, words)) continue;
    if (fault.skip === undefined && fault.times === undefined) hits.push(fault);
    else {
      const last = fault.times === undefined ? Infinity : (fault.skip ?? 0) + fault.times;
      const turn = nextTurn(join(root, "faults.used", read.generation), index, last);
      if (turn !== undefined && turn >= (fault.skip ?? 0)) hits.push(fault);
    }
  }
  return hits;
}

function matches(fault: Fault, words: readonly string[]): boolean {
  if (fault.device !== undefined && !words.includes(fault.device)) return false;
  if (fault.verb === "*") return true;
  const [verb, second] = fault.verb.split(" ");
  return verb === words[0] && (second === undefined || words.slice(1, 4).includes(second));
}

/** Takes the next free number below `limit`: the file system gives each number to one call only. */
function nextTurn(folder: string, fault: number, limit: number): number | undefined {
  mkdirSync(folder, { recursive: true });
  for (let turn = 0; turn < limit; turn++) {
    try {
      closeSync(openSync(join(folder, `${fault}-${turn}`), "wx"));
      return turn;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
  return undefined;
}
