import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { SimlockError, type Config, type DeviceKind, type LeaseId } from "../contract/index.ts";
import type { Driver } from "../devices/index.ts";
import {
  confinedPaths,
  decideCommand,
  localPaths,
  readsForwards,
  toError,
  toolEnvironment,
  type Setting,
  type Verdict,
} from "../exec/index.ts";
import type { Device, Lease } from "../leasing/index.ts";
import { bounded } from "./bounded.ts";
import type { Peer } from "./call.ts";
import { ownDevice } from "./effects.ts";
import { TARGET_TIMEOUT_MS } from "./limits.ts";
import type { ScratchFolders } from "./scratch.ts";

export interface PreparePorts {
  readonly findLease: (id: LeaseId) => Lease | undefined;
  readonly deviceOf: (lease: Lease) => Device | undefined;
  readonly driverOf: (kind: DeviceKind) => Driver | undefined;
  readonly scratch: ScratchFolders;
  readonly exec: Config["exec"];
  /** Folders that no command may touch: the home, the device roots. */
  readonly protectedRoots: readonly string[];
  /** Ports that no forward may name: the adb servers' and our own. */
  readonly reservedPorts: ReadonlySet<number>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Asked {
  readonly leaseId: LeaseId;
  readonly tool: string;
  readonly args: readonly string[];
  readonly terminal: boolean;
  readonly stdin: boolean;
  readonly cwd: string | undefined;
}

/** What will be run, decided and whole. */
export interface PreparedCommand {
  readonly lease: Lease;
  readonly verdict: Extract<Verdict, { kind: "run" }>;
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** A leased device that its holder may reach, and what a command on it may be. */
export interface PreparedTarget {
  readonly lease: Lease;
  readonly device: Device;
  readonly driver: Driver;
  readonly scratch: string;
  readonly cwd: string;
  readonly setting: Setting;
}

/** Throws `UNKNOWN_LEASE`, `DEVICE_UNAVAILABLE`, `BAD_REQUEST` for a working directory that can't be used. */
export async function prepareTarget(
  ports: PreparePorts,
  asked: Pick<Asked, "leaseId" | "cwd" | "terminal" | "stdin"> & Partial<Pick<Asked, "tool" | "args">>,
  peer: Peer,
): Promise<PreparedTarget> {
  const { lease, device, driver } = findTarget(ports, asked.leaseId);
  const scratch = ports.scratch.open(lease.id);
  const cwd = workingDirectory(asked.cwd, scratch, peer);
  const bound = { timeoutMs: TARGET_TIMEOUT_MS, what: "Finding the device", code: "DEVICE_UNAVAILABLE" as const };
  const target = await bounded(bound, async () => driver.target(ownDevice(device)));
  // The server is asked only where the decision needs it: nearly no command does.
  const needed = driver.forwards !== undefined && readsForwards({ tool: asked.tool ?? "", args: asked.args ?? [] });
  const forwards = needed
    ? await bounded(bound, async () => driver.forwards?.() ?? new Map<string, string>())
    : new Map<string, string>();
  const { protectedRoots } = ports;
  const setting: Setting = {
    device: target,
    terminal: asked.terminal,
    stdin: asked.stdin,
    paths: peer.local
      ? localPaths({ cwd, scratch, protectedRoots })
      : confinedPaths({ scratch, protectedRoots, writableRoots: ports.exec.writableRoots }),
    forwards,
    reservedPorts: ports.reservedPorts,
    hostCode: ports.exec.hostCode,
  };
  return { lease, device, driver, scratch, cwd, setting };
}

/**
 * Decides one command of a caller that may run it. Throws what `prepareTarget` throws, `UNKNOWN_PASSTHROUGH_TOOL` and `PASSTHROUGH_REFUSED`.
 */
export async function prepareCommand(ports: PreparePorts, asked: Asked, peer: Peer): Promise<PreparedCommand> {
  const { lease, driver, scratch, cwd, setting } = await prepareTarget(ports, asked, peer);
  const verdict = decideCommand({ tool: asked.tool, args: asked.args }, setting);
  if (verdict.kind !== "run") throw toError(verdict, asked.tool);
  const tool = driver.command(verdict.tool);
  return {
    lease,
    verdict,
    file: tool.file,
    args: [...tool.prefix, ...verdict.args],
    env: toolEnvironment(ports.environment, tool.env, { tmpdir: scratch }),
    cwd,
  };
}

function findTarget(ports: PreparePorts, leaseId: LeaseId): { lease: Lease; device: Device; driver: Driver } {
  const lease = ports.findLease(leaseId);
  if (lease === undefined) throw unknownLease(leaseId);
  const device = ports.deviceOf(lease);
  const driver = device === undefined ? undefined : ports.driverOf(device.kind);
  if (device === undefined || driver === undefined) {
    throw new SimlockError("DEVICE_UNAVAILABLE", `The device of lease ${leaseId} can't be reached by this daemon.`);
  }
  return { lease, device, driver };
}

function workingDirectory(asked: string | undefined, scratch: string, peer: Peer): string {
  if (asked === undefined) return scratch;
  if (!peer.local) throw new SimlockError("BAD_REQUEST", "cwd: only a caller on the same machine has a folder here.");
  if (!isAbsolute(asked) || asked.includes("\0"))
    throw new SimlockError("BAD_REQUEST", "cwd: it must be an absolute path.");
  if (statSync(asked, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new SimlockError("BAD_REQUEST", `cwd: ${asked} is no folder.`);
  }
  return asked;
}

export function unknownLease(leaseId: string): SimlockError {
  return new SimlockError("UNKNOWN_LEASE", `There is no lease ${leaseId}: it has ended, or never was.`, {
    details: { leaseId },
  });
}
