import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A network link to a device, in front of its adbd: it counts what reaches the device, and it can die in the two ways in which links do. */
export interface Link {
  readonly port: number;
  /** Services that the server has opened on the device: one a command, none while nobody reaches for it. */
  readonly opened: readonly string[];
  /** Everything stands, nothing passes: the server does not notice. */
  freeze(): void;
  thaw(): void;
  /** The connection breaks. */
  cut(): void;
  close(): Promise<void>;
}

/** A_OPEN of the adb protocol (protocol.txt of adb): the only message by which a server asks a device for something. */
const OPEN = 0x4e45504f;
const HEADER = 24;

export async function openLink(devicePort: number): Promise<Link> {
  const sockets = new Set<Socket>();
  const opened: string[] = [];
  let frozen = false;

  const server = createServer((near) => {
    const far = connect(devicePort, "127.0.0.1");
    const reader = messageReader((command, payload) => {
      if (command === OPEN) opened.push(payload.toString("utf8").replace(/\0$/, ""));
    });
    near.on("data", reader);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      if (frozen) from.pause();
      from.on("data", (chunk) => {
        if (to.write(chunk)) return;
        from.pause();
        to.once("drain", () => {
          if (!frozen) from.resume();
        });
      });
      from.on("error", () => undefined);
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address.port,
    opened,
    freeze: () => {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw: () => {
      frozen = false;
      for (const socket of sockets) socket.resume();
    },
    cut,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      cut();
      await closed;
    },
  };
}

/** Cuts a stream into messages: command, two arguments, length, checksum, magic, then the payload. */
function messageReader(message: (command: number, payload: Buffer) => void): (chunk: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);
  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    while (pending.length >= HEADER) {
      const length = pending.readUInt32LE(12);
      if (pending.length < HEADER + length) return;
      message(pending.readUInt32LE(0), pending.subarray(HEADER, HEADER + length));
      pending = pending.subarray(HEADER + length);
    }
  };
}
