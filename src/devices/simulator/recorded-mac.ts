import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeviceId, SimlockError } from "../../contract/index.ts";
import type { Driver, OwnDevice } from "../driver.ts";
import type { ToolAnswer, ToolCall } from "../../exec/index.ts";
import type { CallTool } from "../tool-call.ts";
import { createSimulatorDriver } from "./driver.ts";
import type { SimulatorDriverOptions } from "./driver.ts";

/** A device as `list -j devices` writes it. */
export interface Entry {
  udid: string;
  name: string;
  state: string;
  [more: string]: unknown;
}

const IOS_26 = "com.apple.CoreSimulator.SimRuntime.iOS-26-0";
const IPHONE_17 = "com.apple.CoreSimulator.SimDeviceType.iPhone-17";

/** Types and runtimes in the form of `list -j devicetypes runtimes`, cut down to what the tests need. */
export const KINDS = JSON.stringify({
  devicetypes: [
    {
      name: "iPhone 17",
      identifier: IPHONE_17,
      productFamily: "iPhone",
      minRuntimeVersion: 1703936,
      maxRuntimeVersion: 4294967295,
    },
  ],
  runtimes: [
    {
      identifier: IOS_26,
      version: "26.0",
      platform: "iOS",
      isAvailable: true,
      name: "iOS 26.0",
      buildversion: "23A343",
      supportedDeviceTypes: [{ name: "iPhone 17", identifier: IPHONE_17, productFamily: "iPhone" }],
    },
  ],
});

export const PORTS =
  "Port 0:\n\tUUID: 4D5A2E9B-0000-0000-0000-000000000001\n\tPort Identifier: com.apple.framebuffer.display\n\tPower state: On\n";

export const said = (exitCode: number, stderr: string, stdout = ""): ToolAnswer => ({ exitCode, stdout, stderr });

/** A refusal in today's form: `405` ends as exit code 149. */
export const refusal = (text: string, code = 405): ToolAnswer =>
  said(
    code % 256,
    `An error was encountered processing the command (domain=com.apple.CoreSimulator.SimError, code=${code}):\n${text}\n`,
  );

export const timedOut = (verb: string): SimlockError =>
  new SimlockError("TOOL_FAILED", `\`xcrun simctl ${verb}\` passed its time limit.`);

type Reply = ToolAnswer | SimlockError | ((args: readonly string[]) => ToolAnswer | Promise<ToolAnswer>);

/**
 * simctl as far as a driver's logic sees it: a device set in a temporary folder, good answers by default, and for any verb the answers that a test
 * queues in front of them. Time is its own: a pause takes none and moves the clock.
 */
export class RecordedMac {
  readonly folder = mkdtempSync(join(tmpdir(), "simlock-set-"));
  readonly entries: Entry[] = [];
  readonly calls: (readonly string[])[] = [];
  readonly runtime = IOS_26;
  readonly #queued = new Map<string, Reply[]>();
  #made = 0;
  #time = 0;

  readonly clock = {
    now: () => this.#time,
    sleep: async (ms: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      this.#time += ms;
    },
  };

  readonly call: CallTool = async (call: ToolCall) => {
    call.signal?.throwIfAborted();
    const args = call.args[0] === "simctl" ? call.args.slice(1) : call.args;
    this.calls.push(args);
    const queued = this.#queued.get(keyOf(args))?.shift();
    if (queued instanceof SimlockError) throw queued;
    if (typeof queued === "function") return queued(args);
    return queued ?? this.good(args);
  };

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The next answers to `boot`, `list devices`, `list kinds`, `io`, … */
  next(verb: string, ...replies: readonly Reply[]): void {
    this.#queued.set(verb, [...(this.#queued.get(verb) ?? []), ...replies]);
  }

  verbs(): readonly string[] {
    return this.calls.map(keyOf);
  }

  count(verb: string): number {
    return this.verbs().filter((other) => other === verb).length;
  }

  entry(udid: string): Entry {
    const found = this.entries.find((entry) => entry.udid === udid);
    if (found === undefined) throw new Error(`no device ${udid}`);
    return found;
  }

