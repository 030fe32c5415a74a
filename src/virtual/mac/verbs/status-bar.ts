import { parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import type { StatusBar } from "../device.ts";
import { failure } from "../failure.ts";
import { changeSession, sessionOf } from "../session.ts";
import { runningDevice } from "../selection.ts";

const FORM = "<device> list | clear | override <override arguments>";

/** Names of each field and the numbers that `list` prints for them, as three public parsers read them off Xcode 26. */
export const CODES = {
  dataNetwork: {
    hide: 0,
    wifi: 1,
    "3g": 6,
    "4g": 7,
    lte: 8,
    "lte-a": 9,
    "lte+": 10,
    "5g": 11,
    "5g+": 12,
    "5g-uwb": 13,
    "5g-uc": 14,
  },
  wifiMode: { searching: 1, failed: 2, active: 3 },
  cellularMode: { notSupported: 0, searching: 1, failed: 2, active: 3 },
  batteryState: { discharging: 0, charging: 1, charged: 2 },
} as const satisfies Record<string, Readonly<Record<string, number>>>;

const LIMITS = { wifiBars: 3, cellularBars: 4, batteryLevel: 100 } as const;

/** `status_bar DEVICE list | clear | override …`. Overrides are lost when the device shuts down. */
export function statusBar(call: Call, args: readonly string[]): void {
  const [word, action, ...rest] = args;
  if (word === undefined || action === undefined) throw failure("usage", { why: `usage: simctl status_bar ${FORM}` });
  const device = runningDevice(call.set, word);
  if (action === "list") {
    call.out(listOf(sessionOf(device).statusBar));
    return;
  }
  if (action === "clear") {
    changeSession(call, device.udid, (session) => ({ ...session, statusBar: {} }));
    return;
  }
  if (action !== "override") throw failure("usage", { why: `usage: simctl status_bar ${FORM}` });
  const overrides = overridesOf(rest);
  changeSession(call, device.udid, (session) => ({ ...session, statusBar: { ...session.statusBar, ...overrides } }));
}

function overridesOf(args: readonly string[]): StatusBar {
  const names = [...Object.keys(CODES), ...Object.keys(LIMITS), "time", "operatorName"].map((name) => `--${name}`);
  const parsed = parseArguments("status_bar override", args, { separated: names });
  if (parsed.operands.length > 0) operandRefused(parsed.operands[0] ?? "");
  const given = Object.fromEntries(
    names.flatMap((option) => {
      const text = parsed.value(option);
      return text === undefined ? [] : [[option.slice(2), valueOf(option.slice(2), text)]];
    }),
  );
  if (Object.keys(given).length === 0) throw failure("usage", { why: "At least one override is needed." });
  return given;
}

function operandRefused(word: string): never {
  throw failure("usage", { why: `status_bar override: unexpected "${word}"` });
}

function valueOf(name: string, text: string): string | number {
  const codes: Readonly<Record<string, Readonly<Record<string, number>>>> = CODES;
  const known = codes[name];
  if (known !== undefined && !Object.hasOwn(known, text)) throw failure("invalidValue", { what: name, value: text });
  const limits: Readonly<Record<string, number>> = LIMITS;
  const limit = limits[name];
  if (limit === undefined) return text;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > limit) throw failure("invalidValue", { what: name, value: text });
  return value;
}

/** Only groups with an override are printed, and within a group what is not set reads 0. */
function listOf(bar: StatusBar): string {
  const code = (name: keyof typeof CODES): number => {
    const codes: Readonly<Record<string, number>> = CODES[name];
    return codes[bar[name] ?? ""] ?? 0;
  };
  const lines = ["Current Status Bar Overrides:", "============================="];
  if (bar.time !== undefined) lines.push(`Time: ${bar.time}`);
  if (bar.dataNetwork !== undefined) lines.push(`DataNetworkType: ${code("dataNetwork")}`);
  if (bar.wifiMode !== undefined || bar.wifiBars !== undefined) {
    lines.push(`WiFi Mode: ${code("wifiMode")}, WiFi Bars: ${bar.wifiBars ?? 0}`);
  }
  if (bar.cellularMode !== undefined || bar.cellularBars !== undefined) {
    lines.push(`Cell Mode: ${code("cellularMode")}, Cell Bars: ${bar.cellularBars ?? 0}`);
  }
  if (bar.operatorName !== undefined) lines.push(`Operator Name: ${bar.operatorName}`);
  if (bar.batteryState !== undefined || bar.batteryLevel !== undefined) {
    lines.push(`Battery State: ${code("batteryState")}, Battery Level: ${bar.batteryLevel ?? 0}, Not Charging: 0`);
  }
  return `${lines.join("\n")}\n`;
}
