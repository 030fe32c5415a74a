import { AdbError, AdbSocket } from "./adb-socket.ts";
import { parseDeviceList, type ListedDevice } from "./device-list.ts";
import { parseForwards, type Forward } from "./forward-list.ts";

/** Time limits in milliseconds. The server answers from memory, in about a millisecond; a device may be asleep or far away. */
const SERVER_MS = 5_000;
const DEVICE_MS = 15_000;

/** A device of this server. The number is preferred: it names one connection, where a serial may be somebody else's by now. */
interface Transport {
  readonly serial: string;
  readonly transportId: number | undefined;
}

interface ShellLimits {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
  /** Of both streams together. Beyond it the command is cut off, and that is a failure unless `cut` says otherwise. */
  readonly maxBytes?: number;
  /** A flood is no failure: what came first is the answer, with exit code 0. */
  readonly cut?: boolean;
}

export interface ShellAnswer {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/**
 * An adb server, spoken to over its socket: nothing is spawned, so an answer takes about a millisecond, and no client can start, replace or kill
 * the server. Every call is one bounded connection. Throws `AdbError`.
 */
export interface AdbServer {
  readonly port: number;
  /** The protocol's version: 41 for every adb from 28 to 37. */
  version(signal?: AbortSignal): Promise<number>;
  devices(signal?: AbortSignal): Promise<readonly ListedDevice[]>;
  /**
   * Calls back with the whole list at once and after each change, until the signal ends it or the server goes: rejects then. Where the
   * server's list is the short one, it calls back with undefined: something changed.
   */
  track(signal: AbortSignal, changed: (devices: readonly ListedDevice[] | undefined) => void): Promise<never>;
  forwards(signal?: AbortSignal): Promise<readonly Forward[]>;
  removeForward(transport: Transport, local: string, signal?: AbortSignal): Promise<void>;
  reverses(transport: Transport, signal?: AbortSignal): Promise<readonly Forward[]>;
  removeReverses(transport: Transport, signal?: AbortSignal): Promise<void>;
  features(transport: Transport, signal?: AbortSignal): Promise<ReadonlySet<string>>;
  /** Runs a command with an empty stdin. A Buffer is sent as it is: file names need not be UTF-8. */
  shell(transport: Transport, command: string | Buffer, limits?: ShellLimits): Promise<ShellAnswer>;
}

export function adbServer(port: number): AdbServer {
  async function withSocket<T>(
    timeoutMs: number,
    signal: AbortSignal | undefined,
    use: (socket: AdbSocket) => Promise<T>,
  ): Promise<T> {
    const limit = AbortSignal.timeout(timeoutMs);
    const socket = await AdbSocket.open(port, signal === undefined ? limit : AbortSignal.any([signal, limit]));
    try {
      return await use(socket);
    } finally {
      socket.close();
    }
  }

  const ask = (service: string, signal: AbortSignal | undefined): Promise<string> =>
    withSocket(SERVER_MS, signal, async (socket) => {
      await socket.request(service);
      return socket.text();
    });

  return {
    port,

    version: async (signal) => {
      const version = Number.parseInt(await ask("host:version", signal), 16);
      if (Number.isNaN(version)) throw new AdbError("broken", "the adb server's version is no number");
      return version;
    },

    devices: async (signal) => parseDeviceList(await ask("host:devices-l", signal)),

    track: async (signal, changed) => {
      const long = await openTracking(port, signal, "host:track-devices-l");
      const socket = long ?? (await openTracking(port, signal, "host:track-devices"));
      if (socket === undefined) throw new AdbError("broken", "the adb server can't track devices");
      try {
        for (;;) {
          const text = await socket.text();
          changed(long === undefined ? undefined : parseDeviceList(text));
        }
      } finally {
        socket.close();
      }
    },

    forwards: async (signal) => parseForwards(await ask("host:list-forward", signal)),

    removeForward: (transport, local, signal) =>
      withSocket(SERVER_MS, signal, async (socket) => {
        await socket.request(`${addressed(transport)}:killforward:${local}`);
        await socket.status();
      }),

    reverses: (transport, signal) =>
      withSocket(DEVICE_MS, signal, async (socket) => {
        await socket.request(switchTo(transport));
        await socket.request("reverse:list-forward");
        return parseForwards(await socket.text());
      }),

    removeReverses: (transport, signal) =>
      withSocket(DEVICE_MS, signal, async (socket) => {
        await socket.request(switchTo(transport));
        await socket.request("reverse:killforward-all");
        await socket.status();
      }),

    features: async (transport, signal) =>
      new Set((await ask(`${addressed(transport)}:features`, signal)).split(",").filter((feature) => feature !== "")),

    shell: (transport, command, { signal, timeoutMs = DEVICE_MS, maxBytes = 1_048_576, cut = false } = {}) =>
      withSocket(timeoutMs, signal, async (socket) => {
        await socket.request(switchTo(transport));
        await socket.request(Buffer.concat([Buffer.from("shell,v2,raw:"), Buffer.from(command)]));
        socket.write(CLOSE_STDIN);
        return readShell(socket, maxBytes, cut);
      }),
  };
}

async function openTracking(port: number, signal: AbortSignal, service: string): Promise<AdbSocket | undefined> {
  // Opening is bounded like any question; the stream itself is not.
  const opening = new AbortController();
  const limit = setTimeout(() => opening.abort(), SERVER_MS);
  try {
    const socket = await AdbSocket.open(port, AbortSignal.any([signal, opening.signal]));
    try {
      await socket.request(service);
      return socket;
    } catch (error) {
      socket.close();
      if (error instanceof AdbError && error.kind === "refused") return undefined;
      throw error;
    }
  } finally {
    clearTimeout(limit);
  }
}

function switchTo(transport: Transport): string {
  return transport.transportId === undefined
    ? `host:transport:${transport.serial}`
    : `host:transport-id:${transport.transportId}`;
}

function addressed(transport: Transport): string {
  return transport.transportId === undefined
    ? `host-serial:${transport.serial}`
    : `host-transport-id:${transport.transportId}`;
}

/** The shell protocol's packets (shell_protocol.h of adb): one byte of kind, four of length, the bytes. */
const STDOUT = 1;
const STDERR = 2;
const EXIT = 3;
const CLOSE_STDIN = Buffer.from([3, 0, 0, 0, 0]);

async function readShell(socket: AdbSocket, maxBytes: number, cut: boolean): Promise<ShellAnswer> {
  const streams: Record<number, Buffer[]> = { [STDOUT]: [], [STDERR]: [] };
  let total = 0;
  const answer = (exitCode: number): ShellAnswer => ({
    exitCode,
    stdout: Buffer.concat(streams[STDOUT] ?? []),
    stderr: Buffer.concat(streams[STDERR] ?? []),
  });
  for (;;) {
    const header = await socket.read(5);
    const kind = header.readUInt8(0);
    let left = header.readUInt32LE(1);
    if (kind === EXIT) {
      return answer((await socket.read(1)).readUInt8(0));
    }
    total += left;
    if (total > maxBytes && cut) return answer(0);
    if (total > maxBytes) throw new AdbError("too-much", `the device printed more than ${maxBytes} bytes`);
    while (left > 0) {
      const part = await socket.some(left);
      if (part === undefined) throw new AdbError("broken", "the device closed the connection");
      streams[kind]?.push(part);
      left -= part.length;
    }
  }
}
