import { describe, expect, test } from "vitest";
import { SimlockError } from "../contract/index.ts";
import { parse } from "./program.ts";

function invocation(line: readonly string[]) {
  const parsed = parse(line);
  if (parsed.kind !== "invocation") throw new Error(`help instead of a command: ${parsed.text}`);
  return parsed;
}

function refused(line: readonly string[]): SimlockError {
  try {
    parse(line);
  } catch (thrown) {
    if (thrown instanceof SimlockError) return thrown;
    throw thrown;
  }
  throw new Error(`not refused: ${line.join(" ")}`);
}

describe("lease", () => {
  test("its flags become the operation's input, and only those that were given", () => {
    expect(invocation(["lease", "--platform", "ios"]).invocation).toEqual({
      command: "lease",
      ask: { platform: "ios" },
      detach: false,
      exportEnv: false,
    });
    expect(
      invocation([
        "lease",
        ...[
          "--platform",
          "android",
          "--device",
          "Pixel 9",
          "--os",
          ">=14 <16",
          "--mode",
          "slim",
          "--image-tag",
          "google_apis",
        ],
        ...[
          "--timeout",
          "90s",
          "--no-wait",
          "--ttl",
          "1h30m",
          "--allow-download",
          "--idempotency-key",
          "k1",
          "--physical",
        ],
        ...["--detach", "--export-env", "--bind-pid", "4242"],
      ]).invocation,
    ).toEqual({
      command: "lease",
      ask: {
        platform: "android",
        model: "Pixel 9",
        osVersion: ">=14 <16",
        mode: "slim",
        imageTag: "google_apis",
        physical: true,
        timeoutMs: 90_000,
        noWait: true,
        ttlMs: 5_400_000,
        allowDownload: true,
        idempotencyKey: "k1",
        bindPid: 4242,
      },
      detach: true,
      exportEnv: true,
    });
    expect(invocation(["lease", "--platform", "ios", "--no-physical"]).invocation).toMatchObject({
      ask: { physical: false },
    });
  });

  test("a model and a class at once are refused", () => {
    expect(refused(["lease", "--platform", "ios", "--device", "iPhone 17", "--class", "phone"]).message).toContain(
      "not both",
    );
  });

  test("without a platform, with an unknown one, or with a length of time that has no unit, it is refused", () => {
    expect(refused(["lease"]).message).toContain("--platform");
    expect(refused(["lease", "--platform", "windows"]).message).toContain("ios, android");
    expect(refused(["lease", "--platform", "ios", "--ttl", "30"]).hint).toContain("90s");
    expect(refused(["lease", "--platform", "ios", "--bind-pid", "1"]).message).toContain("at least 2");
  });

  test("renew stands below it and alone, and needs none of its flags", () => {
    const renewed = { command: "renew", lease: "lse_1", ttlMs: 1_800_000 };
    expect(invocation(["lease", "renew", "lse_1", "--ttl", "30m"]).invocation).toEqual(renewed);
    expect(invocation(["renew", "lse_1", "--ttl", "30m"]).invocation).toEqual(renewed);
    expect(invocation(["renew"]).invocation).toEqual({ command: "renew", lease: undefined, ttlMs: undefined });
  });
});

describe("commands that carry another command", () => {
  test("what follows -- is the command's own, flags of Simlock included", () => {
    expect(invocation(["with", "--platform", "ios", "--", "npm", "test", "--", "--json", "--virtual"])).toEqual({
      kind: "invocation",
      invocation: { command: "with", ask: { platform: "ios" }, argv: ["npm", "test", "--", "--json", "--virtual"] },
      globals: expect.not.objectContaining({ virtual: true, json: true }),
    });
  });

  test("the first argument that is no flag of ours begins the tool's command line", () => {
    expect(
      invocation(["run", "--lease", "lse_1", "--", "adb", "shell", "--", "ls", "--lease", "x"]).invocation,
    ).toEqual({
      command: "run",
      tool: "adb",
      args: ["shell", "--", "ls", "--lease", "x"],
      lease: "lse_1",
      dryRun: false,
      raw: false,
      stdin: "auto",
    });
    expect(invocation(["run", "simctl", "io", "screenshot", "--type=png", "x.png"]).invocation).toMatchObject({
      tool: "simctl",
      args: ["io", "screenshot", "--type=png", "x.png"],
    });
  });

  test.each(["simctl", "adb", "devicectl"])("%s is short for run", (tool) => {
    expect(invocation([tool, "--lease", "lse_1", "list", "-j"]).invocation).toMatchObject({
      command: "run",
      tool,
      args: ["list", "-j"],
      lease: "lse_1",
    });
  });

  test("a tool's own leading flag is the tool's", () => {
    expect(invocation(["adb", "-s", "emulator-5554", "shell"]).invocation).toMatchObject({
      args: ["-s", "emulator-5554", "shell"],
    });
    expect(invocation(["simctl", "--set", "/tmp", "list"]).invocation).toMatchObject({
      args: ["--set", "/tmp", "list"],
    });
    expect(invocation(["simctl", "--", "--help"]).invocation).toMatchObject({ args: ["--help"] });
  });

  test("standard input can be demanded and refused", () => {
    expect(invocation(["run", "--stdin", "adb", "shell"]).invocation).toMatchObject({ stdin: "wait" });
    expect(invocation(["run", "--no-stdin", "adb", "shell"]).invocation).toMatchObject({ stdin: "none" });
  });

  test("--json goes with --dry-run only", () => {
    expect(invocation(["run", "--dry-run", "--json", "--", "adb", "shell"])).toMatchObject({
      invocation: { dryRun: true },
      globals: { json: true },
    });
    expect(refused(["run", "--json", "--", "adb", "shell"]).message).toContain("--dry-run");
  });
});

