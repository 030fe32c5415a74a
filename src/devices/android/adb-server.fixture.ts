import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";

/** What one device of the stand-in server answers. */
export interface FakeDevice {
  readonly line: string;
  readonly transportId: number;
  readonly features?: string;
  /** The answer to a shell command, or a way to leave it without one. */
  readonly shell?: (command: string) => { stdout?: string; stderr?: string; code?: number } | "silence" | "close";
}

export interface FakeBehaviour {
  version?: string;
  devices?: readonly FakeDevice[];
  /** Which list the track service tells. */
  tracking?: "long" | "short" | "none";
  forwards?: string;
  /** Answers a service by itself, raw; undefined leaves it to the rest. */
  raw?: (service: string, socket: Socket) => boolean;
}

export interface FakeServer {
  readonly port: number;
  /** Every service that was asked for, in order. */
  readonly asked: readonly string[];
  /** Changes what it answers, and tells those who track. */
  change(behaviour: FakeBehaviour): void;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** An adb server's socket with answers of our choosing: what a real one can't be made to say. */
export async function fakeAdbServer(first: FakeBehaviour = {}): Promise<FakeServer> {
  let behaviour = first;
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const trackers = new Map<Socket, boolean>();
  let port = 0;
  let server: Server | undefined;

  const text = (value: string): string => Buffer.byteLength(value).toString(16).padStart(4, "0") + value;
  const okay = (socket: Socket, value?: string): boolean =>
    socket.write(`OKAY${value === undefined ? "" : text(value)}`);
  const fail = (socket: Socket, why: string): boolean => socket.write(`FAIL${text(why)}`);
  const list = (): string => (behaviour.devices ?? []).map(({ line }) => `${line}\n`).join("");
  const short = (): string => list().replaceAll(/ transport_id:\S+/g, "");

  function serve(socket: Socket): void {
    sockets.add(socket);
    let pending: Buffer = Buffer.alloc(0);
    let chosen: FakeDevice | undefined;
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      trackers.delete(socket);
    });
    socket.on("data", (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      for (;;) {
        const length = Number.parseInt(pending.subarray(0, 4).toString(), 16);
        if (pending.length < 4 || Number.isNaN(length) || pending.length < 4 + length) return;
        const service = pending.subarray(4, 4 + length).toString("utf8");
        pending = pending.subarray(4 + length);
        asked.push(service);
        answer(service);
      }
    });

    function answer(service: string): void {
      if (behaviour.raw?.(service, socket) === true) return;
      const [, transport] = /^host:transport-id:(\d+)$/.exec(service) ?? [];
      const [, addressed] = /^host-transport-id:(\d+):features$/.exec(service) ?? [];
      const deviceOf = (id: string | undefined): FakeDevice | undefined =>
        behaviour.devices?.find((device) => String(device.transportId) === id);
      if (service === "host:version") okay(socket, behaviour.version ?? "0029");
      else if (service === "host:devices-l") okay(socket, list());
      else if (service === "host:list-forward") okay(socket, behaviour.forwards ?? "");
      else if (service === "host:track-devices-l" && (behaviour.tracking ?? "long") === "long") track(true);
      else if (service === "host:track-devices" && behaviour.tracking !== "none") track(false);
      else if (addressed !== undefined) okay(socket, deviceOf(addressed)?.features ?? "shell_v2,cmd");
      else if (transport !== undefined) {
        chosen = deviceOf(transport);
        if (chosen === undefined) fail(socket, "no device with that transport id");
        else okay(socket);
      } else if (service.startsWith("shell,v2,raw:")) shell(service.slice("shell,v2,raw:".length));
      else fail(socket, `unknown host service ${service}`);
    }

    function track(long: boolean): void {
      trackers.set(socket, long);
      okay(socket, long ? list() : short());
    }

    function shell(command: string): void {
      const said = chosen?.shell?.(command) ?? { code: 127 };
      if (said === "close") {
        okay(socket);
        socket.end();
        return;
      }
      okay(socket);
      if (said === "silence") return;
      socket.write(packet(1, Buffer.from(said.stdout ?? "")));
      socket.write(packet(2, Buffer.from(said.stderr ?? "")));
      socket.write(packet(3, Buffer.from([said.code ?? 0])));
    }
  }

  const fake: FakeServer = {
    get port() {
      return port;
    },
    asked,
    change: (next) => {
      behaviour = { ...behaviour, ...next };
      for (const [socket, long] of trackers) socket.write(text(long ? list() : short()));
    },
    start: async () => {
      server = createServer(serve);
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
      const address = server.address();
      if (address !== null && typeof address === "object") port = address.port;
    },
    stop: async () => {
      const running = server;
      server = undefined;
      if (running === undefined) return;
      const closed = once(running, "close");
      running.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  await fake.start();
  return fake;
}

export function packet(kind: number, bytes: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt8(kind, 0);
  header.writeUInt32LE(bytes.length, 1);
  return Buffer.concat([header, bytes]);
}

/** What a phone answers to the question who it is, and to everything else that a driver asks. */
export function fakePhone(said: {
  serial: string;
  transportId: number;
  serialNumber?: string;
  bootId?: string;
  fields?: string;
  state?: string;
}): FakeDevice {
  const boot = said.bootId ?? "11111111-2222-3333-4444-555555555555";
  return {
    line: `${said.serial.padEnd(22)} ${said.state ?? "device"}${said.fields ?? " usb:1-2"} product:p model:M transport_id:${said.transportId}`,
    transportId: said.transportId,
    shell: (command) => {
      if (command.startsWith('read -r boot </proc/sys/kernel/random/boot_id; echo "$boot"; echo')) {
        const properties = [
          ["sys.boot_completed", "1"],
          ["ro.serialno", said.serialNumber ?? said.serial],
          ["ro.product.model", "Pixel 8"],
          ["ro.build.version.release", "15"],
        ];
        const lines = properties.map(([name, value]) => `[${name}]: [${value}]`).join("\n");
        return { stdout: `${boot}\n--simlock-part--\nabcdef0123456789\n--simlock-part--0\n${lines}\n` };
      }
      if (command.startsWith("read -r boot")) return { stdout: `${boot}\n` };
      return { code: 127 };
    },
  };
}
