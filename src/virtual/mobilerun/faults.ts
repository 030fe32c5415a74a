import { z } from "zod";

/**
 * Something that goes wrong on demand. `status` and `delayMs` go together; the others replace a good answer. `drop` closes the connection in
 * the middle of the body, `nullItems` and `missingFields` change a good JSON answer in ways that a client has to survive.
 */
export const Fault = z.strictObject({
  /** Only for this endpoint, by its name in the table; for any when it is left out. */
  endpoint: z.string().optional(),
  /** How many calls it befalls; one when it is left out. */
  times: z.int().positive().optional(),
  delayMs: z.int().min(0).max(600_000).optional(),
  status: z.int().min(200).max(599).optional(),
  retryAfter: z.string().optional(),
  body: z.enum(["drop", "html", "malformed", "wrongType", "huge", "nullItems", "missingFields"]).optional(),
});
export type Fault = z.infer<typeof Fault>;

export interface Faults {
  add(fault: Fault): void;
  /** The fault that befalls this call, counted down. */
  take(endpoint: string): Fault | undefined;
  clear(): void;
}

export function createFaults(): Faults {
  let pending: { fault: Fault; left: number }[] = [];
  return {
    add: (fault) => void pending.push({ fault, left: fault.times ?? 1 }),
    take(endpoint) {
      const found = pending.find(({ fault }) => fault.endpoint === undefined || fault.endpoint === endpoint);
      if (found === undefined) return undefined;
      found.left -= 1;
      if (found.left === 0) pending = pending.filter((other) => other !== found);
      return found.fault;
    },
    clear: () => void (pending = []),
  };
}

/** More than any client should take: a JSON string of 32 MiB. */
export const HUGE_BYTES = 32 * 1024 * 1024;

/** A good answer with `items` (or the list itself) null, or without what may be missing: every null and every field of a nested object's. */
export function spoiled(body: unknown, how: "nullItems" | "missingFields"): unknown {
  if (how === "nullItems") {
    if (Array.isArray(body)) return null;
    if (!isObject(body)) return body;
    return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, Array.isArray(value) ? null : value]));
  }
  return bare(body);
}

const KEPT =
  /^(id|.*Id|name|items|data|pagination|page|pages|pageSize|total|hasNext|hasPrev|task|status|url|urls|files|event)$/;

function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => KEPT.test(name));
  // An object of which nothing would be left is made of required fields only.
  return kept.length === 0 ? value : Object.fromEntries(kept.map(([name, inner]) => [name, bare(inner)]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
