import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ADB_VERBS } from "./adb-verbs.ts";
import { decideCommand } from "./decide.ts";
import { DEVICECTL_COMMANDS } from "./devicectl-commands.ts";
import { settingFor } from "./golden.ts";
import { SIMCTL_VERBS } from "./simctl-verbs.ts";

const recorded = (name: string): string => readFileSync(new URL(`recorded/${name}`, import.meta.url), "utf8");

const linesOf = (name: string): string[] =>
  recorded(name)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

/** The verbs of an adb help text: the lines with one blank in front, below the global options and above the variables. */
function verbsOfAdbHelp(name: string): string[] {
  const text = recorded(name);
  const body = text.slice(text.indexOf("general commands:"), text.indexOf("environment variables:"));
  const verbs = body.split("\n").flatMap((line) => /^ ([a-z][\w-]*(\[-TRANSPORT\]-STATE)?)/.exec(line)?.[1] ?? []);
  return [...new Set(verbs)];
}

/** `wait-for[-TRANSPORT]-STATE` is many verbs. Its states and transports stand in the lines below it. */
function spelledOut(verb: string): string[] {
  if (!verb.startsWith("wait-for")) return [verb];
  const states = ["device", "recovery", "rescue", "sideload", "bootloader", "disconnect"];
  return ["", "-usb", "-local", "-any"].flatMap((transport) => states.map((state) => `wait-for${transport}-${state}`));
}

const ADB_HELPS = ["adb-29.0.6-help.txt", "adb-34.0.5-help.txt"];

describe("adb", () => {
  test("the recorded help texts are those of two versions", () => {
    expect(verbsOfAdbHelp("adb-29.0.6-help.txt")).toContain("ppp");
    expect(verbsOfAdbHelp("adb-34.0.5-help.txt")).toContain("mdns");
    expect(verbsOfAdbHelp("adb-34.0.5-help.txt")).not.toContain("ppp");
  });

  test.each(ADB_HELPS)("each verb of %s is in the table", (name) => {
    const missing = verbsOfAdbHelp(name)
      .flatMap(spelledOut)
      .filter((verb) => !Object.hasOwn(ADB_VERBS, verb));
    expect(missing).toEqual([]);
  });

  test("the table names no verb that no source shows", () => {
    const unlisted = linesOf("adb-unlisted-verbs.txt").map((line) => line.split(" ")[0] ?? "");
    const shown = new Set([...ADB_HELPS.flatMap(verbsOfAdbHelp).flatMap(spelledOut), ...unlisted]);
    expect(Object.keys(ADB_VERBS).filter((verb) => !shown.has(verb))).toEqual([]);
    expect(unlisted.filter((verb) => !Object.hasOwn(ADB_VERBS, verb))).toEqual([]);
  });

  test.each(ADB_HELPS)("no global option of %s is let through but the leased serial", (name) => {
    const text = recorded(name);
    const globals = text.slice(text.indexOf("global options:"), text.indexOf("general commands:"));
    const options = globals.split("\n").flatMap((line) => /^ (-[-a-zA-Z]+)/.exec(line)?.[1] ?? []);
    expect(options).toContain("-L");
    for (const option of options) {
      const verdict = decideCommand({ tool: "adb", args: [option, "x", "shell", "ls"] }, settingFor("E"));
      expect({ option, kind: verdict.kind }).toEqual({ option, kind: "refuse" });
    }
  });
});

test("simctl's verbs are those of the recorded list", () => {
  const verbs = linesOf("simctl-verbs.txt").map((line) => line.split(" ")[0]);
  expect(Object.keys(SIMCTL_VERBS).sort()).toEqual(verbs.toSorted());
});

test("devicectl's commands are those of the recorded list", () => {
  const commands = linesOf("devicectl-commands.txt").map((line) => line.replace("*", ""));
  expect(Object.keys(DEVICECTL_COMMANDS).sort()).toEqual(commands.toSorted());
});
