import { expect, test } from "vitest";
import { decideCommand, type LeasedDevice } from "../exec/index.ts";
import { instructionsText } from "./instructions.ts";

const DEVICES: Readonly<Record<string, LeasedDevice>> = {
  simctl: { kind: "simulator", udid: "6F1C0000-0000-4000-8000-000000000001" },
  adb: { kind: "android", serial: "emulator-5554" },
};
/** Every command that the text shows as the input of `run_on_device`. */
const commands = [...instructionsText.matchAll(/`(\{"tool": .*?\})`/g)].map(
  ([, json]) => JSON.parse(json ?? "") as { tool: string; args: string[] },
);
const essentials = instructionsText.slice(0, 2048);

test("the whole text fits where clients keep 4,096 characters", () => {
  expect(instructionsText.length).toBeLessThanOrEqual(4096);
});

test("what nobody can do without stands in the first 2,048 characters", () => {
  for (const needed of [
    ...["list_devices", "lease_simulator", "release_simulator", "lease_status", "run_on_device"],
    ...['"io", "screenshot"', '"screencap"', '"pull"', "exec-out"],
    ...["NO_LEASE", "UNKNOWN_LEASE", "REQUESTER_ALREADY_LEASED", "NO_CAPACITY", "PASSTHROUGH_REFUSED", "EXEC_TIMEOUT"],
    "exitCode is the command's own answer",
  ]) {
    expect(essentials).toContain(needed);
  }
});

test("each command in the text is one that Simlock runs", () => {
  expect(commands.length).toBeGreaterThanOrEqual(11);
  for (const { tool, args } of commands) {
    const device = DEVICES[tool];
    if (device === undefined) throw new Error(`no device for ${tool}`);
    const verdict = decideCommand(
      { tool, args },
      {
        device,
        terminal: false,
        stdin: false,
        paths: () => undefined,
        forwards: new Map(),
        reservedPorts: new Set(),
        hostCode: "allow",
      },
    );
    expect({ tool, args, ...verdict }).toMatchObject({ kind: "run", tool });
  }
});

test("the screenshot recipe writes the file that it says to open", () => {
  const files = commands.flatMap(({ args }) => args).filter((arg) => arg.startsWith("/tmp/"));
  expect(files).toEqual(["/tmp/shot.png", "/tmp/x.png"]);
  for (const file of files) expect(essentials).toContain(`then open ${file}`);
});
