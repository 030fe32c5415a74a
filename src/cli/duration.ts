import { SimlockError } from "../contract/index.ts";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** What a timer can hold, and with it the contract's limit. */
const LONGEST_MS = 2_147_483_647;

/**
 * "90s", "15m", "1h30m", "1.5h" in milliseconds. A bare number has no unit and is refused: 30 could be seconds or milliseconds.
 * Throws `USAGE`.
 */
export function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  const whole = parts.map((part) => part[0]).join("");
  if (parts.length === 0 || whole !== text) {
    throw new SimlockError("USAGE", `"${text}" is not a length of time.`, {
      hint: "Write a number with a unit (ms, s, m, h, d), like 90s, 15m or 1h30m.",
    });
  }
  const total = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNITS[unit ?? ""] ?? Number.NaN), 0);
  const ms = Math.round(total);
  if (ms < 1 || ms > LONGEST_MS) {
    throw new SimlockError("USAGE", `"${text}" is out of range: a length of time is 1ms to 24d.`);
  }
  return ms;
}

/** A length of time for people, its two largest units: "1h 5m", "42s", "350ms". */
export function spanOf(ms: number): string {
  const rounded = Math.max(0, Math.round(ms));
  if (rounded < 1000) return `${rounded}ms`;
  const seconds = Math.round(rounded / 1000);
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  const parts: readonly (readonly [number, string])[] = [
    [days, "d"],
    [hours, "h"],
    [minutes, "m"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount}${unit}`)
    .join(" ");
}

/** "3m ago", "just now". Times are epoch milliseconds. */
export function agoOf(at: number, now: number): string {
  return now - at < 1000 ? "just now" : `${spanOf(now - at)} ago`;
}

/** "in 14m", "overdue". Times are epoch milliseconds. */
export function untilOf(at: number, now: number): string {
  return at <= now ? "overdue" : `in ${spanOf(at - now)}`;
}
