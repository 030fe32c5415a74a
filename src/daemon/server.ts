import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { CLIENT_PUSHES, PushFrame, RequestFrame, SimlockError } from "../contract/index.ts";
import type { CallId } from "./call.ts";
import { Connection } from "./connection.ts";
import type { Dispatch } from "./dispatcher.ts";
import { codeOf, isMissing } from "./files.ts";
import { greet, type HelloPorts } from "./hello.ts";
import { SOCKET_LIMITS, type SocketLimits } from "./limits.ts";
import type { Log } from "./log.ts";

export interface ServerPorts extends HelloPorts {
  readonly socketPath: string;
  readonly dispatch: Dispatch;
  /** An admin asked the daemon to stop. Asked again while it stops, it is answered again. */
  readonly stop: (why: string) => void;
  readonly stopping: () => boolean;
  /** A client can take this many more characters of a command's output. */
  readonly credit: (connection: Connection, callId: CallId, characters: number) => void;
  readonly limits?: SocketLimits | undefined;
  readonly log: Log;
}

type Session =
  | { readonly state: "new" }
  | { readonly state: "open" }
  | { readonly state: "other-version"; readonly error: SimlockError };

interface Client {
  readonly connection: Connection;
  session: Session;
  readonly calls: Set<CallId>;
}

export interface SocketServer {
  readonly connections: ReadonlySet<Connection>;
  /** Ends every connection once its last answers are out, at the latest after `flushMs`, and removes the socket. */
  close(flushMs: number): Promise<void>;
}

/** Serves the home's unix socket. Call it only with the claim in hand: what lies at the path is then a dead daemon's. */
export async function serveSocket(ports: ServerPorts): Promise<SocketServer> {
  removeStale(ports.socketPath);
  const clients = new Map<Connection, Client>();
  const connections = new Set<Connection>();
  let number = 0;

  const accept = (socket: Socket): void => {
    const connection: Connection = new Connection(++number, socket, ports.limits ?? SOCKET_LIMITS, {
      line: (text) => receive(ports, client, text),
      closed: (why) => {
        clients.delete(connection);
        connections.delete(connection);
        ports.log.debug({ connection: connection.number, principal: connection.principal, why }, "connection closed");
      },
    });
    const client: Client = { connection, session: { state: "new" }, calls: new Set() };
    clients.set(connection, client);
    connections.add(connection);
  };

  const server = createServer(accept);
  server.maxConnections = (ports.limits ?? SOCKET_LIMITS).maxConnections;
  server.on("drop", () => ports.log.warn({ connections: clients.size }, "too many connections: one was dropped"));
  await listen(server, ports.socketPath);
  // Out of files, for one: those that are connected go on, and the next is taken when there is room again.
  server.on("error", (error) => ports.log.error({ error }, "a connection can't be accepted"));

  return {
    connections,
    async close(flushMs) {
      if (server.listening) server.close();
      const ended = [...connections].map(
        async (connection) =>
          new Promise<void>((done) => {
            connection.onGone(done);
            connection.close("the daemon stopped");
          }),
      );
      let timer: NodeJS.Timeout | undefined;
      const bound = new Promise<void>((done) => (timer = setTimeout(done, flushMs)));
      await Promise.race([Promise.all(ended), bound]);
      clearTimeout(timer);
      for (const connection of connections) connection.cut("the daemon stopped");
      try {
        unlinkSync(ports.socketPath);
      } catch {
        // Node has removed it with the server.
      }
    },
  };
}

