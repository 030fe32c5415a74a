import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import {
  encodeFrame,
  isOperation,
  LineSplitter,
  OPERATIONS,
  PROTOCOL_RANGE,
  SimlockError,
  toSimlockError,
  type OperationName,
  type ParsedInput,
  type PushKind,
  type PushPayload,
} from "../contract/index.ts";

/**
 * A daemon for tests of what talks to one: the real frames on a real unix socket in a folder of its own, and scripted answers. Only tests import
 * this file. It is more lenient than the daemon and decides nothing: what it answers is what its handlers return.
 */
export interface FakeDaemon extends AsyncDisposable {
  /** `daemon.sock` in a folder that can stand in for a home. */
  readonly socketPath: string;
  /** Every frame that came, parsed, of every connection: requests and credit. */
  readonly frames: readonly FakeFrame[];
  readonly connections: ReadonlySet<FakeConnection>;
  /** Settles when a frame that fits has come, at once if one has already. */
  heard(fits: (frame: FakeFrame) => boolean): Promise<FakeFrame>;
  /** To every connection. */
  push<K extends PushKind>(kind: K, payload: PushPayload<K>): void;
  /** Ends every connection and removes the socket. */
  close(): Promise<void>;
}

export interface FakeFrame {
  readonly id?: string | number;
  readonly type?: string;
  readonly push?: string;
  readonly payload?: unknown;
}

export interface FakeConnection {
  readonly socket: Socket;
  /** Writes these bytes as they are. */
  raw(bytes: string | Buffer): void;
  push<K extends PushKind>(kind: K, payload: PushPayload<K>): void;
}

export interface FakeCall {
  readonly id: string | number;
  readonly connection: FakeConnection;
  /** A push that belongs to this call. */
  push<K extends "progress" | "started" | "output" | "activity">(
    kind: K,
    payload: Omit<PushPayload<K>, "requestId">,
  ): void;
  /** Settles when the client has given this many more characters of credit for this call, in all. */
  credit(characters: number): Promise<void>;
  /** Aborted by `call.cancel` for this call, and by the end of its connection. */
  readonly cancelled: AbortSignal;
}

/** Returns the answer's payload, or throws: a `SimlockError` goes out as it is. What is returned is not checked. */
export type FakeHandler<N extends OperationName> = (input: ParsedInput<N>, call: FakeCall) => unknown;
export type FakeHandlers = { readonly [N in OperationName]?: FakeHandler<N> };

interface OpenCall {
  readonly abort: AbortController;
  credit: number;
  readonly waiters: Set<() => void>;
}

