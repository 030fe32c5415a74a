import { Problem } from "../problem.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** How many days and times are looked at for one answer: what comes later than that is taken for nothing, and no rule takes longer. */
const MAX_STEPS = 100_000;
/** The last day that four digits can write. */
const LAST = Date.UTC(9999, 11, 31);

const FREQUENCIES = ["MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"] as const;
const WEEKDAYS = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"] as const;

interface Weekday {
  readonly weekday: number;
  /** The first, the last but one: 1, -2. Zero is each of them. */
  readonly ordinal: number;
}

interface Rule {
  readonly frequency: (typeof FREQUENCIES)[number];
  readonly interval: number;
  readonly count: number;
  readonly until: number;
  readonly months: readonly number[];
  readonly monthDays: readonly number[];
  readonly weekdays: readonly Weekday[];
  readonly hours: readonly number[];
  readonly minutes: readonly number[];
  readonly weekStart: number;
}

/** Times of the wall clock, as milliseconds of a UTC day that reads the same: what time zone they are in is the caller's concern. */
export type WallTimes = (after: number) => Iterable<number>;

/**
 * The moments of an RFC 5545 recurrence rule that begins at `start`, in their order. BYSECOND, BYSETPOS, BYWEEKNO, BYYEARDAY and
 * FREQ=SECONDLY are refused with 400, as is what can't be read. Each answer is bounded, so that a rule which never comes true ends too.
 */
export function recurrence(text: string, start: number, wallOf: (instant: number) => number): WallTimes {
  const rule = defaulted(parsed(text, wallOf), new Date(start));
  const startDay = Math.floor(start / DAY_MS) * DAY_MS;
  const seconds = start % MINUTE_MS;
  return function* (after) {
    let left = rule.count;
    // Only a rule with a count has to be gone through from its start.
    const from = Number.isFinite(left) ? startDay : Math.max(startDay, Math.floor(after / DAY_MS) * DAY_MS);
    let steps = 0;
    for (let day = from; steps < MAX_STEPS; day += DAY_MS) {
      steps += 1;
      if (!dayFits(rule, startDay, day)) continue;
      for (const time of timesOf(rule, day)) {
        steps += 1;
        const at = time + seconds;
        if (at > rule.until || left === 0) return;
        if (at < start || !timeFits(rule, start, time)) continue;
        left -= 1;
        if (at > after) yield at;
      }
    }
  };
}

function parsed(text: string, wallOf: (instant: number) => number): Rule {
  const parts = new Map(
    text
      .replace(/^RRULE:/i, "")
      .split(";")
      .map((part) => {
        const [name = "", value = "", more] = part.toUpperCase().split("=");
        if (value === "" || more !== undefined) throw wrong(`${part} is no part of a rule`);
        return [name, value] as const;
      }),
  );
  const take = (name: string) => {
    const value = parts.get(name);
    parts.delete(name);
    return value;
  };
  const numbers = (name: string, least: number, most: number) =>
    take(name)
      ?.split(",")
      .map((value) => whole(name, value, least, most)) ?? [];
  const positive = (name: string, otherwise: number) => {
    const value = take(name);
    return value === undefined ? otherwise : whole(name, value, 1, Number.MAX_SAFE_INTEGER);
  };

  const named = take("FREQ");
  const frequency = FREQUENCIES.find((one) => one === named);
  if (frequency === undefined) throw wrong(`FREQ has to be one of ${FREQUENCIES.join(", ")}`);
  const until = take("UNTIL");
  const rule: Rule = {
    frequency,
    interval: positive("INTERVAL", 1),
    count: positive("COUNT", Infinity),
    until: until === undefined ? LAST : untilOf(until, wallOf),
    months: numbers("BYMONTH", 1, 12),
    monthDays: numbers("BYMONTHDAY", -31, 31),
    weekdays: take("BYDAY")?.split(",").map(weekdayOf) ?? [],
    hours: numbers("BYHOUR", 0, 23),
    minutes: numbers("BYMINUTE", 0, 59),
    weekStart: weekdayOf(take("WKST") ?? "MO").weekday,
  };
  const [unknown] = parts.keys();
  if (unknown !== undefined) throw wrong(`${unknown} is not known here`);
  if (rule.monthDays.includes(0)) throw wrong("BYMONTHDAY has no day 0");
  if (rule.weekdays.some(({ ordinal }) => ordinal !== 0) && frequency !== "MONTHLY" && frequency !== "YEARLY")
    throw wrong("BYDAY counts weekdays in a month or a year only");
  return rule;
}

