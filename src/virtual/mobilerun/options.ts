import type { VirtualClock } from "./clock.ts";
import type { Faults } from "./faults.ts";

export interface VirtualMobilerunOptions {
  /** A free one when it is left out. */
  readonly port?: number;
  readonly clock?: VirtualClock;
  /** Answers credential values as they are instead of masked. */
  readonly plaintextCredentials?: boolean;
  /** Lets webhooks be posted beyond this machine. */
  readonly deliverAnywhere?: boolean;
}

export interface VirtualMobilerun {
  /** The base URL, with its version. */
  readonly url: string;
  readonly faults: Faults;
  close(): Promise<void>;
}

/** A key that is known and may do nothing. */
export const FORBIDDEN_KEY = "dr_sk_forbidden";
