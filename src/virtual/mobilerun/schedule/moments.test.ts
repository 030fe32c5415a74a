import { expect, test } from "vitest";
import { momentsOf, type ScheduleRule } from "./moments.ts";

const MADE = Date.parse("2026-03-01T09:00:00Z");

/** The first moments of a rule from `from` on. */
function moments(rule: ScheduleRule, zone: string | null, count: number, from = MADE): string[] {
  const next = momentsOf(rule, zone, MADE);
  const found: string[] = [];
  let after: number | undefined = from;
  while (found.length < count && (after = next(after)) !== undefined) found.push(new Date(after).toISOString());
  return found.map((at) => at.replace(/:00\.000Z$/, "Z"));
}
const cron = (expression: string): ScheduleRule => ({ type: "cron", expression });
const recurring = (rrule: string, dateTime?: string): ScheduleRule => ({ type: "recurring", rrule, dateTime });

test.each<[string, ScheduleRule, string | null, string[]]>([
  [
    "a cron expression on weekdays, before and after the clocks go forward",
    cron("0 9 * * 1-5"),
    "Europe/Berlin",
    ["2026-03-02T08:00Z", "2026-03-03T08:00Z"],
  ],
  ["a cron expression by name", cron("@monthly"), "UTC", ["2026-04-01T00:00Z", "2026-05-01T00:00Z"]],
  ["once, with its offset", { type: "once", dateTime: "2026-03-02T09:00:00+02:00" }, null, ["2026-03-02T07:00Z"]],
  [
    "once, by the clocks of its zone",
    { type: "once", dateTime: "2026-03-02T09:00:00" },
    "America/New_York",
    ["2026-03-02T14:00Z"],
  ],
  [
    "every other day at the time of its start",
    recurring("FREQ=DAILY;INTERVAL=2", "2026-03-01T10:30:00"),
    "UTC",
    ["2026-03-01T10:30Z", "2026-03-03T10:30Z"],
  ],
  [
    "three times from its start and then no more",
    recurring("RRULE:FREQ=DAILY;COUNT=3", "2026-02-28T12:00:00"),
    "UTC",
    ["2026-03-01T12:00Z", "2026-03-02T12:00Z"],
  ],
  [
    "until a moment of UTC in another zone",
    recurring("FREQ=HOURLY;UNTIL=20260301T110000Z"),
    "Asia/Tokyo",
    ["2026-03-01T10:00Z", "2026-03-01T11:00Z"],
  ],
  [
    "days of every second week",
    recurring("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU;BYHOUR=8;BYMINUTE=0", "2026-02-24T00:00:00"),
    "UTC",
    ["2026-03-09T08:00Z", "2026-03-15T08:00Z", "2026-03-23T08:00Z"],
  ],
  [
    "the last Friday and the last day of a month",
    recurring("FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=0;BYMINUTE=0"),
    "UTC",
    ["2026-03-27T00:00Z", "2026-04-24T00:00Z"],
  ],
  [
    "the last day of every month",
    recurring("FREQ=MONTHLY;BYMONTHDAY=-1"),
    "UTC",
    ["2026-03-31T09:00Z", "2026-04-30T09:00Z"],
  ],
  [
    "a leap day, for which the years between are passed over",
    recurring("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29"),
    "UTC",
    ["2028-02-29T09:00Z", "2032-02-29T09:00Z"],
  ],
  ["the first Monday of a year", recurring("FREQ=YEARLY;BYDAY=1MO"), "UTC", ["2027-01-04T09:00Z", "2028-01-03T09:00Z"]],
  [
    "every ninety minutes",
    recurring("FREQ=MINUTELY;INTERVAL=90", "2026-03-01T09:00:00"),
    "UTC",
    ["2026-03-01T10:30Z", "2026-03-01T12:00Z"],
  ],
])("%s", (_, rule, zone, expected) => {
  expect(moments(rule, zone, expected.length)).toEqual(expected);
});

test("a time holds when the clocks of its zone change; the hour that is gone through twice comes once", () => {
  const daily = recurring("FREQ=DAILY;BYHOUR=9;BYMINUTE=0");
  const spring = Date.parse("2026-03-28T00:00:00Z");
  for (const rule of [daily, cron("0 9 * * *")]) {
    expect(moments(rule, "Europe/Berlin", 2, spring)).toEqual(["2026-03-28T08:00Z", "2026-03-29T07:00Z"]);
  }
  const halves = recurring("FREQ=MINUTELY;BYMINUTE=0,30");
  const first = Date.parse("2026-10-25T00:29:00Z");
  expect(moments(halves, "Europe/Berlin", 2, first)).toEqual(["2026-10-25T00:30Z", "2026-10-25T02:00Z"]);
  const second = Date.parse("2026-10-25T01:10:00Z");
  expect(moments(halves, "Europe/Berlin", 1, second)).toEqual(["2026-10-25T02:00Z"]);
});

test.each<[ScheduleRule, string | null, RegExp]>([
  [cron("61 * * * *"), "UTC", /expression: Invalid value for minute: 61/],
  [cron("0 9 * *"), "UTC", /expression: /],
  [cron("* * * * * *"), "UTC", /expression: /],
  [cron("2026-04-01T00:00:00"), "UTC", /expression: .* is no cron expression/],
  [cron("0 9 * * *"), null, /timezone is needed/],
  [cron("0 9 * * *"), "Mars/Crater", /timezone: Mars\/Crater/],
  [{ type: "cron" }, "UTC", /expression is needed/],
  [{ type: "once", dateTime: "tomorrow" }, null, /dateTime: tomorrow/],
  [{ type: "once", dateTime: "2026-13-01" }, null, /dateTime: 2026-13-01/],
  [recurring("every day"), "UTC", /rrule: /],
  [recurring("FREQ=SECONDLY"), "UTC", /rrule: FREQ/],
  [recurring("FREQ=DAILY;BYSETPOS=1"), "UTC", /rrule: BYSETPOS is not known here/],
  [recurring("FREQ=DAILY;BYDAY=1MO"), "UTC", /rrule: BYDAY/],
  [recurring("FREQ=DAILY;INTERVAL=0"), "UTC", /rrule: INTERVAL: 0/],
  [recurring("FREQ=DAILY;UNTIL=20261301"), "UTC", /rrule: UNTIL/],
])("%j in the zone %s is refused with what is wrong", (rule, zone, message) => {
  expect(() => momentsOf(rule, zone, MADE)).toThrow(
    expect.objectContaining({ status: 400, message: expect.stringMatching(message) }),
  );
});

test.each([
  cron("0 0 30 2 *"),
  recurring("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"),
  recurring("FREQ=MINUTELY;INTERVAL=900000"),
])("%j names nothing, and is looked through to a limit only", (rule) => {
  expect(moments(rule, "UTC", 1)).toEqual([]);
});
