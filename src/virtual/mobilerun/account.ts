import { createHash } from "node:crypto";
import type { VirtualClock } from "./clock.ts";
import type { Link } from "./links.ts";

export interface VirtualEvent {
  readonly type: string;
  /** tasks, devices, workflows, or what an ingested event says. */
  readonly source: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly deviceId?: string | undefined;
}

export interface PublishedEvent extends VirtualEvent {
  readonly id: string;
  readonly at: string;
}

/** What the domains of one key share: its clock, its ids, who it is, and what happens. Nothing in it is seen by another key. */
export interface Account {
  readonly clock: VirtualClock;
  /** Credential values are masked unless it is set. */
  readonly plaintextCredentials: boolean;
  /** Webhooks are posted to this machine only, unless it is set. */
  readonly deliverAnywhere: boolean;
  readonly owner: { readonly userId: string; readonly ownerId: string; readonly createdBy: string };
  mint(prefix: string): string;
  /** A UUID where the API has them. */
  mintUuid(): string;
  /** ISO 8601. */
  now(): string;
  publish(event: VirtualEvent): PublishedEvent;
  subscribe(listener: (event: PublishedEvent) => void): void;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
  /** Keeps bytes for whoever has the URL that it answers. */
  readonly link: Link;
}

export interface AccountOptions {
  readonly clock: VirtualClock;
  readonly plaintextCredentials: boolean;
  readonly deliverAnywhere: boolean;
  readonly closing: AbortSignal;
  readonly link: Link;
}

export function createAccount(key: string, options: AccountOptions): Account {
  const mark = createHash("sha256").update(key).digest("hex").slice(0, 8);
  const listeners: ((event: PublishedEvent) => void)[] = [];
  let minted = 0;
  const account: Account = {
    ...options,
    owner: { userId: `usr-${mark}`, ownerId: `org-${mark}`, createdBy: `usr-${mark}` },
    mint: (prefix) => `${prefix}-${mark.slice(0, 4)}${(minted += 1).toString(16).padStart(4, "0")}`,
    mintUuid: () => `${mark}-0000-4000-8000-${(minted += 1).toString(16).padStart(12, "0")}`,
    now: () => new Date(options.clock.now()).toISOString(),
    publish(event) {
      const published = { ...event, id: account.mint("evt"), at: account.now() };
      for (const listener of listeners) listener(published);
      return published;
    },
    subscribe: (listener) => void listeners.push(listener),
  };
  return account;
}
