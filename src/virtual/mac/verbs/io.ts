import { writeFileSync } from "node:fs";
import { extname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { operand, parseArguments } from "../arguments.ts";
import type { Parsed } from "../arguments.ts";
import type { Call } from "../call.ts";
import { failure } from "../failure.ts";
import { requireDisplay, screenOf } from "../screen/device-screen.ts";
import { encode } from "../screen/encode.ts";
import type { ImageType } from "../screen/encode.ts";
import { changeSession, sessionOf } from "../session.ts";
import { runningDevice, typeOf } from "../selection.ts";
import { record } from "./record-video.ts";

const FORM = "<device> <operation> <arguments>";

/** `io DEVICE enumerate | poll | screenshot | recordVideo | screenConfig`. */
export async function io(call: Call, args: readonly string[]): Promise<number | void> {
  const parsed = parseArguments("io", args, {
    flags: ["--force", "--poll"],
    separated: ["--type", "--codec", "--display", "--mask"],
  });
  const { udid } = runningDevice(call.set, operand(parsed, 0, "io", FORM));
  const operation = operand(parsed, 1, "io", FORM);
  checkDisplay(parsed);
  switch (operation) {
    case "enumerate":
      call.out(portsOf(call, udid));
      return parsed.has("--poll") ? poll(call, udid) : undefined;
    case "poll":
      return poll(call, udid);
    case "screenshot":
      return screenshot(call, udid, parsed);
    case "recordVideo":
      return record(call, udid, parsed);
    case "screenConfig":
      return screenConfig(call, udid, parsed.operands.slice(2));
    default:
      throw failure("usage", { why: `Unknown operation: ${operation}\nusage: simctl io ${FORM}` });
  }
}

function checkDisplay(parsed: Parsed): void {
  const display = parsed.value("--display");
  if (display !== undefined && display !== "internal")
    throw failure("invalidValue", { what: "display", value: display });
  const mask = parsed.value("--mask");
  if (mask !== undefined && !["ignored", "alpha", "black"].includes(mask)) {
    throw failure("invalidValue", { what: "mask", value: mask });
  }
}

const TYPES: Readonly<Record<string, ImageType>> = { png: "png", bmp: "bmp", tiff: "tiff", tif: "tiff" };

/** `screenshot FILE | -`: the type is named, or taken from the file's name, or PNG. */
async function screenshot(call: Call, udid: string, parsed: Parsed): Promise<void> {
  const file = operand(
    parsed,
    2,
    "io",
    "<device> screenshot [--type=<type>] [--display=<display>] [--mask=<policy>] <file>",
  );
  const extension = extname(file).slice(1).toLowerCase();
  const named = parsed.value("--type");
  const detected = named === undefined && extension !== "" ? extension : undefined;
  const word = named ?? detected ?? "png";
  const type = Object.hasOwn(TYPES, word) ? TYPES[word] : undefined;
  if (type === undefined) throw failure("unsupportedImage", { type: word });
  await call.takeTime("io screenshot");
  await requireDisplay(call, udid);
  const image = encode(screenOf(call, runningDevice(call.set, udid)), type);
  if (file === "-") {
    call.out(image);
    return;
  }
  if (detected !== undefined) call.err(`Detected file type '${type.toUpperCase()}' from extension\n`);
  try {
    writeFileSync(file, image);
  } catch (error) {
    throw failure("cannotWrite", { path: resolve(file), why: error instanceof Error ? error.message : String(error) });
  }
  call.err(`Wrote screenshot to: ${file}\n`);
}

/** The ports of the device's input and output. A device that came up without a screen has no display port. */
function portsOf(call: Call, udid: string): string {
  const device = runningDevice(call.set, udid);
  const { width, height } = typeOf(device);
  const port = (identifier: string, lines: readonly string[]) =>
    ["Port:", `    Port Identifier: ${identifier}`, ...lines.map((line) => `    ${line}`), ""].join("\n");
  const display = port("com.apple.framebuffer.display", [
    "Class: Display",
    "Power state: On",
    "Display class: 0",
    `Default width: ${width}`,
    `Default height: ${height}`,
    "Default pixel format: 'BGRA'",
  ]);
  const input = port("com.apple.CoreSimulator.LegacyHID", ["Class: HID"]);
  return sessionOf(device).display ? display + input : input;
}

/** Says what the ports are each time they change, until it is ended. */
async function poll(call: Call, udid: string): Promise<void> {
  let last = "";
  for (;;) {
    const now = portsOf(call, udid);
    if (now !== last) call.out(now);
    last = now;
    await sleep(100);
  }
}

function screenConfig(call: Call, udid: string, words: readonly string[]): void {
  const [what, value] = words;
  if (what === "power" && (value === "on" || value === "off")) {
    changeSession(call, udid, (session) => ({ ...session, display: value === "on" }));
    return;
  }
  if (what === "geometry")
    throw failure("refused", { what: "screenConfig geometry", why: "a model's screen has one size here" });
  throw failure("usage", { why: "usage: simctl io <device> screenConfig power on | off" });
}
