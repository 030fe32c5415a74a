import type { EventEnvelope, EventFact } from "../contract/index.ts";
import type { Change, StoredState } from "../leasing/index.ts";

export interface EventQuery {
  readonly sinceTs?: number | undefined;
  readonly afterSeq?: number | undefined;
  readonly limit: number;
}

/** The daemon's database: one writer, one commit for changes and the events that tell of them. */
export interface Store {
  load(): StoredState;
  /**
   * Writes all of it in one transaction at `synchronous=FULL`, or nothing. Returns the events as they were written. Throws when the commit
   * fails: the caller must stop before it says anything.
   */
  commit(
    changes: readonly Change[],
    events: readonly EventFact[],
    at: { readonly wall: number },
  ): readonly EventEnvelope[];
  events(query: EventQuery): { readonly events: readonly EventEnvelope[]; readonly more: boolean };
  /** Removes events beyond the retention, a bounded batch a call. Returns how many. */
  trimEvents(limits: { readonly before: number; readonly keep: number }): number;
  lastSeq(): number;
  close(): void;
}

export interface OpenStoreOptions {
  readonly path: string;
  readonly mintEventId: () => string;
}