describe("global flags", () => {
  test.each([
    [["--virtual", "--home", "/tmp/h", "--agent-id", "a", "--token", "t", "status"]],
    [["status", "--virtual", "--home", "/tmp/h", "--agent-id", "a", "--token", "t"]],
    [["--virtual", "--home=/tmp/h", "status", "--agent-id=a", "--token=t"]],
  ])("stand in front of the command or behind it: %j", (line) => {
    expect(invocation(line).globals).toMatchObject({ virtual: true, home: "/tmp/h", agentId: "a", token: "t" });
  });

  test("reach a nested command", () => {
    expect(invocation(["--virtual", "device", "list", "--json"]).globals).toMatchObject({ virtual: true, json: true });
    expect(invocation(["device", "--virtual", "list"]).globals).toMatchObject({ virtual: true });
  });
});

describe("refusals", () => {
  test("an unknown flag names itself, the likely one, and where to read more", () => {
    const error = refused(["lease", "--platfrom", "ios"]);
    expect(error.code).toBe("USAGE");
    expect(error.message).toContain("--platfrom");
    expect(error.hint).toContain("--platform");
    expect(error.hint).toContain("simlock help lease");
  });

  test("an unknown command names the likely one", () => {
    const error = refused(["statsu"]);
    expect(error.message).toContain("statsu");
    expect(error.hint).toContain("status");
  });

  test("--json where the output is JSON anyway says so", () => {
    expect(refused(["lease", "--platform", "ios", "--json"]).hint).toContain("JSON already");
  });

  test("too many words, or too few", () => {
    expect(refused(["status", "now"]).code).toBe("USAGE");
    expect(refused(["device", "add"]).message).toContain("serial");
    expect(refused(["with", "--platform", "ios"]).message).toContain("command");
    expect(refused(["run"]).message).toContain("tool");
    expect(parse(["device"])).toMatchObject({ kind: "help", text: expect.stringContaining("add"), exitCode: 2 });
    expect(refused(["device", "frob"]).message).toContain("frob");
  });

  test("release --all takes neither an id nor --force", () => {
    expect(refused(["release", "lse_1", "--all"]).code).toBe("USAGE");
    expect(refused(["release", "--all", "--force"]).code).toBe("USAGE");
  });
});

describe("help", () => {
  test.each([[[]], [["help"]], [["--help"]], [["-h"]]])("%j lists the commands", (line) => {
    const parsed = parse(line);
    if (parsed.kind !== "help") throw new Error("no help");
    for (const command of ["lease", "with", "release", "run", "status", "doctor", "daemon", "mcp", "demo"]) {
      expect(parsed.text).toMatch(new RegExp(`^ {2}${command}\\b`, "m"));
    }
    expect(parsed.text).not.toMatch(/^ {2}daemon run/m);
  });

  test.each([[["help", "lease"]], [["lease", "--help"]]])("%j is the command's own", (line) => {
    const parsed = parse(line);
    if (parsed.kind !== "help") throw new Error("no help");
    expect(parsed.text).toContain("--bind-pid");
    expect(parsed.text).toContain("--virtual");
  });

  test("version is asked for in three ways", () => {
    for (const line of [["version"], ["--version"], ["-v"]]) {
      expect(invocation(line).invocation).toEqual({ command: "version" });
    }
  });
});
