import { PUSHES, type LeaseId, type PushPayload } from "../contract/index.ts";

/** How many leases are remembered as announced: far more than one connection holds at once. */
const REMEMBERED = 256;

/** A reason that a newer daemon may give is no reason to keep the loss from the holder. */
const LeaseLost = PUSHES["lease-lost"].extend({ reason: PUSHES["lease-lost"].shape.reason.catch("killed") });

/** What the daemon says without being asked, and who listens. */
export interface Announcements {
  /** Hands a push on. Kinds that are not known, and payloads that can't be read, are dropped. */
  announce(push: string, payload: unknown): void;
  readonly leaseLost: Subject<PushPayload<"lease-lost">>;
  readonly deviceUnhealthy: Subject<PushPayload<"device-unhealthy">>;
  readonly deviceRecovered: Subject<PushPayload<"device-recovered">>;
  readonly event: Subject<PushPayload<"event">>;
}

export function announcements(): Announcements {
  const leaseLost = subject<PushPayload<"lease-lost">>();
  const deviceUnhealthy = subject<PushPayload<"device-unhealthy">>();
  const deviceRecovered = subject<PushPayload<"device-recovered">>();
  const event = subject<PushPayload<"event">>();
  const lost = latest<true>();
  const health = latest<"unhealthy" | "recovered">();
  return {
    leaseLost,
    deviceUnhealthy,
    deviceRecovered,
    event,
    announce(push, payload) {
      switch (push) {
        case "lease-lost": {
          const { data } = LeaseLost.safeParse(payload);
          if (data !== undefined && lost.changes(data.leaseId, true)) leaseLost.emit(data);
          return;
        }
        case "device-unhealthy": {
          const { data } = PUSHES[push].safeParse(payload);
          if (data !== undefined && health.changes(data.leaseId, "unhealthy")) deviceUnhealthy.emit(data);
          return;
        }
        case "device-recovered": {
          const { data } = PUSHES[push].safeParse(payload);
          if (data !== undefined && health.changes(data.leaseId, "recovered")) deviceRecovered.emit(data);
          return;
        }
        case "event": {
          const { data } = PUSHES[push].safeParse(payload);
          if (data !== undefined) event.emit(data);
        }
      }
    },
  };
}

/** The last value of each lease, so that the same thing is not said twice in a row. The oldest lease is forgotten first. */
function latest<T>(): { changes(lease: LeaseId, value: T): boolean } {
  const values = new Map<LeaseId, T>();
  return {
    changes(lease, value) {
      if (values.get(lease) === value) return false;
      values.delete(lease);
      values.set(lease, value);
      const [oldest] = values.keys();
      if (values.size > REMEMBERED && oldest !== undefined) values.delete(oldest);
      return true;
    },
  };
}

export interface Subject<T> {
  listen(listener: (value: T) => void): () => void;
  emit(value: T): void;
}

export function subject<T>(): Subject<T> {
  const listeners = new Set<{ readonly listener: (value: T) => void }>();
  return {
    listen(listener) {
      const entry = { listener };
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    emit(value) {
      for (const { listener } of Array.from(listeners)) guarded(() => listener(value));
    },
  };
}

/** A listener that throws is a fault of its own: it is reported as uncaught, and neither the connection nor other listeners notice. */
export function guarded(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