/** Starts one. `hello` and `call.cancel` have handlers of their own unless others are given; the rest answer `UNKNOWN_REQUEST`. */
export async function fakeDaemon(handlers: FakeHandlers = {}): Promise<FakeDaemon> {
  const folder = mkdtempSync("/tmp/sl-fake-");
  const socketPath = join(folder, "daemon.sock");
  const frames: FakeFrame[] = [];
  const watchers = new Set<() => void>();
  const connections = new Set<FakeConnection>();

  const server = createServer((socket) => {
    const calls = new Map<string | number, OpenCall>();
    const connection: FakeConnection = {
      socket,
      raw: (bytes) => void socket.write(bytes),
      push: (kind, payload) => void socket.write(encodeFrame({ push: kind, payload })),
    };
    connections.add(connection);
    const splitter = new LineSplitter();
    socket.on("error", () => undefined);
    socket.on("close", () => {
      connections.delete(connection);
      for (const call of calls.values()) call.abort.abort();
      for (const watch of watchers) watch();
    });
    socket.on("data", (chunk: Buffer) => {
      for (const line of splitter.push(chunk)) {
        const frame = frameOf(line);
        frames.push(frame);
        if (frame.push === "credit") addCredit(calls, frame.payload);
        else if (frame.id !== undefined) void answer(connection, calls, frame.id, frame.type ?? "", frame.payload);
      }
      for (const watch of watchers) watch();
    });
  });

  async function answer(
    connection: FakeConnection,
    calls: Map<string | number, OpenCall>,
    id: string | number,
    type: string,
    payload: unknown,
  ): Promise<void> {
    const open: OpenCall = { abort: new AbortController(), credit: 0, waiters: new Set() };
    calls.set(id, open);
    const call: FakeCall = {
      id,
      connection,
      push: (kind, more) => connection.raw(encodeFrame({ push: kind, payload: { requestId: id, ...more } })),
      credit: (characters) =>
        new Promise((resolve) => {
          const check = (): void => {
            if (open.credit < characters) return;
            open.waiters.delete(check);
            resolve();
          };
          open.waiters.add(check);
          check();
        }),
      cancelled: open.abort.signal,
    };
    let reply: object;
    try {
      reply = { id, ok: true, payload: await run(handlers, calls, type, payload, call) };
    } catch (error) {
      reply = { id, ok: false, error: toSimlockError(error).toWire() };
    }
    calls.delete(id);
    if (!connection.socket.destroyed) connection.raw(encodeFrame(reply));
  }

  server.listen(socketPath);
  await once(server, "listening");
  const close = async (): Promise<void> => {
    for (const { socket } of connections) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  };
  return {
    socketPath,
    frames,
    connections,
    heard: (fits) =>
      new Promise((resolve) => {
        const watch = (): void => {
          const frame = frames.find(fits);
          if (frame === undefined) return;
          watchers.delete(watch);
          resolve(frame);
        };
        watchers.add(watch);
        watch();
      }),
    push: (kind, payload) => {
      for (const connection of connections) connection.push(kind, payload);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function run(
  handlers: FakeHandlers,
  calls: Map<string | number, OpenCall>,
  type: string,
  payload: unknown,
  call: FakeCall,
): Promise<unknown> {
  if (!isOperation(type)) throw new SimlockError("UNKNOWN_REQUEST", `There is no operation ${type}.`);
  const scripted = await scriptedAnswer(handlers, type, payload, call);
  if (scripted !== undefined) return scripted.payload;
  if (type === "hello") return welcome(OPERATIONS.hello.input.parse(payload));
  if (type === "call.cancel") {
    const target = calls.get(OPERATIONS["call.cancel"].input.parse(payload).callId);
    target?.abort.abort();
    return { found: target !== undefined };
  }
  throw new SimlockError("UNKNOWN_REQUEST", `This fake daemon has no answer to ${type}.`);
}

async function scriptedAnswer<N extends OperationName>(
  handlers: FakeHandlers,
  type: N,
  payload: unknown,
  call: FakeCall,
): Promise<{ readonly payload: unknown } | undefined> {
  const handler: FakeHandler<N> | undefined = handlers[type];
  if (handler === undefined) return undefined;
  return { payload: await handler(inputOf(type, payload), call) };
}

function inputOf<N extends OperationName>(type: N, payload: unknown): ParsedInput<N>;
function inputOf(type: OperationName, payload: unknown): unknown {
  return OPERATIONS[type].input.parse(payload);
}

/** What a daemon of this version says to an agent, or to an admin when a credential was given. */
export function welcome(hello: ParsedInput<"hello">, more: object = {}): object {
  return {
    protocolVersion: PROTOCOL_RANGE.max,
    daemonProtocolRange: { ...PROTOCOL_RANGE },
    version: "0.0.0-fake",
    role: hello.credential === undefined ? "agent" : "admin",
    principal: hello.principal ?? "nobody",
    instanceId: "fake",
    virtual: hello.virtual ?? false,
    ...more,
  };
}

function addCredit(calls: ReadonlyMap<string | number, OpenCall>, payload: unknown): void {
  if (typeof payload !== "object" || payload === null) return;
  const [id, characters] = ["requestId" in payload && payload.requestId, "characters" in payload && payload.characters];
  const open = typeof id === "number" || typeof id === "string" ? calls.get(id) : undefined;
  if (open === undefined || typeof characters !== "number") return;
  open.credit += characters;
  for (const check of Array.from(open.waiters)) check();
}

function frameOf(line: string): FakeFrame {
  const value: unknown = JSON.parse(line);
  if (typeof value !== "object" || value === null) return {};
  return {
    ...("id" in value && (typeof value.id === "number" || typeof value.id === "string") ? { id: value.id } : {}),
    ...("type" in value && typeof value.type === "string" ? { type: value.type } : {}),
    ...("push" in value && typeof value.push === "string" ? { push: value.push } : {}),
    ...("payload" in value ? { payload: value.payload } : {}),
  };
}