/** What a rule leaves open is taken from its start: the time, and the day where nothing else names one. */
function defaulted(rule: Rule, start: Date): Rule {
  const { frequency, hours, minutes } = rule;
  const timed = {
    hours: hours.length > 0 || frequency === "HOURLY" || frequency === "MINUTELY" ? hours : [start.getUTCHours()],
    minutes: minutes.length > 0 || frequency === "MINUTELY" ? minutes : [start.getUTCMinutes()],
  };
  if (rule.weekdays.length > 0 || rule.monthDays.length > 0) return { ...rule, ...timed };
  if (frequency === "WEEKLY") return { ...rule, ...timed, weekdays: [{ weekday: start.getUTCDay(), ordinal: 0 }] };
  if (frequency !== "MONTHLY" && frequency !== "YEARLY") return { ...rule, ...timed };
  const months = frequency === "YEARLY" && rule.months.length === 0 ? [start.getUTCMonth() + 1] : rule.months;
  return { ...rule, ...timed, months, monthDays: [start.getUTCDate()] };
}

function dayFits(rule: Rule, startDay: number, day: number): boolean {
  const date = new Date(day);
  const month = date.getUTCMonth();
  const monthDay = date.getUTCDate();
  const length = daysIn(date.getUTCFullYear(), month);
  return (
    periods(rule, new Date(startDay), date) % rule.interval === 0 &&
    (rule.months.length === 0 || rule.months.includes(month + 1)) &&
    (rule.monthDays.length === 0 || rule.monthDays.some((one) => one === monthDay || length + 1 + one === monthDay)) &&
    (rule.weekdays.length === 0 || rule.weekdays.some((one) => isWeekday(rule, one, date, length)))
  );
}

/** How many of the rule's periods lie between its start and a day. Hours and minutes are counted where the times are. */
function periods({ frequency, weekStart }: Rule, start: Date, day: Date): number {
  const days = (date: Date) => date.getTime() / DAY_MS;
  const years = day.getUTCFullYear() - start.getUTCFullYear();
  switch (frequency) {
    case "YEARLY":
      return years;
    case "MONTHLY":
      return years * 12 + day.getUTCMonth() - start.getUTCMonth();
    case "WEEKLY": {
      const intoWeek = (start.getUTCDay() - weekStart + 7) % 7;
      return Math.floor((days(day) - days(start) + intoWeek) / 7);
    }
    case "DAILY":
      return days(day) - days(start);
    default:
      return 0;
  }
}

function isWeekday(rule: Rule, { weekday, ordinal }: Weekday, date: Date, monthLength: number): boolean {
  if (date.getUTCDay() !== weekday) return false;
  if (ordinal === 0) return true;
  const inYear = rule.frequency === "YEARLY" && rule.months.length === 0;
  const year = date.getUTCFullYear();
  const place = inYear ? (date.getTime() - Date.UTC(year, 0, 1)) / DAY_MS : date.getUTCDate() - 1;
  const length = inYear ? (Date.UTC(year + 1, 0, 1) - Date.UTC(year, 0, 1)) / DAY_MS : monthLength;
  return ordinal > 0 ? Math.floor(place / 7) === ordinal - 1 : Math.floor((length - 1 - place) / 7) === -ordinal - 1;
}

function* timesOf({ hours, minutes }: Rule, day: number): Generator<number> {
  for (let hour = 0; hour < 24; hour += 1) {
    if (hours.length > 0 && !hours.includes(hour)) continue;
    for (let minute = 0; minute < 60; minute += 1) {
      if (minutes.length === 0 || minutes.includes(minute)) yield day + hour * HOUR_MS + minute * MINUTE_MS;
    }
  }
}

function timeFits({ frequency, interval }: Rule, start: number, time: number): boolean {
  if (frequency !== "HOURLY" && frequency !== "MINUTELY") return true;
  const unit = frequency === "HOURLY" ? HOUR_MS : MINUTE_MS;
  return (Math.floor(time / unit) - Math.floor(start / unit)) % interval === 0;
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
}

function weekdayOf(text: string): Weekday {
  const [, ordinal = "", name] = /^([+-]?\d{1,2})?([A-Z]{2})$/.exec(text) ?? [];
  const weekday = WEEKDAYS.findIndex((one) => one === name);
  if (weekday < 0) throw wrong(`${text} is no day of the week`);
  return { weekday, ordinal: Number(ordinal) };
}

/** `20260301T090000` is local as the rule's start is, with a Z it is UTC; a date alone holds to its end. */
function untilOf(text: string, wallOf: (instant: number) => number): number {
  const [, year, month, day, time, hour, minute, second, utc] =
    /^(\d{4})(\d\d)(\d\d)(T(\d\d)(\d\d)(\d\d)(Z)?)?$/.exec(text) ?? [];
  if (year === undefined) throw wrong(`UNTIL: ${text} is no moment`);
  const clock = time === undefined ? "23:59:59" : `${hour}:${minute}:${second}`;
  const at = Date.parse(`${year}-${month}-${day}T${clock}Z`);
  if (Number.isNaN(at)) throw wrong(`UNTIL: ${text} is no moment`);
  return utc === undefined ? at : wallOf(at);
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) throw wrong(`${name}: ${text} is not in its range`);
  return value;
}

function wrong(what: string): Problem {
  return new Problem(400, `scheduleRule.rrule: ${what}`);
}