  add(name: string, state = "Shutdown", more: Readonly<Record<string, unknown>> = {}): Entry {
    this.#made += 1;
    const udid = `AAAAAAAA-0000-4000-8000-${String(this.#made).padStart(12, "0")}`;
    const data = join(this.folder, udid, "data");
    mkdirSync(data, { recursive: true });
    const entry: Entry = {
      udid,
      name,
      state,
      isAvailable: true,
      deviceTypeIdentifier: IPHONE_17,
      dataPath: data,
      ...more,
    };
    this.entries.push(entry);
    return entry;
  }

  writeMark(udid: string, which: "durable" | "erasable", content: unknown): void {
    writeFileSync(this.markFile(udid, which), typeof content === "string" ? content : JSON.stringify(content));
  }

  readMark(udid: string, which: "durable" | "erasable"): unknown {
    try {
      return JSON.parse(readFileSync(this.markFile(udid, which), "utf8"));
    } catch {
      return undefined;
    }
  }

  removeMark(udid: string, which: "durable" | "erasable"): void {
    rmSync(this.markFile(udid, which));
  }

  markFile(udid: string, which: "durable" | "erasable"): string {
    return join(this.folder, udid, ...(which === "durable" ? [] : ["data"]), "simlock-mark.json");
  }

  listing(): string {
    return JSON.stringify({ devices: { [this.runtime]: this.entries } });
  }

  /** What simctl does and says when nothing is wrong. */
  good(args: readonly string[]): ToolAnswer {
    const [verb, operand = ""] = args;
    switch (keyOf(args)) {
      case "list devices":
        return said(0, "", this.listing());
      case "list kinds":
        return said(0, "", KINDS);
      case "create":
        return said(0, "", `${this.add(operand).udid}\n`);
      case "xcodebuild":
        return said(0, "", "Xcode 26.0.1\nBuild version 17A400\n");
    }
    const at = this.entries.findIndex((entry) => entry.udid === operand);
    const entry = this.entries[at];
    if (entry === undefined) return said(164, `Invalid device: ${operand}\n`);
    const wrong = (action: string) => refusal(`Unable to ${action} in current state: ${entry.state}`);
    switch (verb) {
      case "boot":
        if (entry.state !== "Shutdown") return wrong("boot device");
        entry.state = "Booted";
        break;
      case "bootstatus":
        entry.state = "Booted";
        break;
      case "shutdown":
        if (entry.state === "Shutdown") return wrong("shutdown device");
        entry.state = "Shutdown";
        break;
      case "erase":
        if (entry.state !== "Shutdown") return wrong("erase contents and settings");
        rmSync(join(this.folder, operand, "data"), { recursive: true, force: true });
        mkdirSync(join(this.folder, operand, "data"));
        break;
      case "delete":
        this.entries.splice(at, 1);
        rmSync(join(this.folder, operand), { recursive: true, force: true });
        break;
      case "io":
        return said(0, "", PORTS);
    }
    return said(0, "");
  }

  driver(more: Partial<SimulatorDriverOptions> = {}): Driver {
    return createSimulatorDriver({
      xcrun: { file: "xcrun", prefix: [], env: { HOME: this.folder } },
      call: this.call,
      instanceId: "instance-a",
      bootTimeoutMs: 120_000,
      clock: this.clock,
      ...more,
    });
  }

  /** A device of ours as earlier calls left it: made and marked. */
  async made(driver: Driver, device: OwnDevice = own("a")): Promise<Made> {
    const { driverDeviceId } = await driver.create(device, forever());
    this.calls.length = 0;
    return { ...device, driverDeviceId };
  }
}

export type Made = OwnDevice & { readonly driverDeviceId: string };

function keyOf(args: readonly string[]): string {
  const [verb = ""] = args;
  return verb === "list" ? `list ${args[2] === "devices" ? "devices" : "kinds"}` : verb;
}

export function own(id: string, more: Partial<OwnDevice> = {}): OwnDevice {
  const deviceId = DeviceId.parse(`dev_${id}`);
  return {
    deviceId,
    driverDeviceId: undefined,
    name: `simlock-${deviceId}`,
    mark: `token-${id}`,
    spec: { platform: "ios", model: "iPhone 17", osVersion: "26.0" },
    baseline: undefined,
    ...more,
  };
}

export function forever(): AbortSignal {
  return new AbortController().signal;
}

/** The error that a promise ends with. */
export async function failure(work: Promise<unknown>): Promise<SimlockError> {
  const thrown: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof SimlockError) return thrown;
  throw new Error(`expected a SimlockError, got ${String(thrown)}`);
}
