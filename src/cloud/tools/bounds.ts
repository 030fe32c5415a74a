import { z } from "zod";

/** Of an answer as JSON, in characters; some 12,000 tokens. */
export const MAX_ANSWER = 48_000;
const CLIPPED_TEXT = 2000;

/** What each answer says when not all of it was sent, and how to get the rest. Clients are told once, in the instructions. */
export const cut = { truncated: z.boolean().optional(), note: z.string().optional() };

export interface Slice {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}
export const MAX_SLICE = 200;
const DEFAULT_SLICE = 100;

export const sliceFields = {
  offset: z.int().min(0).optional().describe("Skip this many; nextOffset of the answer before."),
  limit: z.int().min(1).max(MAX_SLICE).optional().describe(`At most this many, ${DEFAULT_SLICE} when left out.`),
};
export const sliced = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    total: z.int(),
    offset: z.int(),
    hasMore: z.boolean(),
    nextOffset: z.int().optional(),
  });

/** A part of a list that the platform sends whole. */
export function sliceOf<T>(all: readonly T[] | null | undefined, { offset = 0, limit = DEFAULT_SLICE }: Slice) {
  const list = all ?? [];
  const items = list.slice(offset, offset + limit);
  const next = offset + items.length;
  const hasMore = next < list.length;
  return { items, total: list.length, offset, hasMore, ...(hasMore ? { nextOffset: next } : {}) };
}

type Answer = Record<string, unknown>;

/**
 * The answer, made to fit: long texts are clipped first, then its longest list is shortened. It says so, and how to get the rest. A slice's
 * `nextOffset` follows, so that paging goes on where the answer really ended.
 */
export function fitted(answer: Answer, limit = MAX_ANSWER): Answer {
  if (sizeOf(answer) <= limit) return answer;
  const clipped = clipTexts(answer, 0) as Answer;
  const note = `Long texts were clipped to ${CLIPPED_TEXT} characters.`;
  if (sizeOf(clipped) <= limit - note.length - 64) return { ...clipped, truncated: true, note };
  return shortened(clipped, limit);
}

function shortened(answer: Answer, limit: number): Answer {
  const key = longestList(answer);
  const list = key === undefined ? undefined : answer[key];
  if (key === undefined || !Array.isArray(list)) return replaced(answer, limit);
  let kept = list.length;
  let result: Answer = answer;
  while (kept > 0) {
    kept = kept === 1 ? 0 : Math.floor(kept * 0.7);
    result = {
      ...answer,
      [key]: list.slice(0, kept),
      ...paging(answer, kept),
      truncated: true,
      note: noteOn(key, kept, list.length, answer),
    };
    if (sizeOf(result) <= limit) return result;
  }
  return replaced(result, limit);
}

function paging(answer: Answer, kept: number): Answer {
  return typeof answer.offset === "number" ? { hasMore: true, nextOffset: answer.offset + kept } : {};
}

function noteOn(key: string, kept: number, all: number, answer: Answer): string {
  const more =
    typeof answer.offset === "number"
      ? "Go on with offset=nextOffset."
      : "Ask for fewer with a smaller pageSize or limit, or with a filter; one entry in full by its id.";
  return `Only the first ${kept} of ${all} in ${key} fit into the answer. ${more}`;
}

/** Nothing in it is a list: its biggest values give way, biggest first, until the rest fits. */
function replaced(answer: Answer, limit: number): Answer {
  const result: Answer = { ...answer };
  const dropped: string[] = [];
  const bySize = Object.keys(result).sort((a, b) => sizeOf(result[b]) - sizeOf(result[a]));
  for (const key of bySize) {
    if (sizeOf(result) <= limit - 200) break;
    const inner = result[key];
    if (isAnswer(inner) && longestList(inner) !== undefined) {
      result[key] = shortened(inner, Math.max(1000, limit - 400 - (sizeOf(result) - sizeOf(inner))));
      if (sizeOf(result) <= limit - 200) break;
    }
    delete result[key];
    dropped.push(key);
  }
  const note =
    dropped.length === 0 ? "Parts of it did not fit into the answer." : `Too long to send: ${dropped.join(", ")}.`;
  return { ...result, truncated: true, note };
}

function longestList(answer: Answer): string | undefined {
  let longest: string | undefined;
  let size = 0;
  for (const [key, value] of Object.entries(answer)) {
    if (!Array.isArray(value) || value.length === 0) continue;
    const its = sizeOf(value);
    if (its > size) [longest, size] = [key, its];
  }
  return longest;
}

function clipTexts(value: unknown, depth: number): unknown {
  if (typeof value === "string") return value.length > CLIPPED_TEXT ? `${value.slice(0, CLIPPED_TEXT)}…` : value;
  if (typeof value !== "object" || value === null || depth > 64) return value;
  if (Array.isArray(value)) return value.map((item) => clipTexts(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, clipTexts(inner, depth + 1)]));
}

const isAnswer = (value: unknown): value is Answer =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const sizeOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0;
