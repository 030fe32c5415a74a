import { LOG_LEVEL_META_KEY, type McpServer, type ServerContext } from "@modelcontextprotocol/server";
import type { Notice } from "./notices.ts";
import type { Era } from "./versions.ts";

const LOGGER = "simlock";
const MAX_WAITING = 64;

/**
 * Tells the client what happened to its lease, as log messages. A legacy client gets them at once. From 2026-07-28 on a server may log only
 * to a request that asked for it: there a message goes to the requests under way, else to the next one that asks.
 */
export class Messenger {
  readonly #server: McpServer;
  readonly #era: Era;
  readonly #listening = new Set<ServerContext>();
  #waiting: Notice[] = [];

  constructor(server: McpServer, era: Era) {
    this.#server = server;
    this.#era = era;
  }

  /** A request begins. Returns its end. */
  open(context: ServerContext): () => void {
    const wants = Object.hasOwn(context.mcpReq.envelope ?? {}, LOG_LEVEL_META_KEY);
    if (this.#era === "legacy" || !wants) return () => {};
    this.#listening.add(context);
    for (const notice of this.#waiting.splice(0)) this.#log(context, notice);
    return () => this.#listening.delete(context);
  }

  tell(notice: Notice): void {
    if (this.#era === "legacy") {
      this.#server.sendLoggingMessage({ level: notice.level, logger: LOGGER, data: notice.data }).catch(() => {});
      return;
    }
    const [context] = this.#listening;
    if (context !== undefined) this.#log(context, notice);
    else {
      this.#waiting.push(notice);
      if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    }
  }

  #log(context: ServerContext, notice: Notice): void {
    context.mcpReq.log(notice.level, notice.data, LOGGER).catch(() => {});
  }
}
