import type { SimlockClient } from "../client/index.ts";
import { SimlockError } from "../contract/index.ts";

/** Opens a connection to the daemon. `launch`: start the daemon when nothing listens. */
export type Connect = (options: { readonly launch: boolean }) => Promise<SimlockClient>;

export const sessionClosed = (): SimlockError => new SimlockError("SESSION_CLOSED", "This MCP session is closed.");

/**
 * The session's one connection, opened when it is first needed and again after it was lost. A tool call may start the daemon, the renewal
 * timer never does.
 */
export class Connection {
  readonly #connect: Connect;
  readonly #onOpen: (client: SimlockClient) => void;
  #live: SimlockClient | undefined;
  #opening: { readonly launch: boolean; readonly client: Promise<SimlockClient> } | undefined;
  #closed = false;

  constructor(connect: Connect, onOpen: (client: SimlockClient) => void) {
    this.#connect = connect;
    this.#onOpen = onOpen;
  }

  /** The connection, if there is one now. */
  get live(): SimlockClient | undefined {
    return this.#live;
  }

  /** Throws what connecting throws, and `SESSION_CLOSED` after `close`. */
  async open(options: { readonly launch: boolean }): Promise<SimlockClient> {
    if (this.#closed) throw sessionClosed();
    if (this.#live !== undefined) return this.#live;
    const underWay = this.#opening;
    if (underWay === undefined) return this.#start(options.launch);
    if (underWay.launch || !options.launch) return underWay.client;
    // We joined an attempt that may not start the daemon. Where it fails, try once more with one that may.
    return underWay.client.catch(() => this.open(options));
  }

  async close(): Promise<void> {
    this.#closed = true;
    const live = this.#live;
    this.#live = undefined;
    await live?.close();
  }

  #start(launch: boolean): Promise<SimlockClient> {
    const client = this.#connect({ launch }).then(
      async (opened) => {
        this.#opening = undefined;
        if (this.#closed) {
          await opened.close();
          throw sessionClosed();
        }
        this.#live = opened;
        opened.onConnectionLost(() => {
          if (this.#live === opened) this.#live = undefined;
        });
        this.#onOpen(opened);
        return opened;
      },
      (error: unknown) => {
        this.#opening = undefined;
        throw error;
      },
    );
    this.#opening = { launch, client };
    return client;
  }
}
