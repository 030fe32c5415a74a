import fc from "fast-check";
import { expect, test } from "vitest";
import { adbReadsForwards } from "./adb.ts";
import { ADB_VERBS } from "./adb-verbs.ts";
import { decideCommand } from "./decide.ts";
import { DEVICECTL_COMMANDS } from "./devicectl-commands.ts";
import { commandOf, GOLDEN, LEASES, settingFor, withIds } from "./golden.ts";
import { SIMCTL_VERBS } from "./simctl-verbs.ts";
import type { Setting, Verdict } from "./types.ts";

const RUNS = 2000;

/** Every word that a golden row, a table or a foreign device brings in, so that random commands come close to what is meant. */
const wordsOf = (tool: string): string[] =>
  GOLDEN.filter((row) => row.tool === tool).flatMap((row) => commandOf(row).args);
const foreign = ["U2", "u2", "D2", "P2"].map(withIds);
const own = ["U1", "u1", "D1", "P1", "p1"].map(withIds);
const anyText = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.string({ unit: "binary", maxLength: 4 }),
  fc.constantFrom(
    "",
    " ",
    "-",
    "--",
    "--help",
    "-h",
    "=",
    "-s",
    "-d",
    "--device",
    "--set",
    "all",
    "booted",
    "host",
    "\n",
    "\0",
  ),
);

function argsOf(vocabulary: readonly string[]): fc.Arbitrary<string[]> {
  const short = [...new Set(vocabulary)].filter((word) => word.length < 200);
  const word = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...short) },
    { weight: 1, arbitrary: fc.constantFrom(...foreign, ...own) },
    { weight: 1, arbitrary: anyText },
  );
  const goldenRow = fc.constantFrom(
    ...GOLDEN.map((row) => commandOf(row).args).filter((args) => args.join("").length < 500),
  );
  return fc.oneof(
    fc.array(word, { maxLength: 8 }),
    // A row of the golden table with a word put in, taken out or swapped.
    fc
      .tuple(goldenRow, fc.nat({ max: 8 }), fc.nat({ max: 1 }), fc.array(word, { maxLength: 2 }))
      .map(([row, at, cut, put]) => {
        const args = [...row];
        args.splice(at, cut, ...put);
        return args;
      }),
  );
}

const simctlArgs = argsOf([...wordsOf("simctl"), ...Object.keys(SIMCTL_VERBS)]);
const adbArgs = argsOf([...wordsOf("adb"), ...Object.keys(ADB_VERBS)]);
const devicectlArgs = argsOf([
  ...wordsOf("devicectl"),
  ...Object.keys(DEVICECTL_COMMANDS).flatMap((name) => name.split(" ")),
]);

/** What a decided command gives when it is decided again. */
function again(tool: string, verdict: Extract<Verdict, { kind: "run" }>, setting: Setting): Verdict {
  return decideCommand({ tool, args: verdict.args }, setting);
}

function stable(tool: string, verdict: Extract<Verdict, { kind: "run" }>, setting: Setting): void {
  const second = again(tool, verdict, setting);
  if (second.kind !== "run") throw new Error(`${JSON.stringify(verdict.args)} was refused: ${JSON.stringify(second)}`);
  expect(second.args).toEqual(verdict.args);
  expect(second.flags).toEqual(verdict.flags);
  expect(second.hostPaths).toEqual(verdict.hostPaths);
}

test("a decision never throws, and what it refuses it explains", () => {
  const anyCommand = fc.record({
    tool: fc.constantFrom("simctl", "adb", "devicectl", "ADB", ""),
    args: fc.oneof(simctlArgs, adbArgs, devicectlArgs),
  });
  fc.assert(
    fc.property(anyCommand, fc.constantFrom("S", "E", "T", "A", "I"), fc.boolean(), (command, lease, terminal) => {
      const verdict = decideCommand(command, settingFor(lease, { terminal }));
      if (verdict.kind !== "refuse") return;
      expect(verdict.message).not.toBe("");
      expect(verdict.hint).not.toBe("");
    }),
    { numRuns: RUNS },
  );
});

