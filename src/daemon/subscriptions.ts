import type { EventEnvelope, MintId } from "../contract/index.ts";
import type { Peer } from "./call.ts";

const MAX_PER_PEER = 16;

/** Who gets every event from now on. A subscriber that does not read is cut off by its connection's own bound, and replays from its last event. */
export class Subscriptions {
  readonly #mint: MintId;
  readonly #byPeer = new Map<Peer, Set<string>>();

  constructor(mint: MintId) {
    this.#mint = mint;
  }

  add(peer: Peer): string {
    let ids = this.#byPeer.get(peer);
    if (ids === undefined) {
      ids = new Set();
      this.#byPeer.set(peer, ids);
      peer.onGone(() => this.#byPeer.delete(peer));
    }
    const [oldest] = ids;
    if (ids.size >= MAX_PER_PEER && oldest !== undefined) ids.delete(oldest);
    const id = this.#mint("sub");
    ids.add(id);
    return id;
  }

  remove(peer: Peer): void {
    this.#byPeer.get(peer)?.clear();
  }

  publish(events: readonly EventEnvelope[]): void {
    if (events.length === 0) return;
    for (const [peer, ids] of this.#byPeer) {
      for (const event of events) for (const subscriptionId of ids) peer.push("event", { subscriptionId, event });
    }
  }
}