/** The gates of one frame, in order: is it a frame, was hello said, is it the stop, do the versions fit, is the daemon stopping. */
function receive(ports: ServerPorts, client: Client, text: string): void {
  const { connection } = client;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    connection.fail(null, new SimlockError("BAD_FRAME", "A frame is not JSON."));
    return;
  }
  const parsed = RequestFrame.safeParse(json);
  if (!parsed.success) {
    if (client.session.state !== "new" && told(ports, connection, json)) return;
    connection.fail(null, new SimlockError("BAD_FRAME", "A frame is not an object with an id and a type."));
    return;
  }
  connection.wellFormed();
  const { id, type, payload } = parsed.data;
  if (client.session.state === "new") {
    sayHello(ports, client, id, type, payload);
    return;
  }
  if (type === "daemon.stop") {
    stop(ports, connection, id);
    return;
  }
  if (client.session.state === "other-version") connection.fail(id, client.session.error);
  else if (ports.stopping()) connection.fail(id, new SimlockError("DAEMON_STOPPING", "The daemon is stopping."));
  else if (type === "hello") connection.fail(id, new SimlockError("BAD_REQUEST", "Hello was said already."));
  else if (client.calls.has(id)) {
    connection.fail(id, new SimlockError("BAD_REQUEST", "A call with this id still runs on this connection."));
  } else if (client.calls.size >= (ports.limits ?? SOCKET_LIMITS).maxCalls) {
    connection.fail(
      id,
      new SimlockError("BAD_REQUEST", `${client.calls.size} calls of this connection wait for their answer.`, {
        hint: "Wait for some of them, or open another connection.",
      }),
    );
  } else void call(ports, client, id, type, payload);
}

async function call(ports: ServerPorts, client: Client, id: CallId, type: string, payload: unknown): Promise<void> {
  const { connection } = client;
  client.calls.add(id);
  try {
    const output = await ports.dispatch(type, payload, { id, peer: connection });
    client.calls.delete(id);
    connection.reply(id, output);
  } catch (error) {
    client.calls.delete(id);
    connection.fail(id, error);
  }
}

function sayHello(ports: ServerPorts, client: Client, id: CallId, type: string, payload: unknown): void {
  const { connection } = client;
  if (type !== "hello") {
    connection.fail(
      id,
      new SimlockError("HANDSHAKE_REQUIRED", `The first frame must be hello, not ${type.slice(0, 100)}.`),
    );
    connection.close("it did not say hello first");
    return;
  }
  const greeting = greet(payload, ports);
  if (greeting.kind === "refused") {
    ports.log.info({ connection: connection.number, code: greeting.error.code }, "hello refused");
    connection.fail(id, greeting.error);
    connection.close("its hello was refused");
    return;
  }
  connection.identify(greeting.principal, greeting.role);
  if (greeting.kind === "other-version") {
    client.session = { state: "other-version", error: greeting.error };
    connection.fail(id, greeting.error);
    return;
  }
  client.session = { state: "open" };
  connection.reply(id, greeting.output(connection.principal));
}

function stop(ports: ServerPorts, connection: Connection, id: CallId): void {
  if (connection.role !== "admin") {
    connection.fail(id, new SimlockError("FORBIDDEN", "daemon.stop is for an admin, and the caller is an agent."));
    return;
  }
  connection.reply(id, { stopping: true });
  ports.stop("daemon.stop");
}

/** What a client says without wanting an answer. A kind that is not known is a newer client's: it is ignored. */
function told(ports: ServerPorts, connection: Connection, json: unknown): boolean {
  const frame = PushFrame.safeParse(json);
  if (!frame.success) return false;
  if (frame.data.push !== "credit") return true;
  const credit = CLIENT_PUSHES.credit.safeParse(frame.data.payload);
  if (!credit.success) return false;
  connection.wellFormed();
  ports.credit(connection, credit.data.requestId, credit.data.characters);
  return true;
}

async function listen(server: Server, path: string): Promise<void> {
  await new Promise<void>((done, refuse) => {
    const failed = (error: Error): void =>
      refuse(
        new SimlockError("HOME_UNUSABLE", `The socket ${path} can't be opened: ${codeOf(error) ?? "refused"}.`, {
          hint: "Unix sockets need a local file system: set SIMLOCK_HOME to a folder on one.",
          cause: error,
        }),
      );
    server.once("error", failed);
    server.listen(path, () => {
      server.off("error", failed);
      done();
    });
  });
  chmodSync(path, 0o600);
}

function removeStale(path: string): void {
  try {
    if (!lstatSync(path).isSocket()) {
      throw new SimlockError("HOME_UNUSABLE", `${path} is in the way of the daemon's socket: it is something else.`, {
        hint: "Move it away, then start again.",
      });
    }
    unlinkSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
