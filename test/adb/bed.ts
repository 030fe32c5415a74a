/**
 * A test's own devices and adb server inside the test bed (`scripts/adbd/run.sh`): real adbd processes that can be started, killed, frozen and
 * started again elsewhere, and a real adb server on a port of its own.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe } from "vitest";
import { ADBD_DEVICE, insideBed } from "../../scripts/adbd/available.ts";
import { adbServer, type AdbServer } from "../../src/devices/android/adb-server.ts";
import { AdbSocket } from "../../src/devices/android/adb-socket.ts";
import { DeviceId } from "../../src/contract/index.ts";
import type { Driver, OwnDevice } from "../../src/devices/index.ts";
import { callTool, type ToolAnswer } from "../../src/exec/index.ts";

const able = insideBed();
if (!able.ok) {
  if (process.env["CI"] === "true") throw new Error(`The suite "adb" can't run: ${able.why}`);
  console.warn(`The suite "adb" is left out: ${able.why}`);
}

/** `describe` where a bed is; elsewhere its tests are skipped, after a warning that says why. */
export const describeInBed = able.ok ? describe : describe.skip;

export interface BedDevice {
  readonly name: string;
  /** The device's own root file system, from the host's side. */
  readonly root: string;
  readonly port: number;
  /** Resolves when adbd listens. Started before on another port, it is the same device after a reboot. */
  start(port?: number): Promise<void>;
  /** Pulls the plug. */
  stop(): Promise<void>;
  /** A dead link: everything stands, nothing answers. */
  freeze(): void;
  thaw(): void;
}

export interface Bed {
  readonly serverPort: number;
  readonly server: AdbServer;
  device(name: string, properties?: Readonly<Record<string, string>>): Promise<BedDevice>;
  /** `adb connect`: its serial is 127.0.0.1:PORT. */
  connect(port: number): Promise<string>;
  disconnect(serial: string): Promise<void>;
  /** Tells the server of an emulator, as one does at its start: its serial is emulator-(PORT-1). */
  announce(port: number): Promise<string>;
  /** Runs the real adb client against this bed's server. */
  adb(...args: string[]): Promise<ToolAnswer>;
  startServer(): Promise<void>;
  stopServer(): Promise<void>;
  /** Resolves when the server lists the serial in this state. */
  listed(serial: string, state: string): Promise<void>;
  close(): Promise<void>;
}

const WAIT_MS = 30_000;

export interface BedOptions {
  /** Which adb the server is of: the host's own, or the root file system's (34). Clients are always the host's. */
  readonly server?: "host" | "newer";
}

export async function openBed({ server: which = "host" }: BedOptions = {}): Promise<Bed> {
  const base = process.env["SIMLOCK_ADBD_BED"];
  if (base === undefined) throw new Error("not inside a test bed");
  const serverPort = await freePort();
  const server = adbServer(serverPort);
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: process.env["HOME"] ?? "/",
    // No scan for emulators: two beds of one namespace would find each other's devices.
    ADB_LOCAL_TRANSPORT_MAX_PORT: "5554",
    ADB_MDNS: "0",
  };
  const devices: BedDevice[] = [];
  let serverRuns = false;

  const adb = (...args: string[]): Promise<ToolAnswer> =>
    callTool({ file: "adb", args: ["-P", String(serverPort), ...args], env, timeoutMs: WAIT_MS, maxBytes: 16_777_216 });

  const startNewer = (): Promise<ToolAnswer> =>
    callTool({
      file: "chroot",
      args: [process.env["SIMLOCK_ADBD_ROOTFS"] ?? "", "/usr/bin/adb", "-P", String(serverPort), "start-server"],
      // Seen from inside: the bed's own home.
      env: { ...env, HOME: "/.bed/home", PATH: "/usr/bin:/usr/sbin" },
      timeoutMs: WAIT_MS,
      maxBytes: 1_048_576,
    });

  const bed: Bed = {
    serverPort,
    server,

    device: async (label, properties = {}) => {
      const name = `${label}-${randomBytes(4).toString("hex")}`;
      const device = bedDevice(name, join(base, name, "root"), properties, await freePort());
      devices.push(device);
      await device.start();
      return device;
    },

    connect: async (port) => {
      const serial = `127.0.0.1:${port}`;
      await adb("connect", serial);
      await bed.listed(serial, "device");
      return serial;
    },

    disconnect: async (serial) => {
      await adb("disconnect", serial);
    },

    announce: async (port) => {
      const serial = `emulator-${port - 1}`;
      const socket = await AdbSocket.open(serverPort, AbortSignal.timeout(WAIT_MS));
      const service = `host:emulator:${port}`;
      socket.write(Buffer.from(`${service.length.toString(16).padStart(4, "0")}${service}`));
      await bed.listed(serial, "device");
      socket.close();
      return serial;
    },

    adb,

    startServer: async () => {
      const started = which === "host" ? await adb("start-server") : await startNewer();
      if (started.exitCode !== 0) throw new Error(`adb start-server: ${started.stderr}`);
      serverRuns = true;
    },

    stopServer: async () => {
      serverRuns = false;
      await adb("kill-server");
    },

    listed: async (serial, state) => {
      const limit = AbortSignal.timeout(WAIT_MS);
      for (;;) {
        const found = await server.devices(limit);
        if (found.some((one) => one.serial === serial && one.state === state)) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },

    close: async () => {
      if (serverRuns) await bed.stopServer();
      await Promise.all(devices.map((device) => device.stop()));
    },
  };
  await bed.startServer();
  return bed;
}

/** The device of a serial, enrolled as the daemon would. */
export async function enrolled(driver: Driver, serial: string): Promise<OwnDevice> {
  if (driver.attached === undefined) throw new Error("not an attached kind");
  const identity = await driver.attached.identify(serial);
  return {
    deviceId: DeviceId.parse("dev_test"),
    driverDeviceId: identity.id,
    name: "simlock-dev_test",
    mark: "mark",
    spec: identity.spec,
    baseline: identity.packages,
  };
}

function bedDevice(name: string, root: string, properties: Readonly<Record<string, string>>, first: number): BedDevice {
  let child: ChildProcess | undefined;
  let port = first;
  const signal = (what: NodeJS.Signals): void => {
    // The bed's pid namespace shows the device's processes too: adbd is the one whose root it is.
    for (const pid of processesBelow(child?.pid)) process.kill(pid, what);
  };
  const device: BedDevice = {
    name,
    root,
    get port() {
      return port;
    },
    start: async (at) => {
      port = at ?? port;
      const args = [name, String(port), ...Object.entries(properties).map(([key, value]) => `${key}=${value}`)];
      const started = spawn(ADBD_DEVICE, args, { stdio: ["ignore", "ignore", "pipe"] });
      child = started;
      const said: string[] = [];
      const lines = createInterface({ input: started.stderr });
      await new Promise<void>((resolve, reject) => {
        lines.on("line", (line) => {
          if (said.length < 100) said.push(line);
          if (line.includes("adbd started")) resolve();
        });
        started.once("exit", () => reject(new Error(`device ${name} ended:\n${said.join("\n")}`)));
      });
    },
    stop: async () => {
      const running = child;
      child = undefined;
      if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
      const exited = once(running, "exit");
      running.kill("SIGKILL");
      await exited;
    },
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
  };
  return device;
}

function processesBelow(pid: number | undefined): number[] {
  if (pid === undefined) return [];
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  const direct = children === "" ? [] : children.split(" ").map(Number);
  return direct.flatMap((child) => [child, ...processesBelow(child)]);
}

/** A port that is free now. adb's clients take even and odd ones alike. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
