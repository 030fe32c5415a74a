import { mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { decideCommand, readsForwards } from "./decide.ts";
import { settingFor, withIds, type GoldenRow } from "./golden.ts";
import { confinedPaths } from "./paths.ts";
import { quoted, toError } from "./refusal.ts";
import type { Verdict } from "./types.ts";

// What the golden table leaves open: each line a command, and what becomes of it. A string is the reason of a refusal.

function decide(lease: GoldenRow["lease"], line: string | readonly string[]): Verdict {
  const [tool = "", ...args] = typeof line === "string" ? line.split(" ") : line;
  return decideCommand({ tool, args: args.map(withIds) }, settingFor(lease));
}

function outcome(verdict: Verdict): string {
  if (verdict.kind === "run") return verdict.args.join(" ");
  return verdict.kind === "refuse" ? verdict.reason : verdict.kind;
}

const U1 = withIds("U1");
const P1 = withIds("P1");
const E = `-s ${withIds("D1")}`;

test.each([
  ["simctl launch U1 --console com.x", "unknown-option"],
  ["simctl spawn U1 -s ls", "unknown-option"],
  ["simctl bootstatus -bcd", `bootstatus ${U1} -bcd`],
  ["simctl bootstatus -bx", "unknown-option"],
  ["simctl listapps U1 -j", `listapps -j ${U1}`],
  ["simctl io U1 U2 screenshot -", "other-device"],
  ["simctl io frobnicate", "unknown-verb"],
  ["simctl io --type=png screenshot a.png", "unknown-option"],
  ["simctl io poll all", "other-device"],
  ["simctl list devices booted x", "malformed"],
  ["simctl list --set x", "device-set"],
  ["simctl boot -set=x", "device-set"],
  ["simctl spawn --arch arm64 ls", "unknown-option"],
  ["simctl spawn -a mips ls", "malformed"],
  ["simctl location start --speed 30 1,2", "unknown-option"],
  ["simctl location set here", "malformed"],
  ["simctl push unavailable com.x a.apns", "other-device"],
  ["simctl addmedia file:///home/s/.ssh/id", "host-path"],
  ["simctl addmedia a:b.png", `addmedia ${U1} a:b.png`],
  ["simctl status_bar override", "malformed"],
  ["simctl status_bar override --time=9:41", "unknown-option"],
  ["simctl runtime match list -j", "runtime match list -j"],
  ["simctl runtime frobnicate", "unknown-verb"],
  ["simctl -h", "help"],
  ["simctl --help boot", "unknown-option"],
  ["simctl constructor", "unknown-verb"],
  ["simctl io constructor", "unknown-verb"],
  ["simctl boot U1 --disabledJob=com.apple.x", `boot ${U1} --disabledJob=com.apple.x`],
])("%s", (line, expected) => {
  expect(outcome(decide("S", line))).toBe(expected);
});

test.each([
  ["adb -s D1", ""],
  ["adb -L", "server"],
  ["adb --server-port 1 devices", "unknown-option"],
  ["adb -Hhost devices", "server"],
  ["adb devices --frob", "unknown-option"],
  ["adb version x", "malformed"],
  ["adb toString", "unknown-verb"],
  ["adb wait-for-device wait-for-device", "malformed"],
  ["adb wait-for-device -s D2 shell ls", "unknown-option"],
  ["adb wait-for-device server", "unknown-verb"],
  ["adb wait-for-device reverse tcp:1 tcp:5038", "host-network"],
  ["adb wait-for-usb-recovery", "never-ends"],
  ["adb wait-for-wifi-device", "unknown-verb"],
  ["adb shell -Tn -e none ls", `${E} shell -Tn -e none ls`],
  ["adb shell -ne", "malformed"],
  ["adb shell -e ab ls", "malformed"],
  ["adb shell /system/bin/reboot -p", "lifecycle"],
  ["adb exec-out reboot", "lifecycle"],
  ["adb shell setprop sys.powerctl reboot", "lifecycle"],
  ["adb shell echo reboot", `${E} shell echo reboot`],
  ["adb pull /sdcard/..", "host-path"],
  ["adb pull /sdcard/a/..// out", "host-path"],
  ["adb pull -- ..", "host-path"],
  ["adb pull -", "unknown-option"],
  ["adb push x", "malformed"],
  ["adb push -z", "malformed"],
  ["adb push /home/s/.android /sdcard/", "host-path"],
  ["adb install --referrer /home/s/.ssh/id.apk a.apk", "host-path"],
  ["adb install a.apk --referrer /home/s/.ssh/id", "host-path"],
  ["adb install --incrfoo a.apk", "unknown-option"],
  ["adb install-multi-package a.apk:/home/s/.ssh/b.apk", "host-path"],
  ["adb install-multi-package a.apk:", "malformed"],
  ["adb uninstall -k com.x", "unknown-option"],
  ["adb backup -all", `${E} backup -all`],
  ["adb backup -f a.ab -f /etc/x -all", "malformed"],
  ["adb backup -all -f /etc/x", "host-path"],
  ["adb bugreport /etc/x", "host-path"],
  ["adb forward tcp:07000 tcp:1", "host-network"],
  ["adb forward tcp:5556 tcp:1", "host-network"],
  ["adb forward tcp:99999 tcp:1", "host-network"],
  ["adb forward tcp:7000 tcp:1;tcp:2", "malformed"],
  ["adb forward --no-rebind tcp:7000 tcp:1", `${E} forward --no-rebind tcp:7000 tcp:1`],
  ["adb forward tcp:7000 --no-rebind tcp:1", "malformed"],
  ["adb reverse tcp:1;tcp:5038 tcp:8081", "malformed"],
  ["adb reverse tcp:9 local:/w/s", "host-network"],
  ["adb reverse tcp:9 tcp:4700", "host-network"],
  ["adb reverse tcp:9 tcp:0", "host-network"],
  ["adb emu", "malformed"],
  ["adb emu avd", "unknown-verb"],
  ["adb emu redir list", "host-network"],
  ["adb emu physics record x", "host-path"],
  ["adb restore /home/s/.ssh/id", "host-path"],
])("%s", (line, expected) => {
  expect(outcome(decide("E", line))).toBe(expected);
});

test.each([
  ["devicectl", ""],
  ["devicectl device info", "device info"],
  ["devicectl device info details --help", "device info details --help"],
  ["devicectl device info details -vt 10", `device info details --device ${P1} -vt 10`],
  ["devicectl device info details -tv 10", "malformed"],
  ["devicectl device info details --dev P1", "unknown-option"],
  ["devicectl device info details --device", "malformed"],
  ["devicectl device info details -- --device P2", "malformed"],
  ["devicectl device info apps -d P1 --columns Name Id", `device info apps --device ${P1} --columns Name Id`],
  ["devicectl device process launch com.x -vd P2", "other-device"],
  ["devicectl device process launch com.x --json-output /etc/x", "host-path"],
  [
    "devicectl device process launch com.x -AppleLanguages (de)",
    `device process launch --device ${P1} com.x -AppleLanguages (de)`,
  ],
  ["devicectl device simulate location clear", `device simulate location clear --device ${P1}`],
  ["devicectl device simulate location coordinate --altitude P2", "unknown-option"],
  [
    "devicectl device simulate location coordinate --altitude 3.5",
    `device simulate location coordinate --device ${P1} --altitude 3.5`,
  ],
  ["devicectl list preferredDDI --device P1", "unknown-option"],
  ["devicectl -j /etc/x device info details", "host-path"],
  ["devicectl help device ;", "malformed"],
])("%s", (line, expected) => {
  expect(outcome(decide("I", line))).toBe(expected);
});

test("flags of what may run long follow the options", () => {
  const flagsOf = (lease: GoldenRow["lease"], line: string): string => {
    const verdict = decide(lease, line);
    return verdict.kind === "run" ? verdict.flags.join("") : outcome(verdict);
  };
  expect(flagsOf("E", "adb logcat -t100")).toBe("");
  expect(flagsOf("E", "adb logcat -v d")).toBe("L");
  expect(flagsOf("E", "adb logcat -vd -d")).toBe("");
  expect(flagsOf("E", "adb logcat --help")).toBe("");
  expect(flagsOf("E", "adb install --incremental --wait a.apk")).toBe("L");
  expect(flagsOf("I", "devicectl device capture screen-record --duration 5 --destination v.mp4")).toBe("I");
  expect(flagsOf("I", "devicectl device capture screen-record --help")).toBe("");
});

describe("pull into a folder", () => {
  test("does not write through a link that lies there under the pulled name", () => {
    const scratch = realpathSync(mkdtempSync(join(tmpdir(), "pull-")));
    try {
      symlinkSync("/etc/passwd", join(scratch, "x.png"));
      const setting = settingFor("E", { paths: confinedPaths({ scratch, protectedRoots: [] }) });
      const pull = (source: string) => outcome(decideCommand({ tool: "adb", args: ["pull", source] }, setting));
      expect(pull("/sdcard/x.png")).toBe("host-path");
      expect(pull("/sdcard/y.png")).toBe(`${E} pull /sdcard/y.png`);
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  });
});

describe("shape", () => {
  const refusedAs = (args: readonly string[]) =>
    outcome(decideCommand({ tool: "adb", args: ["shell", ...args] }, settingFor("E")));

  test("10,000 short arguments are fine", () => {
    expect(refusedAs(Array.from({ length: 10_000 }, () => "a"))).toMatch(/^-s /);
  });

  test("an argument, and all of them, have a longest length in bytes", () => {
    const push = (path: string) => outcome(decideCommand({ tool: "adb", args: ["push", path, "/x"] }, settingFor("E")));
    expect(push("é".repeat(65_535))).toMatch(/^-s /);
    expect(push("é".repeat(65_536))).toBe("malformed");
    const many = ["push", ...Array.from({ length: 11 }, () => "a".repeat(50_000)), "/x"];
    expect(outcome(decideCommand({ tool: "adb", args: many }, settingFor("E")))).toBe("malformed");
  });

  test("60,000 bytes of shell are the most, counted in bytes and with adb's quotes where it adds them", () => {
    expect(refusedAs(["é".repeat(30_000)])).toMatch(/^-s /);
    expect(refusedAs(["é".repeat(30_001)])).toBe("malformed");
    const execOut = (args: readonly string[]) =>
      outcome(decideCommand({ tool: "adb", args: ["exec-out", ...args] }, settingFor("E")));
    expect(execOut(["a", "'".repeat(14_000)])).toMatch(/^-s /);
    expect(execOut(["a", "'".repeat(15_001)])).toBe("malformed");
  });

  test("half a surrogate pair is refused", () => {
    expect(refusedAs(["a\ud83d"])).toBe("malformed");
  });
});

test("a refusal becomes an error that names tool, reason and token", () => {
  const verdict = decide("E", "adb -s D2 shell ls");
  if (verdict.kind === "run") throw new Error("it ran");
  const error = toError(verdict, "adb");
  expect(error.code).toBe("PASSTHROUGH_REFUSED");
  expect(error.message).toContain(`"${withIds("D2")}"`);
  expect(error.details).toEqual({ tool: "adb", reason: "other-device", token: withIds("D2") });
  expect(error.hint).not.toBe(undefined);
  const unknown = decideCommand({ tool: "./adb", args: [] }, settingFor("E"));
  if (unknown.kind === "run") throw new Error("it ran");
  expect(toError(unknown, "./adb")).toMatchObject({ code: "UNKNOWN_PASSTHROUGH_TOOL", details: { tool: "./adb" } });
});

test("a message shows what the eye can't see, and never all of a long argument", () => {
  expect(quoted("inst\u200ball\n")).toBe('"inst\\u{200b}all\\n"');
  expect(quoted("a b\u00a0")).toBe('"a b\\u{a0}"');
  expect(quoted("é漢😀")).toBe('"é漢😀"');
  expect(quoted("x".repeat(10_000)).length).toBeLessThan(250);
});

test("the caller asks for forwards only where they matter", () => {
  const reads = (line: string): boolean => {
    const [tool = "", ...args] = line.split(" ");
    return readsForwards({ tool, args });
  };
  expect(reads("adb forward tcp:7000 tcp:1")).toBe(true);
  expect(reads("adb -s emulator-5586 forward --remove tcp:7000")).toBe(true);
  expect(reads("adb wait-for-device forward tcp:7000 tcp:1")).toBe(true);
  expect(reads("adb shell forward tcp:7000")).toBe(false);
  expect(reads("adb forward --list")).toBe(false);
  expect(reads("simctl forward x")).toBe(false);
});

test("hints say what is probably missing", () => {
  const hintsOf = (line: string): readonly string[] => {
    const verdict = decide("S", line);
    return verdict.kind === "run" ? verdict.hints : [];
  };
  expect(hintsOf("simctl push com.x -")[0]).toMatch(/stdin/);
  expect(hintsOf("simctl pbcopy")[0]).toMatch(/stdin/);
  expect(hintsOf("simctl launch com.x --console")[0]).toMatch(/^"--console" stands behind/);
  expect(hintsOf("simctl launch --stdout=out.txt com.x")[0]).toMatch(/simulator's side/);
  expect(hintsOf("simctl install a.app")).toEqual([]);
});
