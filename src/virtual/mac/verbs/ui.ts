import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import type { Settings } from "../device.ts";
import { failure } from "../failure.ts";
import { changeSettings } from "../session.ts";
import { runningDevice, typeOf } from "../selection.ts";

/** From the smallest to the largest. */
export const CONTENT_SIZES = [
  "extra-small",
  "small",
  "medium",
  "large",
  "extra-large",
  "extra-extra-large",
  "extra-extra-extra-large",
  "accessibility-medium",
  "accessibility-large",
  "accessibility-extra-large",
  "accessibility-extra-extra-large",
  "accessibility-extra-extra-extra-large",
] as const;

const FORM =
  "<device> appearance [light | dark] | increase_contrast [enabled | disabled] | content_size [<size> | increment | decrement]";

/** `ui DEVICE OPTION [VALUE]` prints or sets one option. */
export function ui(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("ui", args, {});
  const device = runningDevice(call.set, operand(parsed, 0, "ui", FORM));
  const option = operand(parsed, 1, "ui", FORM);
  const value = parsed.operands[2];
  const { settings } = device;
  if (option !== "appearance" && option !== "increase_contrast" && option !== "content_size") {
    throw failure("usage", { why: `usage: simctl ui ${FORM}` });
  }
  // Only iPhones and iPads have these options.
  const supported = ["iPhone", "iPad"].includes(typeOf(device).family);
  if (value === undefined) {
    call.out(`${supported ? current(settings, option) : "unsupported"}\n`);
    return;
  }
  if (!supported) throw failure("invalidValue", { what: `${option} (unsupported by this device)`, value });
  changeSettings(call, device.udid, (now) => ({ ...now, ...changed(now, option, value) }));
}

function current(settings: Settings, option: "appearance" | "increase_contrast" | "content_size"): string {
  if (option === "appearance") return settings.appearance;
  if (option === "content_size") return settings.contentSize;
  return settings.increaseContrast ? "enabled" : "disabled";
}

function changed(
  settings: Settings,
  option: "appearance" | "increase_contrast" | "content_size",
  value: string,
): Partial<Settings> {
  if (option === "appearance" && (value === "light" || value === "dark")) return { appearance: value };
  if (option === "increase_contrast" && (value === "enabled" || value === "disabled")) {
    return { increaseContrast: value === "enabled" };
  }
  if (option === "content_size") {
    const at = CONTENT_SIZES.findIndex((size) => size === settings.contentSize);
    const step = value === "increment" ? 1 : value === "decrement" ? -1 : undefined;
    const wanted = CONTENT_SIZES.find((size) => size === value);
    const size =
      step === undefined ? wanted : CONTENT_SIZES[Math.min(CONTENT_SIZES.length - 1, Math.max(0, at + step))];
    if (size !== undefined) return { contentSize: size };
  }
  throw failure("invalidValue", { what: option, value });
}
