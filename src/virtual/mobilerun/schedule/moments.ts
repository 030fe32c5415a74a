import { Cron, CronDate } from "croner";
import { Problem } from "../problem.ts";
import { recurrence } from "./recurrence.ts";

export interface ScheduleRule {
  readonly type: "once" | "cron" | "recurring";
  readonly dateTime?: string | undefined;
  readonly expression?: string | undefined;
  readonly rrule?: string | undefined;
  readonly jitter?:
    { readonly beforeMinutes?: number | undefined; readonly afterMinutes?: number | undefined } | undefined;
}

/** The next moment after another, in milliseconds since 1970; undefined when none comes. */
export type Moments = (after: number) => number | undefined;

/**
 * The moments that a rule names. Times without an offset are of `timezone`, of UTC when there is none; a recurring rule starts at its
 * `dateTime`, or else at `made`. Throws 400 when the rule or the zone can't be
 * read, or the zone is missing where days turn on it.
 */
export function momentsOf(rule: ScheduleRule, timezone: string | null, made: number): Moments {
  if (timezone === null && rule.type !== "once") throw new Problem(400, "timezone is needed");
  const zone = timezone ?? "UTC";
  if (!isZone(zone)) throw new Problem(400, `timezone: ${zone} is no IANA time zone`);
  switch (rule.type) {
    case "once": {
      const at = instant(needed(rule, "dateTime"), zone);
      return (after) => (at > after ? at : undefined);
    }
    case "cron":
      return cronMoments(needed(rule, "expression"), zone);
    case "recurring": {
      const text = needed(rule, "rrule");
      const start = rule.dateTime === undefined ? made : instant(rule.dateTime, zone);
      const wallOf = (at: number) => wallTime(at, zone);
      const times = recurrence(text, wallOf(start), wallOf);
      return (after) => {
        for (const wall of times(wallOf(after))) {
          const at = instantOf(wall, zone);
          // An hour that the clock goes through twice is gone through once.
          if (at > after) return at;
        }
        return undefined;
      };
    }
  }
}

function cronMoments(expression: string, zone: string): Moments {
  const cron = readCron(expression, zone);
  // The library takes a date for an expression too.
  if (cron.getPattern() === undefined)
    throw new Problem(400, `scheduleRule.expression: ${expression} is no cron expression`);
  return (after) => cron.nextRun(new Date(after))?.getTime();
}

function readCron(expression: string, zone: string): Cron {
  try {
    return new Cron(expression, { timezone: zone, mode: "5-part" });
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message.replace(/^CronPattern: /, "") : "it can't be read";
    throw new Problem(400, `scheduleRule.expression: ${why}`);
  }
}

function needed(rule: ScheduleRule, field: "dateTime" | "expression" | "rrule"): string {
  const value = rule[field];
  if (value === undefined) throw new Problem(400, `scheduleRule.${field} is needed for the type ${rule.type}`);
  return value;
}

function isZone(zone: string): boolean {
  try {
    return Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const ISO = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(Z|[+-]\d\d:\d\d)?$/;

function instant(text: string, zone: string): number {
  const [, date, time = "T00:00", offset] = ISO.exec(text) ?? [];
  const at = Date.parse(`${date}${time}${offset ?? "Z"}`);
  if (Number.isNaN(at)) throw new Problem(400, `scheduleRule.dateTime: ${text} is no moment of ISO 8601`);
  return offset === undefined ? instantOf(at, zone) : at;
}

/** What the clocks of a zone show, as milliseconds of a UTC day that reads the same. */
function wallTime(at: number, zone: string): number {
  const { year, month, day, hour, minute, second } = new CronDate(new Date(at), zone);
  return Date.UTC(year, month, day, hour, minute, second);
}

function instantOf(wall: number, zone: string): number {
  return new CronDate(new Date(wall).toISOString().slice(0, 19), zone).getTime();
}
