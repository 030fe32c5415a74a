import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { operand, parseArguments } from "../arguments.ts";
import { openSet, setPathOf } from "../call.ts";
import type { Call } from "../call.ts";
import { findDeviceType } from "../catalog/models.ts";
import { findRuntime, newestRuntime, pairs } from "../catalog/runtimes.ts";
import type { Runtime } from "../catalog/runtimes.ts";
import { stateAt } from "../device.ts";
import { dataOf, newDevice, writeRecord } from "../device-folder.ts";
import { failure } from "../failure.ts";
import { paceOf } from "../pace.ts";
import { deviceFor, deviceIn, isAvailable, requireState, runtimeOf, typeOf } from "../selection.ts";

/** `create NAME TYPE [RUNTIME]` prints the new UDID. The device is Creating for a moment, then Shutdown. */
export async function create(call: Call, args: readonly string[]): Promise<void> {
  const form = "<name> <device type id> [<runtime id>]";
  const parsed = parseArguments("create", args, {});
  const name = operand(parsed, 0, "create", form);
  const typeWord = operand(parsed, 1, "create", form);
  const type = findDeviceType(typeWord);
  if (type === undefined) throw failure("invalidDeviceType", { type: typeWord });
  const word = parsed.operands[2];
  const runtime = word === undefined ? newestRuntime(type, missing(call)) : installed(call, word);
  if (runtime === undefined) throw failure("invalidRuntime", { runtime: word ?? "" });
  if (!pairs(type, runtime)) throw failure("incompatibleDevice");
  const until = Date.now() + paceOf(call.control, "create");
  const device = newDevice(call.set, { name, type, runtime, state: "Creating", until });
  await call.takeTime("create");
  writeRecord(call.set, device);
  call.out(`${device.udid}\n`);
}

function missing(call: Call): ReadonlySet<string> {
  return new Set(call.control.missingRuntimes);
}

function installed(call: Call, word: string): Runtime | undefined {
  const runtime = findRuntime(word);
  return runtime !== undefined && isAvailable(call.control, runtime.identifier) ? runtime : undefined;
}

/** `clone DEVICE NAME [SET]` copies a shut-down device with everything on it, and prints the new UDID. */
export async function clone(call: Call, args: readonly string[]): Promise<void> {
  const form = "<device> <new name> [<destination device set>]";
  const parsed = parseArguments("clone", args, {});
  const source = deviceIn(call.set, operand(parsed, 0, "clone", form), "clone device", ["Shutdown"]);
  const name = operand(parsed, 1, "clone", form);
  const setWord = parsed.operands[2];
  const target = setWord === undefined ? call.set : openSet(call.root, setPathOf(call.root, setWord));
  await call.takeTime("clone");
  const made = newDevice(target, {
    name,
    type: typeOf(source),
    runtime: runtimeOf(source),
    state: "Creating",
    until: null,
  });
  // Copied while it is still Creating: a copy that breaks off leaves a device that says so.
  rmSync(dataOf(target, made.udid), { recursive: true, force: true });
  cpSync(dataOf(call.set, source.udid), dataOf(target, made.udid), { recursive: true });
  const apps = call.set.apps(source.udid);
  target.write(() => {
    target.put({ ...made, state: "Shutdown", until: null, settings: source.settings });
    for (const app of apps) {
      const moved = Object.entries(app.groups).map(([group, path]) => [
        group,
        join(dataOf(target, made.udid), path.slice(dataOf(call.set, source.udid).length)),
      ]);
      target.putApp({ ...app, udid: made.udid, groups: Object.fromEntries(moved) });
    }
  });
  writeRecord(target, { ...made, state: "Shutdown" });
  call.out(`${made.udid}\n`);
}

export function rename(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("rename", args, {});
  const word = operand(parsed, 0, "rename", "<device> <name>");
  const name = operand(parsed, 1, "rename", "<device> <name>");
  call.set.write(() => {
    const renamed = { ...deviceFor(call.set, word), name };
    call.set.put(renamed);
    writeRecord(call.set, renamed);
  });
}

/** `upgrade DEVICE RUNTIME` moves a shut-down device to a newer runtime that it pairs with. */
export function upgrade(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("upgrade", args, {});
  const word = operand(parsed, 0, "upgrade", "<device> <runtime id>");
  const runtimeWord = operand(parsed, 1, "upgrade", "<device> <runtime id>");
  const runtime = installed(call, runtimeWord);
  if (runtime === undefined) throw failure("invalidRuntime", { runtime: runtimeWord });
  call.set.write(() => {
    const device = deviceFor(call.set, word);
    requireState(device, "upgrade device", ["Shutdown"]);
    if (!pairs(typeOf(device), runtime)) throw failure("incompatibleDevice");
    const upgraded = { ...device, runtimeId: runtime.identifier, state: stateAt(device, Date.now()), until: null };
    call.set.put(upgraded);
    writeRecord(call.set, upgraded);
  });
}
