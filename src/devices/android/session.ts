import type { ListedDevice } from "./device-list.ts";
import type { IdentityVerdict } from "./identity.ts";
import type { Sight } from "./sight.ts";

const PASSING = new Set(["offline", "authorizing", "connecting"]);
/** How long news waits for a device that is being asked who it is. */
const ANSWER_MS = 3_000;

/** What we know of one connection. It is forgotten with the connection: another device may come under the same serial. */
export interface Knowledge {
  readonly key: string;
  readonly listed: ListedDevice;
  verdict: IdentityVerdict | undefined;
  /** Why there is no verdict. */
  problem: string | undefined;
  asking: Promise<void> | undefined;
  askedAt: number;
  /** When it answered last, or failed to; 0 before the first time. */
  heardAt: number;
  silent: boolean;
}

/** What one life of a server has shown. A new server numbers its connections anew, so nothing is carried over. */
export class Session {
  readonly protocol: number;
  readonly #young: boolean;
  readonly #settleMs: number;
  readonly #since = performance.now();
  readonly #known = new Map<string, Knowledge>();
  #listed: readonly ListedDevice[] = [];

  /**
   * `young`: the server was started only now. `settleMs`: how long such a server looks for its devices, and how long a device may be in a state that
   * passes.
   */
  constructor(protocol: number, { young, settleMs }: { young: boolean; settleMs: number }) {
    this.protocol = protocol;
    this.#young = young;
    this.#settleMs = settleMs;
  }

  /** Takes a list over. Whatever was not `device` for however short a time is forgotten: the server may have connected to another since. */
  apply(devices: readonly ListedDevice[]): void {
    this.#listed = devices;
    const answering = new Map(devices.filter(({ state }) => state === "device").map((one) => [keyOf(one), one]));
    for (const [key, { listed }] of this.#known) {
      if (answering.get(key)?.serial !== listed.serial) this.#known.delete(key);
    }
    for (const [key, listed] of answering) {
      if (this.#known.has(key)) continue;
      this.#known.set(key, {
        key,
        listed,
        verdict: undefined,
        problem: undefined,
        asking: undefined,
        askedAt: 0,
        heardAt: 0,
        silent: false,
      });
    }
  }

  get known(): readonly Knowledge[] {
    return [...this.#known.values()];
  }

  knownOf(listed: ListedDevice): Knowledge | undefined {
    return this.#known.get(keyOf(listed));
  }

  /** Whether this is still what we know of its connection. */
  holds(known: Knowledge): boolean {
    return this.#known.get(known.key) === known;
  }

  forget(known: Knowledge): void {
    if (this.holds(known)) this.#known.delete(known.key);
  }

  /** How long its list can't be taken for complete: at first, while the server still looks or a device is still being let in. */
  get incompleteForMs(): number {
    const settling = this.#young || this.#listed.some(({ state }) => PASSING.has(state));
    return settling ? this.#since + this.#settleMs - performance.now() : 0;
  }

  /** The same, and how long a device that was just found may still be asked who it is. Told too early, it would look like one that has gone. */
  get untoldForMs(): number {
    const now = performance.now();
    const asked = this.known
      .filter((known) => known.asking !== undefined && known.heardAt === 0)
      .map((known) => known.askedAt + ANSWER_MS - now);
    return Math.max(this.incompleteForMs, ...asked);
  }

  get sights(): readonly Sight[] {
    return this.#listed.map((listed) => {
      const known = listed.state === "device" ? this.knownOf(listed) : undefined;
      return {
        listed,
        identity: known?.verdict?.kind === "known" ? known.verdict.identity : undefined,
        problem: known?.problem,
        silent: known?.silent ?? false,
      };
    });
  }
}

function keyOf(listed: ListedDevice): string {
  return listed.transportId === undefined ? `serial ${listed.serial}` : String(listed.transportId);
}