test("adb: whatever is let through names the leased serial first and nothing else in front of its verb, or needs no device", () => {
  const serial = withIds("D1");
  const openVerbs = new Set(Object.entries(ADB_VERBS).flatMap(([verb, { kind }]) => (kind === "open" ? [verb] : [])));
  let letThrough = 0;
  fc.assert(
    fc.property(adbArgs, (args) => {
      const setting = settingFor("E");
      const verdict = decideCommand({ tool: "adb", args }, setting);
      if (verdict.kind !== "run") return;
      letThrough++;
      const [first, second, verb, behind] = verdict.args;
      if (first === undefined || openVerbs.has(first)) return;
      expect([first, second]).toEqual(["-s", serial]);
      expect(verb !== undefined && ADB_VERBS[verb]?.kind).toBe("device");
      // adb runs whatever stands behind a wait.
      if (verb?.startsWith("wait-for") === true && behind !== undefined)
        expect(ADB_VERBS[behind]?.kind).not.toBe("refused");
      stable("adb", verdict, setting);
    }),
    { numRuns: RUNS },
  );
  expect(letThrough).toBeGreaterThan(RUNS / 20);
});

test("adb: without the forwards of the server the decision is the same, unless `adbReadsForwards` says so", () => {
  const forwards = new Map([
    ["tcp:7000", withIds("D2")],
    ["tcp:8081", withIds("D1")],
  ]);
  fc.assert(
    fc.property(adbArgs, (args) => {
      if (adbReadsForwards(args)) return;
      const command = { tool: "adb", args };
      expect(decideCommand(command, settingFor("E", { forwards }))).toEqual(decideCommand(command, settingFor("E")));
    }),
    { numRuns: RUNS },
  );
  expect(adbReadsForwards(["-s", withIds("D1"), "wait-for-device", "forward", "--remove", "tcp:1"])).toBe(true);
  expect(adbReadsForwards(["forward", "--list"])).toBe(false);
});

test("simctl: whatever is let through has the own id in the slot of its verb, and no other id before the app's arguments", () => {
  const udid = withIds("U1");
  let letThrough = 0;
  fc.assert(
    fc.property(simctlArgs, (args) => {
      const setting = settingFor("S");
      const verdict = decideCommand({ tool: "simctl", args }, setting);
      if (verdict.kind !== "run") return;
      letThrough++;
      const [verb = "help", ...rest] = verdict.args;
      const known = SIMCTL_VERBS[verb];
      expect(known?.kind).not.toBe("refused");
      if (known === undefined || known.kind === "open" || known.kind === "runtime") return;
      const slot =
        known.kind === "device" && known.form.side === "before" ? rest.findIndex((arg) => !arg.startsWith("-")) : 0;
      expect(rest[slot]).toBe(udid);
      expect(rest.slice(0, slot).some((arg) => foreign.includes(arg))).toBe(false);
      stable("simctl", verdict, setting);
    }),
    { numRuns: RUNS },
  );
  expect(letThrough).toBeGreaterThan(RUNS / 20);
});

test("devicectl: whatever is let through names the leased iPhone once and no other, or needs no device", () => {
  const udid = withIds("P1");
  let letThrough = 0;
  fc.assert(
    fc.property(devicectlArgs, (args) => {
      const setting = settingFor("I");
      const verdict = decideCommand({ tool: "devicectl", args }, setting);
      if (verdict.kind !== "run") return;
      letThrough++;
      const words = verdict.args.join(" ");
      for (const [name, command] of Object.entries(DEVICECTL_COMMANDS)) {
        if (command.kind === "refused" && !verdict.args.includes("--help"))
          expect(words).not.toMatch(new RegExp(`^${name}( |$)`));
      }
      const at = verdict.args.indexOf("--device");
      if (at === -1) return;
      expect(verdict.args[at + 1]).toBe(udid);
      const end = verdict.args.indexOf("--");
      const rest = verdict.args.slice(at + 2, end === -1 ? undefined : end);
      expect(rest.some((arg) => /^(--device|-d)(=|$)/.test(arg))).toBe(false);
      stable("devicectl", verdict, setting);
    }),
    { numRuns: RUNS },
  );
  expect(letThrough).toBeGreaterThan(RUNS / 20);
});

test("every golden command that runs is decided the same when it is decided again", () => {
  for (const row of GOLDEN.filter(({ run }) => run !== undefined)) {
    const setting = settingFor(row.lease, { terminal: row.terminal });
    const verdict = decideCommand(commandOf(row), setting);
    if (verdict.kind === "run") stable(row.tool, verdict, setting);
  }
});

test("code on the host is refused where the machine denies it", () => {
  const command = { tool: "simctl", args: ["spawn", "ls"] };
  expect(decideCommand(command, settingFor("S", { hostCode: "deny" }))).toMatchObject({
    kind: "refuse",
    reason: "host-exec",
  });
  expect(decideCommand({ tool: "simctl", args: ["list"] }, settingFor("S", { hostCode: "deny" })).kind).toBe("run");
  expect(LEASES.S.kind).toBe("simulator");
});
