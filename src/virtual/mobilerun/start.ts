import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { allEndpoints } from "../../cloud/index.ts";
import { accountHandlers, type Handle } from "./account-handlers.ts";
import { clockUntil, systemClock, type VirtualClock } from "./clock.ts";
import { Fault, createFaults } from "./faults.ts";
import { createLinks, isLink } from "./links.ts";
import { FORBIDDEN_KEY, type VirtualMobilerun, type VirtualMobilerunOptions } from "./options.ts";
import { Problem } from "./problem.ts";
import { readCall } from "./read-call.ts";
import { respond, respondProblem } from "./respond.ts";
import { createRouter } from "./route.ts";

const KEY = /^Bearer (dr_sk_[\x21-\x7e]{1,200})$/;
/** More keys than that are refused: each has a world of its own in memory. */
const MAX_KEYS = 1000;
const FAULT_HEADER = "x-virtual-fault";

/** The server behind `startVirtualMobilerun`. The endpoint table is its router and checks its requests: a web framework would have nothing to do. */
export async function start(options: VirtualMobilerunOptions = {}): Promise<VirtualMobilerun> {
  const closing = new AbortController();
  const faults = createFaults();
  const route = createRouter(allEndpoints);
  const worlds = new Map<string, ReadonlyMap<string, Handle>>();
  const links = createLinks(() => origin(server));
  const settings = {
    clock: clockUntil(closing.signal, options.clock ?? systemClock),
    plaintextCredentials: options.plaintextCredentials ?? false,
    deliverAnywhere: options.deliverAnywhere ?? false,
    closing: closing.signal,
  };

  function worldOf(key: string): ReadonlyMap<string, Handle> {
    const known = worlds.get(key);
    if (known !== undefined) return known;
    if (worlds.size >= MAX_KEYS) throw new Problem(429, "Too many keys");
    const made = accountHandlers(key, { ...settings, link: links.ofKey() });
    worlds.set(key, made);
    return made;
  }

  async function control(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const fault = request.method === "POST" ? parsedFault(Buffer.concat(chunks).toString()) : undefined;
    if (fault !== undefined) faults.add(fault);
    else if (request.method === "DELETE") faults.clear();
    else throw new Problem(405, "Post a fault, or delete all");
    response.writeHead(204).end();
  }

  function serveLinked(request: IncomingMessage, response: ServerResponse, url: URL): void {
    if (request.method !== "GET") throw new Problem(405, "No such method on this path");
    const linked = links.find(url);
    if (linked === undefined) throw new Problem(404, "Nothing is linked here");
    response.writeHead(200, { "content-type": linked.type, "content-length": linked.body.length }).end(linked.body);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://virtual.test");
    if (url.pathname === "/_control/faults") return control(request, response);
    if (isLink(url.pathname)) return serveLinked(request, response, url);
    const found = url.pathname.startsWith("/v1/") ? route(request.method ?? "", url.pathname.slice(3)) : "no such path";
    const key = KEY.exec(request.headers.authorization ?? "")?.[1];
    if (key === undefined) throw new Problem(401, "An API key is needed");
    if (key === FORBIDDEN_KEY) throw new Problem(403, "This key may not do that");
    if (found === "no such path") throw new Problem(404, "No such path");
    if (found === "another method") throw new Problem(405, "No such method on this path");
    const { endpoint, path } = found;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const fault = headerFault(request) ?? faults.take(endpoint.name);
    if (fault?.delayMs !== undefined) await passed(settings.clock, fault.delayMs, gone.signal);
    const call = await readCall(
      request,
      endpoint,
      path,
      url.searchParams,
      AbortSignal.any([gone.signal, closing.signal]),
    );
    if (fault?.status !== undefined) throw new Faulted(fault.status, fault);
    const answer = await worldOf(key).get(endpoint.name)?.(call);
    await respond(response, endpoint, answer, fault);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((thrown: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else if (thrown instanceof Faulted)
        respondProblem(response, new Problem(thrown.status, "A fault on demand"), thrown.fault);
      else respondProblem(response, thrown instanceof Problem ? thrown : new Problem(500, "The virtual API failed"));
    });
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `${origin(server)}/v1`,
    faults,
    async close() {
      closing.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function origin(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

class Faulted extends Error {
  readonly status: number;
  readonly fault: Fault;
  constructor(status: number, fault: Fault) {
    super("a fault on demand");
    this.status = status;
    this.fault = fault;
  }
}

function headerFault(request: IncomingMessage): Fault | undefined {
  const text = request.headers[FAULT_HEADER];
  return typeof text === "string" ? parsedFault(text) : undefined;
}

function parsedFault(text: string): Fault {
  try {
    return Fault.parse(JSON.parse(text));
  } catch {
    throw new Problem(400, "The fault can't be read");
  }
}

function passed(clock: VirtualClock, ms: number, gone: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const callOff = clock.after(ms, resolve);
  gone.addEventListener("abort", () => (callOff(), resolve()), { once: true });
  return promise;
}
