import { z } from "zod";
import type { Command, Flag, HostPath, LeasedDevice, RefusalReason, Setting } from "./types.ts";
import rows from "./golden.json" with { type: "json" };
import { confinedPaths } from "./paths.ts";

// Test data: what each command must become, one row a case, in golden.json. Names stand for ids there: U1, D1, P1 are leased, U2, D2, P2 others'.

const Argument = z.union([
  z.string(),
  z
    .object({ repeat: z.string(), times: z.int(), end: z.string().default("") })
    .transform(({ repeat, times, end }) => repeat.repeat(times) + end),
]);

const Row = z.object({
  id: z.string(),
  lease: z.enum(["S", "E", "T", "A", "I"]),
  tool: z.string(),
  args: z.array(Argument),
  terminal: z.boolean().default(false),
  forwards: z.record(z.string(), z.string()).default({}),
  run: z.array(z.string()).optional(),
  flags: z.string().default(""),
  hostPaths: z.array(z.string()).default([]),
  refuse: z.string().optional(),
  token: z.string().optional(),
  unknownTool: z.boolean().default(false),
});
export type GoldenRow = z.infer<typeof Row>;

export const GOLDEN: readonly GoldenRow[] = z.array(Row).parse(rows);

const IDS: Readonly<Record<string, string>> = {
  U1: "5D2C3E41-9B0A-4B7E-8F5D-0C1A2B3C4D5E",
  U2: "A1B2C3D4-0000-4111-8222-333344445555",
  D1: "emulator-5586",
  D2: "emulator-5588",
  P1: "00008101-000A0C123456001E",
  P2: "00008110-00AA55FF0011223C",
};
const NAMES: Readonly<Record<string, string>> = {
  ...IDS,
  u1: (IDS["U1"] ?? "").toLowerCase(),
  u2: (IDS["U2"] ?? "").toLowerCase(),
  p1: (IDS["P1"] ?? "").toLowerCase(),
};

/** The argument with real ids in it. */
export const withIds = (text: string): string =>
  text.replace(/(^|=|-s)([UDPup][12])$/, (_all, front: string, name: string) => `${front}${NAMES[name] ?? name}`);

export const LEASES: Readonly<Record<GoldenRow["lease"], LeasedDevice>> = {
  S: { kind: "simulator", udid: withIds("U1") },
  E: { kind: "emulator", serial: withIds("D1") },
  T: { kind: "android", serial: "127.0.0.1:6555" },
  A: { kind: "android", serial: "R58M12ABCDE" },
  I: { kind: "iphone", udid: withIds("P1") },
};

const PROTECTED = ["/home/s/.simlock", "/home/s/.android", "/home/s/.ssh"];

/** The setting that all rows share but for what is given. */
export function settingFor(lease: GoldenRow["lease"], given: Partial<Setting> = {}): Setting {
  return {
    device: LEASES[lease],
    terminal: false,
    stdin: false,
    paths: confinedPaths({ scratch: "/w", protectedRoots: PROTECTED }),
    forwards: new Map(),
    reservedPorts: new Set([5037, 5038, 4700]),
    hostCode: "allow",
    ...given,
  };
}

export function settingOf(row: GoldenRow): Setting {
  const forwards = new Map(Object.entries(row.forwards).map(([local, owner]) => [local, withIds(owner)]));
  return settingFor(row.lease, { terminal: row.terminal, forwards });
}

export const commandOf = (row: GoldenRow): Command => ({ tool: row.tool, args: row.args.map(withIds) });

export function expectedOf(
  row: GoldenRow,
):
  | { readonly run: readonly string[]; readonly flags: readonly Flag[]; readonly hostPaths: readonly HostPath[] }
  | { readonly reason: RefusalReason; readonly token: string }
  | "unknown-tool" {
  if (row.unknownTool) return "unknown-tool";
  if (row.run !== undefined) {
    return { run: row.run.map(withIds), flags: [...row.flags].map(flagOf), hostPaths: row.hostPaths.map(pathOf) };
  }
  return { reason: reasonOf(row.refuse ?? ""), token: withIds(row.token ?? "") };
}

function flagOf(text: string): Flag {
  return z.enum(["L", "I", "X", "Y", "S"]).parse(text);
}

function pathOf(text: string): HostPath {
  const [access, ...path] = text.split(":");
  return { access: z.enum(["read", "write"]).parse(access), path: path.join(":") };
}

function reasonOf(text: string): RefusalReason {
  return z
    .enum(["wrong-tool", "other-device", "device-selector", "device-set", "server", "lifecycle", "host-wide"])
    .or(z.enum(["host-exec", "host-path", "host-network", "no-terminal", "never-ends"]))
    .or(z.enum(["unknown-verb", "unknown-option", "malformed"]))
    .parse(text);
}
