import { afterEach, describe, expect, test } from "vitest";
import { fakeAdbServer, packet, type FakeBehaviour, type FakeServer } from "./adb-server.fixture.ts";
import { adbServer } from "./adb-server.ts";
import { AdbError } from "./adb-socket.ts";

const running: FakeServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.stop()));
});

async function started(behaviour: FakeBehaviour = {}) {
  const fake = await fakeAdbServer(behaviour);
  running.push(fake);
  return { fake, server: adbServer(fake.port) };
}

async function failureOf(work: Promise<unknown>): Promise<AdbError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof AdbError) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

const PHONE = { serial: "R1", transportId: 7 };

describe("an adb server over its socket", () => {
  test("tells its version and its devices", async () => {
    const { server } = await started({
      version: "0029",
      devices: [{ line: "R1                     device usb:1 transport_id:7", transportId: 7 }],
    });
    expect(await server.version()).toBe(41);
    expect(await server.devices()).toMatchObject([{ serial: "R1", state: "device", transportId: 7 }]);
  });

  test("that is not there is told as such", async () => {
    const { fake, server } = await started();
    await fake.stop();
    expect((await failureOf(server.version())).kind).toBe("no-server");
  });

  test("that says no is answered with its own words", async () => {
    const { server } = await started();
    const failure = await failureOf(server.shell({ serial: "R1", transportId: 99 }, "true"));
    expect(failure).toMatchObject({ kind: "refused", message: "no device with that transport id" });
  });

  test("something else that listens there is told as such", async () => {
    const { server } = await started({ raw: (_service, socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n") });
    expect((await failureOf(server.version())).kind).toBe("broken");
  });

  test("a length that is none, and a version that is none, are broken", async () => {
    const lengths = await started({ raw: (_service, socket) => socket.write("OKAYzzzz") });
    expect((await failureOf(lengths.server.version())).kind).toBe("broken");
    const versions = await started({ version: "what" });
    expect((await failureOf(versions.server.version())).kind).toBe("broken");
  });

  test("a connection that ends in the middle is broken, not an empty list", async () => {
    const { server } = await started({ raw: (_service, socket) => (socket.end("OKAY00ffA1\tdev"), true) });
    expect((await failureOf(server.devices())).kind).toBe("broken");
  });

  test("one that never answers is given up", async () => {
    const { server } = await started({ raw: () => true });
    expect((await failureOf(server.devices(AbortSignal.timeout(50)))).kind).toBe("timeout");
  });

  test("a command's streams are apart, byte for byte, with its exit code", async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 128]);
    const { server } = await started({
      devices: [{ line: "R1 device", transportId: 7 }],
      raw: (service, socket) => {
        if (!service.startsWith("shell")) return false;
        socket.write("OKAY");
        // Packets in pieces, as a network brings them.
        for (const byte of Buffer.concat([
          packet(1, bytes),
          packet(2, Buffer.from("no")),
          packet(3, Buffer.from([9])),
        ])) {
          socket.write(Buffer.from([byte]));
        }
        return true;
      },
    });
    const answer = await server.shell(PHONE, "x");
    expect(answer).toEqual({ exitCode: 9, stdout: bytes, stderr: Buffer.from("no") });
  });

  test("a command is sent as it is: a file name need not be UTF-8", async () => {
    let sent: Buffer | undefined;
    const { server } = await started({
      devices: [{ line: "R1 device", transportId: 7 }],
    });
    const fake = running[0];
    const raw = Buffer.from([0x6c, 0x73, 0x20, 0xff]);
    fake?.change({
      raw: (_service, socket) => {
        socket.once("data", (chunk) => (sent = chunk));
        return false;
      },
    });
    await server.shell(PHONE, raw);
    expect(sent?.includes(raw)).toBe(true);
  });

  test("a flood is cut off at the limit", async () => {
    const { server } = await started({
      devices: [{ line: "R1 device", transportId: 7, shell: () => ({ stdout: "x".repeat(200_000) }) }],
    });
    expect((await failureOf(server.shell(PHONE, "x", { maxBytes: 100_000 }))).kind).toBe("too-much");
    expect((await server.shell(PHONE, "x", { maxBytes: 100_000, cut: true })).exitCode).toBe(0);
  });

  test("a device that claims four gigabytes is cut off before it sends them", async () => {
    const { server } = await started({
      devices: [{ line: "R1 device", transportId: 7 }],
      raw: (service, socket) =>
        service.startsWith("shell") &&
        socket.write(Buffer.concat([Buffer.from("OKAY"), Buffer.from([1, 255, 255, 255, 255])])),
    });
    expect((await failureOf(server.shell(PHONE, "x"))).kind).toBe("too-much");
  });

  test("a command that is silent is given up, and one that the device drops is broken", async () => {
    const silent = await started({ devices: [{ line: "R1 device", transportId: 7, shell: () => "silence" }] });
    expect((await failureOf(silent.server.shell(PHONE, "x", { timeoutMs: 50 }))).kind).toBe("timeout");
    const dropped = await started({ devices: [{ line: "R1 device", transportId: 7, shell: () => "close" }] });
    expect((await failureOf(dropped.server.shell(PHONE, "x"))).kind).toBe("broken");
  });

  test("a command that adb would cut in two is refused", async () => {
    const { server } = await started({ devices: [{ line: "R1 device", transportId: 7 }] });
    expect((await failureOf(server.shell(PHONE, "x".repeat(65_536)))).kind).toBe("refused");
  });

  test("tracking tells the list at once and after each change, and ends with the server", async () => {
    const { fake, server } = await started({ devices: [] });
    const lists: (number | undefined)[] = [];
    const tracking = server.track(new AbortController().signal, (devices) => {
      lists.push(devices?.length);
      if (lists.length === 1) fake.change({ devices: [{ line: "R1 device transport_id:7", transportId: 7 }] });
      if (lists.length === 2) void fake.stop();
    });
    await failureOf(tracking);
    expect(lists).toEqual([0, 1]);
  });

  test("a server without the long list tells that something changed", async () => {
    const { fake, server } = await started({ tracking: "short" });
    const lists: unknown[] = [];
    const tracking = server.track(new AbortController().signal, (devices) => {
      lists.push(devices);
      void fake.stop();
    });
    await failureOf(tracking);
    expect(lists).toEqual([undefined]);
  });

  test("tracking ends when it is told to", async () => {
    const { server } = await started();
    const end = new AbortController();
    const tracking = server.track(end.signal, () => end.abort());
    expect((await failureOf(tracking)).kind).toBe("timeout");
  });
});
