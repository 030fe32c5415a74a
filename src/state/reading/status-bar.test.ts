import fc from "fast-check";
import { expect, test } from "vitest";
import type { StatusBar } from "../types.ts";
import { statusBarOf } from "./status-bar.ts";

const HEAD = "Current Status Bar Overrides:\n=============================\n";

const NETWORKS = { hide: 0, wifi: 1, "3g": 6, "4g": 7, lte: 8, "lte-a": 9, "lte+": 10, "5g": 11, "5g+": 12 } as const;
const WIFI = { searching: 1, failed: 2, active: 3 } as const;
const CELL = { notSupported: 0, searching: 1, failed: 2, active: 3 } as const;
const BATTERY = { discharging: 0, charging: 1, charged: 2 } as const;

/** As simctl prints them: a group as soon as one of its members is set, and what is not set in it as 0. */
function printed(bar: StatusBar): string {
  const lines: string[] = [];
  const code = (codes: Readonly<Record<string, number>>, word: string | undefined) => codes[word ?? ""] ?? 0;
  if (bar.time !== undefined) lines.push(`Time: ${bar.time}`);
  if (bar.dataNetwork !== undefined) lines.push(`DataNetworkType: ${code(NETWORKS, bar.dataNetwork)}`);
  if (bar.wifiMode !== undefined || bar.wifiBars !== undefined)
    lines.push(`WiFi Mode: ${code(WIFI, bar.wifiMode)}, WiFi Bars: ${bar.wifiBars ?? 0}`);
  if (bar.cellularMode !== undefined || bar.cellularBars !== undefined)
    lines.push(`Cell Mode: ${code(CELL, bar.cellularMode)}, Cell Bars: ${bar.cellularBars ?? 0}`);
  if (bar.operatorName !== undefined) lines.push(`Operator Name: ${bar.operatorName}`);
  if (bar.batteryState !== undefined || bar.batteryLevel !== undefined)
    lines.push(
      `Battery State: ${code(BATTERY, bar.batteryState)}, Battery Level: ${bar.batteryLevel ?? 0}, Not Charging: 0`,
    );
  return HEAD + lines.map((line) => `${line}\n`).join("");
}

const words = <T extends string>(codes: Readonly<Record<T, number>>) =>
  fc.constantFrom(...Object.keys(codes).filter((word): word is T => Object.hasOwn(codes, word)));
const line = fc.string({ unit: "grapheme" }).filter((text) => !/[\r\n]/.test(text));
const bars: fc.Arbitrary<StatusBar> = fc.record(
  {
    time: line,
    dataNetwork: words(NETWORKS),
    wifiMode: words(WIFI),
    wifiBars: fc.integer({ min: 0, max: 3 }),
    cellularMode: words(CELL),
    cellularBars: fc.integer({ min: 0, max: 4 }),
    operatorName: line,
    batteryState: words(BATTERY),
    batteryLevel: fc.integer({ min: 0, max: 100 }),
  },
  { requiredKeys: [] },
);
const FIRST: StatusBar = {
  wifiBars: 0,
  cellularMode: "notSupported",
  cellularBars: 0,
  batteryState: "discharging",
  batteryLevel: 0,
};

test("whatever is set is read back, and what was not set is at most an uncertain first value", () => {
  fc.assert(
    fc.property(bars, (bar) => {
      const { statusBar, uncertain } = statusBarOf(printed(bar));
      expect(statusBar).toMatchObject(bar);
      for (const [key, value] of Object.entries(statusBar)) {
        if (Object.hasOwn(bar, key)) continue;
        expect([...uncertain]).toContain(key);
        expect(FIRST).toMatchObject({ [key]: value });
      }
    }),
    { numRuns: 500 },
  );
});

test("a header alone is a status bar without overrides", () => {
  expect(statusBarOf(HEAD)).toEqual({ statusBar: {}, uncertain: [] });
  expect(statusBarOf("Current Status Bar Overrides:\n==========\n\n")).toEqual({ statusBar: {}, uncertain: [] });
});

test("a clean bar is read whole and for certain", () => {
  const text = `${HEAD}Time: 09:41\nDataNetworkType: 14\nWiFi Mode: 3, WiFi Bars: 3\nCell Mode: 3, Cell Bars: 4\nOperator Name: \nBattery State: 2, Battery Level: 100, Not Charging: 0\n`;
  expect(statusBarOf(text)).toEqual({
    statusBar: {
      time: "09:41",
      dataNetwork: "5g-uc",
      wifiMode: "active",
      wifiBars: 3,
      cellularMode: "active",
      cellularBars: 4,
      operatorName: "",
      batteryState: "charged",
      batteryLevel: 100,
    },
    uncertain: [],
  });
});

test("a Wi-Fi mode of 0 is none, so its bars are certain", () => {
  expect(statusBarOf(`${HEAD}WiFi Mode: 0, WiFi Bars: 0\n`)).toEqual({ statusBar: { wifiBars: 0 }, uncertain: [] });
});

test.each([
  ["nothing", ""],
  ["another answer", "Invalid device: x\n"],
  ["a network without a name", `${HEAD}DataNetworkType: 2\n`],
  ["more bars than there are", `${HEAD}WiFi Mode: 3, WiFi Bars: 9\n`],
  ["a group that is not known", `${HEAD}Satellite Mode: 1\n`],
  ["a name of two lines that looks like a group", `${HEAD}Time: 1\nOperator Name: a\nTime: 2\n`],
])("what can't be told for sure is refused: %s", (_, text) => {
  expect(() => statusBarOf(text)).toThrow(Error);
});
