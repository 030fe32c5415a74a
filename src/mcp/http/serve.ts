import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createAdaptorServer, type ServerType } from "@hono/node-server";
import { Hono, type Context } from "hono";
import { cors } from "hono/cors";
import { SimlockError } from "../../contract/index.ts";
import { discoveryOf } from "./discovery.ts";
import type { HttpEnvironment } from "./environment.ts";
import { Front, type Env, type HttpSettings } from "./front.ts";
import { failure, HEADERS, json } from "./responses.ts";

export type { HttpSettings, Log } from "./front.ts";

export interface HttpService {
  /** Where clients reach it: `http://127.0.0.1:8080/mcp`. */
  readonly url: string;
  /** Refuses what comes, lets calls under way finish within a bound, calls off the rest. */
  close(): Promise<void>;
}

/** A header is either there within this time, or somebody holds the connection for nothing. */
const HEADERS_TIMEOUT_MS = 15_000;
/** Longer than proxies keep a connection that nobody uses, 60 s mostly: who closes it first must not be we, just as a request comes on it. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

/** Serves MCP over Streamable HTTP, without sessions. */
export async function serveHttp<C>(settings: HttpSettings<C>): Promise<HttpService> {
  const { environment, log } = settings;
  const front = new Front(settings);
  const app = new Hono<Env>();
  app.get("/health", () => json(200, { status: "ok" }));
  app.get("/ready", async () => {
    const ready = await front.ready();
    return json(ready ? 200 : 503, { status: ready ? "ready" : "not ready" });
  });
  if (environment.MCP_METRICS) app.get("/metrics", (c) => front.metricsText(c));
  for (const [path, document] of discoveryOf(environment))
    app.get(path, () => json(200, document, { "access-control-allow-origin": "*" }));
  const forPages = cors({
    origin: (origin, c: Context<Env>) => (front.admits(c, origin) ? origin : null),
    allowMethods: ["POST"],
    exposeHeaders: ["mcp-session-id", "retry-after", "www-authenticate", "x-request-id"],
    maxAge: 600,
  });
  for (const path of ["/mcp", "/"]) {
    // Only browsers need it, and it makes every answer slower.
    app.use(path, (c, next) => (c.env.incoming.headers.origin === undefined ? next() : forPages(c, next)));
    app.post(path, (c) => front.post(c));
    app.on(["GET", "DELETE"], path, () =>
      failure(405, `There is no session and no stream here: use POST.`, { allow: "POST" }),
    );
  }
  app.notFound(
    () =>
      new Response("404 Not Found", {
        status: 404,
        headers: { ...HEADERS, "content-type": "text/plain; charset=UTF-8" },
      }),
  );
  app.onError((error) => {
    log("error", "mcp_handle_failed", { name: error.name });
    return json(500, { message: "MCP request failed" });
  });

  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      requestTimeout: environment.MCP_REQUEST_TIMEOUT_MS + HEADERS_TIMEOUT_MS,
    },
  });
  await listening(server, environment);
  const { port } = server.address() as AddressInfo;
  const host = environment.MCP_HOST.includes(":") ? `[${environment.MCP_HOST}]` : environment.MCP_HOST;
  log("info", "ip_rate_limit_source", { source: environment.MCP_TRUST_PROXY === false ? "peer" : "x-forwarded-for" });
  log("info", "server_listening", { host: environment.MCP_HOST, port, ...policyOf(environment) });
  return {
    url: `http://${host}:${port}/mcp`,
    close: async () => {
      log("info", "server_shutting_down");
      // It listens until then: /ready tells whoever distributes calls to send no more, and what comes all the same is told to come back.
      await front.drain();
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      if ("closeAllConnections" in server) server.closeAllConnections();
      await closed;
    },
  };
}

const policyOf = ({ MCP_POLICY_FILE, MCP_POLICY_PROFILE }: HttpEnvironment) =>
  MCP_POLICY_FILE === undefined ? { policyProfile: MCP_POLICY_PROFILE } : { policyFile: MCP_POLICY_FILE };

/** @throws {SimlockError} `CONFIG_INVALID` for an address that can't be had */
async function listening(
  server: ServerType,
  { MCP_HOST, PORT }: Pick<HttpEnvironment, "MCP_HOST" | "PORT">,
): Promise<void> {
  server.listen(PORT, MCP_HOST);
  try {
    await once(server, "listening");
  } catch (cause) {
    const why = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
    throw new SimlockError("CONFIG_INVALID", `PORT ${PORT} on MCP_HOST ${MCP_HOST} can't be listened on: ${why}.`, {
      hint: "Choose another; PORT=0 takes a free one.",
      cause,
    });
  }
}
