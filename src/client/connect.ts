import { PROTOCOL_RANGE, PROTOCOL_VERSION, SimlockError, type OperationInput } from "../contract/index.ts";
import { announcements, guarded } from "./announcements.ts";
import { answerOf, cancelled, withAbort } from "./answer.ts";
import { Connection, type OnPush } from "./connection.ts";
import { applyState } from "./apply-state.ts";
import { dial } from "./dial.ts";
import { exec } from "./exec.ts";
import { requestLease } from "./request-lease.ts";
import type { ConnectOptions, SimlockClient } from "./types.ts";

const DEFAULT_TIMEOUT_MS = 5_000;

/**
 * Opens a connection to the daemon and says hello. It does not start a daemon. Rejects with `DAEMON_UNREACHABLE` when nothing listens,
 * `DAEMON_CONNECTION_LOST` when something does and gives no answer in time, `HOME_UNUSABLE` when the path is too long for a socket,
 * `PROTOCOL_VERSION_UNSUPPORTED`, `ADMIN_AUTHENTICATION_FAILED` and `HOME_MISMATCH` as the daemon says.
 */
export async function connectSimlock(options: ConnectOptions): Promise<SimlockClient> {
  const heard = announcements();
  const { connection, welcome } = await withinTime(options, heard.announce, async (opened) => ({
    connection: opened,
    welcome: answerOf("hello", await opened.send("hello", helloOf(options)).answer),
  }));
  // After the caller had its turn: listeners that it adds at once hear what the daemon said right after its welcome.
  setImmediate(() => connection.open());

  return {
    role: welcome.role,
    principal: welcome.principal,
    daemonVersion: welcome.version,
    instanceId: welcome.instanceId,
    async call(operation, input, { signal } = {}) {
      if (signal?.aborted === true) throw cancelled(operation);
      const exchange = connection.send(operation, input);
      const answer = async () => answerOf(operation, await exchange.answer);
      return withAbort(signal, () => exchange.abandon(cancelled(operation)), answer);
    },
    requestLease: (input, requestOptions = {}) => requestLease(connection, input, requestOptions),
    exec: (input, execOptions = {}) => exec(connection, input, execOptions),
    applyState: (operation, input, applyOptions = {}) => applyState(connection, operation, input, applyOptions),
    onLeaseLost: heard.leaseLost.listen,
    onDeviceUnhealthy: heard.deviceUnhealthy.listen,
    onDeviceRecovered: heard.deviceRecovered.listen,
    onEvent: heard.event.listen,
    onConnectionLost(listener) {
      let listening = true;
      void connection.lost.then(() => {
        if (listening) guarded(listener);
      });
      return () => {
        listening = false;
      };
    },
    close: () => connection.close(),
  };
}

/**
 * Asks a daemon to stop, whatever version of the protocol it speaks: the first half of a restart after an update. Needs the admin secret.
 * Answers once the daemon has agreed; `gone` waits for it to end the connection, at most `limitMs`.
 */
export async function stopDaemon(options: ConnectOptions): Promise<{ gone(limitMs: number): Promise<boolean> }> {
  return withinTime(
    options,
    () => undefined,
    async (connection) => {
      const hello = connection.send("hello", helloOf(options)).answer;
      await hello.catch((error: unknown) => {
        // The one refusal that leaves the connection open, for this.
        if (!(error instanceof SimlockError) || error.code !== "PROTOCOL_VERSION_UNSUPPORTED") throw error;
      });
      answerOf("daemon.stop", await connection.send("daemon.stop", {}).answer);
      return {
        async gone(limitMs: number) {
          let timer: NodeJS.Timeout | undefined;
          const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), limitMs)));
          const gone = await Promise.race([connection.lost.then(() => true), late]);
          clearTimeout(timer);
          await connection.close();
          return gone;
        },
      };
    },
  );
}

function helloOf(options: ConnectOptions): OperationInput<"hello"> {
  return {
    clientVersion: options.clientVersion,
    protocolVersion: PROTOCOL_VERSION,
    protocolRange: { ...PROTOCOL_RANGE },
    principal: options.principal,
    ...(options.credential === undefined ? {} : { credential: options.credential }),
    ...(options.virtual === undefined ? {} : { virtual: options.virtual }),
  };
}

/** Dials, and does the first exchange, within the time that the caller gives both. A connection that fails here is ended. */
async function withinTime<T>(
  options: ConnectOptions,
  onPush: OnPush,
  greet: (connection: Connection) => Promise<T>,
): Promise<T> {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const limit = new AbortController();
  const late = new SimlockError(
    "DAEMON_CONNECTION_LOST",
    `The daemon on ${options.socketPath} did not answer within ${timeoutMs} ms.`,
    {
      hint: "If it stays so, run `simlock daemon restart`.",
      details: { socketPath: options.socketPath, cause: "timeout" },
    },
  );
  const timer = setTimeout(() => limit.abort(late), timeoutMs);
  let connection: Connection | undefined;
  try {
    const opened = new Connection(await dial(options.socketPath, limit.signal), onPush);
    connection = opened;
    const tooLate = new Promise<never>((_resolve, reject) => {
      limit.signal.addEventListener("abort", () => reject(late), { once: true });
    });
    return await Promise.race([greet(opened), tooLate]);
  } catch (error) {
    void connection?.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
