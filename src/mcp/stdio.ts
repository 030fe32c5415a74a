import type { Readable, Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Channel } from "./channel.ts";
import { systemClock, within, type Clock } from "./clock.ts";
import { Gate, refuse, type ClientAnswer, type Notification, type Request } from "./gate.ts";
import { LineWriter } from "./line-writer.ts";
import { Lines, type Line } from "./lines.ts";
import { watchForEnd, type WatchedProcess } from "./process-end.ts";
import { createMcpServer } from "./server.ts";
import type { Write } from "./stdout-guard.ts";
import type { GatedToolset } from "./toolset.ts";
import type { Era } from "./versions.ts";

const MAX_LINE_BYTES = 8 * 1024 * 1024;
/** More than an agent ever asks at once, and few enough that their answers fit in memory when nobody reads them. */
const MAX_UNANSWERED = 64;
const LINES_AT_ONCE = 32;
const TOO_MANY = -32000;
const LAST_ANSWERS_MS = 500;
/** How long calls that were called off may take to say so to the audit. */
const LAST_CALLS_MS = 500;

export interface StdioSettings {
  readonly toolset: GatedToolset;
  readonly version: string;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly write: Write;
  /** A line for the log of the client, which keeps our standard error. */
  readonly report: (line: string) => void;
  readonly process: WatchedProcess;
  readonly clock?: Clock;
}

/**
 * Serves one client until its input ends, its output breaks, a signal comes or the parent dies. Then the toolset is closed, requests under
 * way get their answers, and what is left to write is written; each of it within a bound. Returns the process's exit code.
 */
export async function serveOverStdio(settings: StdioSettings): Promise<number> {
  const clock = settings.clock ?? systemClock;
  const ended = Promise.withResolvers<number>();
  const writer = new LineWriter(settings.stdout, settings.write, () => ended.resolve(0));
  const servers = new Servers(settings, writer, clock);
  const gate = new Gate(settings.toolset.pingsInEveryEra === true ? settings.version : undefined);
  const unwatch = watchForEnd(settings.process, (exitCode) => ended.resolve(exitCode));
  let over = false;
  void readLines(settings.stdin, writer, (line) => {
    if (over) return;
    const verdict = gate.judge(line.kind === "line" ? line.bytes : null);
    if (verdict.kind === "deliver") servers.deliver(verdict.era, verdict.message);
    else if (verdict.kind === "answer") writer.write(verdict.reply);
    else if (verdict.kind === "answered") servers.answered(verdict.message);
  }).then(() => ended.resolve(0));

  const exitCode = await ended.promise;
  over = true;
  settings.stdin.destroy();
  await settings.toolset.close();
  // What was under way has failed by now. Its answers go out in this turn of the loop, before the SDK calls off what it still knows of.
  await setImmediate();
  await servers.close();
  await within(clock, LAST_CALLS_MS, servers.idle());
  await within(clock, LAST_ANSWERS_MS, writer.flushed());
  unwatch();
  return exitCode;
}

/**
 * Hands on each line until the input ends. A client that does not read is not heard either, so that its requests cannot pile up here as
 * answers; and many requests in one chunk let those before them be answered.
 */
async function readLines(stdin: Readable, writer: LineWriter, take: (line: Line) => void): Promise<void> {
  const lines = new Lines(MAX_LINE_BYTES);
  let taken = 0;
  try {
    for await (const chunk of stdin) {
      for (const line of lines.push(chunk)) {
        take(line);
        taken += 1;
        if (taken % LINES_AT_ONCE === 0) await setImmediate();
        if (writer.behind) await writer.caughtUp();
      }
    }
  } catch {
    // The input broke, or was closed by us: either way there is no more of it.
  }
  for (const line of lines.end()) take(line);
}

/** The server of each era, made when the client turns to it. Both serve one toolset. */
class Servers {
  readonly #settings: StdioSettings;
  readonly #writer: LineWriter;
  readonly #clock: Clock;
  readonly #channels = new Map<Era, Channel>();
  readonly #closers: (() => Promise<void>)[] = [];
  readonly #calls = new Set<Promise<unknown>>();

  constructor(settings: StdioSettings, writer: LineWriter, clock: Clock) {
    this.#settings = settings;
    this.#writer = writer;
    this.#clock = clock;
  }

  deliver(era: Era, message: Request | Notification): void {
    const channel = this.#channels.get(era) ?? this.#open(era);
    const refusal = "id" in message ? refusalOf(message, channel) : undefined;
    if (refusal !== undefined) this.#writer.write(refusal.reply);
    else if ("id" in message || isJSONRPCNotification(message)) channel.deliver(message);
  }

  /** Only what a server has asked has an answer. */
  answered(message: ClientAnswer): void {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
      this.#channels.get("legacy")?.answered(message);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#closers.map((close) => within(this.#clock, LAST_ANSWERS_MS, close())));
  }

  /** Resolves when no call is under way. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#calls);
  }

  #open(era: Era): Channel {
    const channel = new Channel((message) => this.#write(message));
    this.#channels.set(era, channel);
    const make = () => this.#make(era);
    if (era === "modern") {
      const handle = serveStdio(make, { legacy: "reject", transport: channel });
      this.#closers.push(() => handle.close());
    } else {
      const server = make();
      void server.connect(channel);
      this.#closers.push(() => server.close());
    }
    return channel;
  }

  #make(era: Era): ReturnType<typeof createMcpServer> {
    const { toolset, version, report } = this.#settings;
    const onFault = (tool: string, fault: unknown) =>
      report(`simlock mcp: ${tool} failed unexpectedly: ${placeOf(fault)}`);
    const onCall = (call: Promise<unknown>) => {
      const over = () => this.#calls.delete(call);
      this.#calls.add(call);
      call.then(over, over);
    };
    return createMcpServer(toolset, { version, era, onFault, onCall });
  }

  /** Progress is worth nothing to a client that does not read: it is left out, all else is written. */
  #write(message: JSONRPCMessage): void {
    const isProgress = "method" in message && message.method === "notifications/progress";
    if (isProgress && this.#writer.behind) return;
    this.#writer.write(message);
  }
}

/** Why a request that the gate let through can't be served. */
function refusalOf(request: Request, channel: Channel) {
  if (channel.isUnanswered(request.id)) {
    // Not under its id: the client would take it for the answer to the first.
    return refuse(null, -32600, `Invalid Request: a request with the id ${JSON.stringify(request.id)} is under way`);
  }
  if (channel.unanswered >= MAX_UNANSWERED) {
    return refuse(request.id, TOO_MANY, `Too many requests at once: at most ${MAX_UNANSWERED}`);
  }
  // The SDK passes over what its own schema does not take.
  const { id } = request;
  return isJSONRPCRequest(request) ? undefined : refuse(id, -32602, "Invalid params");
}

/** The kind of an error and where it was thrown. Its message is left out: it may hold what the client sent. */
function placeOf(fault: unknown): string {
  if (!(fault instanceof Error)) return typeof fault;
  const frame = fault.stack?.split("\n").find((line) => line.trimStart().startsWith("at "));
  return `${fault.name} ${frame?.trim() ?? ""}`;
}
