import { readFileSync } from "node:fs";
import { isInstalled } from "../apps/containers.ts";
import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { failure } from "../failure.ts";
import { changeSession } from "../session.ts";
import { runningDevice } from "../selection.ts";

const FORM = "<device> [<bundle identifier>] (<json file> | -)";
const MOST_BYTES = 4096;

/** `push DEVICE [BUNDLE] FILE | -`. The payload may name its app as "Simulator Target Bundle"; the operand goes first. */
export async function push(call: Call, args: readonly string[]): Promise<void> {
  const parsed = parseArguments("push", args, {});
  const device = runningDevice(call.set, operand(parsed, 0, "push", FORM));
  const file = parsed.operands.at(-1);
  if (file === undefined || parsed.operands.length < 2) throw failure("usage", { why: `usage: simctl push ${FORM}` });
  const payload = payloadOf(file === "-" ? await call.stdin(MOST_BYTES) : readFileSync(file));
  const named = payload["Simulator Target Bundle"];
  const bundleId = parsed.operands.length > 2 ? parsed.operands[1] : typeof named === "string" ? named : undefined;
  if (bundleId === undefined) {
    throw failure("invalidPush", {
      why: 'no bundle identifier is given, and the payload has no "Simulator Target Bundle"',
    });
  }
  if (!isInstalled(call, device, bundleId)) throw failure("invalidPush", { why: `${bundleId} is not installed` });
  changeSession(call, device.udid, (session) => ({ ...session, banner: alertOf(payload["aps"]) }));
  call.out(`Notification sent to '${bundleId}'\n`);
}

function payloadOf(bytes: Uint8Array | undefined): Readonly<Record<string, unknown>> {
  if (bytes === undefined || bytes.length > MOST_BYTES) {
    throw failure("invalidPush", { why: `it is larger than ${MOST_BYTES} bytes` });
  }
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch (error) {
    throw failure("invalidPush", { why: error instanceof Error ? error.message : String(error) });
  }
  if (!isObject(json)) throw failure("invalidPush", { why: "the root is no object" });
  if (!isObject(json["aps"])) throw failure("invalidPush", { why: 'it has no "aps" object' });
  return json;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function alertOf(aps: unknown): string {
  if (!isObject(aps)) return "";
  const { alert } = aps;
  if (typeof alert === "string") return alert;
  if (!isObject(alert)) return "";
  return ["title", "subtitle", "body"].flatMap((key) => (typeof alert[key] === "string" ? [alert[key]] : [])).join(" ");
}
