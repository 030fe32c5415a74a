import { withClient } from "../connect.ts";
import type { Context } from "../context.ts";
import type { Invocation } from "../invocation.ts";
import { write, writeJson } from "../io.ts";
import { attachedText } from "../render/attached.ts";
import { paintFor } from "../render/paint.ts";

export function addDevice(
  context: Context,
  invocation: Extract<Invocation, { command: "device add" }>,
): Promise<number> {
  return withClient(context, { launch: true, admin: true }, async (client) => {
    const { serial, shared } = invocation;
    await writeJson(context.io.stdout, await client.call("device.add", { serial, ...(shared ? { shared } : {}) }));
    return 0;
  });
}

export function listDevices(context: Context): Promise<number> {
  return withClient(context, { launch: true }, async (client) => {
    const { stdout, env } = context.io;
    const answer = await client.call("device.list", {});
    if (context.json) await writeJson(stdout, answer);
    else await write(stdout, `${attachedText(answer.devices, paintFor(stdout, env))}\n`);
    return 0;
  });
}

export function removeDevice(
  context: Context,
  invocation: Extract<Invocation, { command: "device remove" }>,
): Promise<number> {
  return withClient(context, { launch: true, admin: true }, async (client) => {
    await writeJson(context.io.stdout, await client.call("device.remove", { device: invocation.device }));
    return 0;
  });
}
