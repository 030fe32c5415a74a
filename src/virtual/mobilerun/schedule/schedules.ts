import { createHash } from "node:crypto";
import type { Account } from "../account.ts";
import { Problem } from "../problem.ts";
import { momentsOf, type Moments, type ScheduleRule } from "./moments.ts";

/** A trigger as far as its schedule goes. */
export interface Scheduled {
  readonly id: string;
  nextFireTime: string | null;
}

export interface Schedules<T extends Scheduled> {
  /** Lets a trigger follow a rule instead of the one before; throws 400, and changes nothing, when the rule can't be followed. */
  follow(trigger: T, rule: ScheduleRule, timezone: string | null): void;
  drop(trigger: T): void;
}

/** One timer for each trigger, for its next moment. What it missed while the machine slept is not made up for. */
export function createSchedules<T extends Scheduled>(account: Account, fire: (trigger: T) => void): Schedules<T> {
  const waiting = new Map<string, () => void>();

  function wait(trigger: T, moments: Moments, jitter: ScheduleRule["jitter"], after: number): void {
    const at = moments(after);
    trigger.nextFireTime = at === undefined ? null : new Date(at).toISOString();
    waiting.delete(trigger.id);
    if (at === undefined) return;
    // Never before the moment that went before: two in a row stay two.
    const due = Math.max(after, at + shift(trigger, at, jitter));
    const callOff = account.clock.after(due - account.clock.now(), () => {
      wait(trigger, moments, jitter, Math.max(at, account.clock.now()));
      fire(trigger);
    });
    waiting.set(trigger.id, callOff);
  }

  const schedules: Schedules<T> = {
    follow(trigger, rule, timezone) {
      const now = account.clock.now();
      const moments = momentsOf(rule, timezone, now);
      if (moments(now) === undefined) throw new Problem(400, "scheduleRule: it names no moment to come");
      schedules.drop(trigger);
      wait(trigger, moments, rule.jitter, now);
    },
    drop(trigger) {
      waiting.get(trigger.id)?.();
      waiting.delete(trigger.id);
    },
  };
  return schedules;
}

/** How far from its moment a trigger fires: anywhere within its jitter, and each time anew in the same place. */
function shift(trigger: Scheduled, at: number, jitter: ScheduleRule["jitter"]): number {
  const before = (jitter?.beforeMinutes ?? 0) * 60_000;
  const span = before + (jitter?.afterMinutes ?? 0) * 60_000;
  const share = createHash("sha256").update(`${trigger.id} ${at}`).digest().readUInt32BE(0) / 2 ** 32;
  return Math.round(span * share) - before;
}
