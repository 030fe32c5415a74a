import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAndroidDriver, type Driver, type OwnDevice } from "../../src/devices/index.ts";
import { callTool } from "../../src/exec/index.ts";
import { refusal } from "./asking.ts";
import { describeInBed, enrolled, openBed, type Bed, type BedDevice } from "./bed.ts";
import { holderOf, type Holder } from "./holder.ts";
import { openLink, type Link } from "./link.ts";

const MB = 1_048_576;

let bed: Bed;
let phone: BedDevice;
let link: Link;
let driver: Driver;
let device: OwnDevice;
let holder: Holder;
let scratch: string;

const size = (name: string): string => join(scratch, name);

describeInBed("commands on a leased device, with a real adb and a real adbd", () => {
  beforeAll(async () => {
    bed = await openBed();
    phone = await bed.device("phone");
    link = await openLink(phone.port);
    scratch = await mkdtemp(join(tmpdir(), "adb-exec-"));
    driver = createAndroidDriver({
      call: callTool,
      adb: { file: "/usr/bin/adb" },
      serverPort: bed.serverPort,
      pollMs: 1_000,
    });
    device = await enrolled(driver, await bed.connect(link.port));
    holder = holderOf({ driver, device, scratch });
  });

  afterAll(async () => {
    await driver?.dispose();
    await link?.close();
    await bed?.close();
    await rm(scratch, { recursive: true, force: true });
  });

  test.each([0, 1, 7, 86, 255])("shell exits with %i", async (code) => {
    expect((await holder.run(["shell", `exit ${code}`])).exitCode).toBe(code);
  });

  test("stdout and stderr are apart", async () => {
    const result = await holder.run(["shell", "echo out; echo err >&2; exit 3"]);
    expect(result).toMatchObject({ exitCode: 3, stdout: "out\n", stderr: "err\n", truncated: false });
  });

  test("what looks like an exit code in the output stays there", async () => {
    expect(await holder.run(["shell", "echo __RC=0; exit 3"])).toMatchObject({ exitCode: 3, stdout: "__RC=0\n" });
  });

  test("stdin reaches the command, and without one it is empty and closed", async () => {
    const text = `${"é€😀".repeat(20_000)}\n`;
    expect((await holder.run(["shell", "cat"], { stdin: text, keepLast: MB })).stdout).toBe(text);
    expect(await holder.run(["shell", "cat; echo end"])).toMatchObject({ exitCode: 0, stdout: "end\n" });
    expect((await holder.run(["shell", "wc -c"], { stdin: text })).stdout.trim()).toBe(String(Buffer.byteLength(text)));
  });

  test("a command that closes its stdin early still tells its exit code", async () => {
    expect((await holder.run(["shell", "exec <&-; exit 4"], { stdin: "x".repeat(4 * MB) })).exitCode).toBe(4);
  });

  test("a file is pushed and pulled back byte for byte, under any name", async () => {
    const name = "a b'c$(x)é.bin";
    const bytes = randomBytes(3 * MB + 17);
    await writeFile(size(name), bytes);
    expect((await holder.run(["push", name, `/data/local/tmp/${name}`])).exitCode).toBe(0);
    expect((await holder.run(["pull", `/data/local/tmp/${name}`, "back.bin"])).exitCode).toBe(0);
    expect((await readFile(size("back.bin"))).equals(bytes)).toBe(true);
    const missing = await holder.run(["pull", "/data/local/tmp/none", "none.bin"]);
    expect(missing.exitCode).toBe(1);
    expect(existsSync(size("none.bin"))).toBe(false);
  });

  test("an app is installed, listed and uninstalled", async () => {
    await writeFile(size("app.apk"), "package=com.example.app\n");
    expect((await holder.run(["install", "--no-streaming", "app.apk"])).stdout).toContain("Success");
    expect((await holder.run(["shell", "pm", "list", "packages", "-3"])).stdout).toBe("package:com.example.app\n");
    expect((await holder.run(["uninstall", "com.example.app"])).stdout).toContain("Success");
    expect((await holder.run(["install", "--no-streaming", "none.apk"])).exitCode).not.toBe(0);
  });

  test("a screenshot comes as a file through the device, and its bytes are named as no text", async () => {
    await holder.run(["shell", "screencap", "-p", "/sdcard/s.png"]);
    await holder.run(["pull", "/sdcard/s.png", "s.png"]);
    expect((await readFile(size("s.png"))).subarray(0, 8)).toEqual(Buffer.from("89504e470d0a1a0a", "hex"));
    expect((await holder.run(["exec-out", "screencap", "-p"])).notes.join()).toContain("not UTF-8");
  });

  test("200 MB of output pass through in bounded memory, and the last characters are kept", async () => {
    // Once before, so that what is allocated for good does not count.
    const flood = (megabytes: number): readonly string[] => [
      "shell",
      `busybox yes 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde | head -c ${megabytes * MB}; echo END`,
    ];
    await holder.run(flood(10));
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
    const result = await holder.run(flood(200), { keepLast: 32_768 }).finally(() => clearInterval(watch));
    expect(result).toMatchObject({ exitCode: 0, truncated: true, stdoutLength: 200 * MB + 4 });
    expect(result.stdout).toHaveLength(32_768);
    expect(result.stdout.endsWith("abcde\nEND\n")).toBe(true);
    expect((peak - before) / MB).toBeLessThan(64);
  });

  test("a slow reader holds the device back instead of filling memory", async () => {
    let characters = 0;
    const reading = holder.run(["shell", `head -c ${20 * MB} /dev/zero | busybox tr '\\000' x`], {
      onOutput: async (_stream, chunk) => {
        characters += chunk.length;
        await new Promise((resolve) => setImmediate(resolve));
      },
    });
    expect((await reading).exitCode).toBe(0);
    expect(characters).toBe(20 * MB);
  });

  test("a link that dies in the middle of a command: the time limit ends it", async () => {
    let started = (): void => undefined;
    const began = new Promise<void>((resolve) => (started = resolve));
    const work = refusal(
      holder.run(["shell", "while true; do echo tick; sleep 0.1; done"], {
        timeoutMs: 5_000,
        onOutput: () => started(),
      }),
    );
    await began;
    link.freeze();
    const at = performance.now();
    const error = await work;
    link.thaw();
    expect(error.code).toBe("EXEC_TIMEOUT");
    expect(performance.now() - at).toBeLessThan(12_000);
    // The device is the same and works again.
    await bed.listed(`127.0.0.1:${link.port}`, "device");
    await driver.clean(device, AbortSignal.timeout(60_000));
    expect((await holder.run(["shell", "echo back"])).stdout).toBe("back\n");
  });

  test("a link that breaks in the middle of a command ends it at once, and the device is found again", async () => {
    let started = (): void => undefined;
    const began = new Promise<void>((resolve) => (started = resolve));
    let output = "";
    const work = holder.run(["shell", "echo go; sleep 1000"], {
      onOutput: (_stream, chunk) => {
        output += chunk;
        started();
      },
    });
    await began;
    const at = performance.now();
    link.cut();
    // adb 29 answers 0 for a command whose connection broke: its exit code says nothing then.
    await work;
    expect(output).toBe("go\n");
    expect(performance.now() - at).toBeLessThan(5_000);
    const moved = await openLink(phone.port);
    const serial = await bed.connect(moved.port);
    expect(await driver.target(device)).toMatchObject({ kind: "android" });
    expect((await holder.run(["shell", "echo again"])).stdout).toBe("again\n");
    await bed.disconnect(serial);
    await moved.close();
    await bed.listed(`127.0.0.1:${link.port}`, "device");
  });

  test("a cancelled command ends, and cleaning ends what goes on on the device", async () => {
    const end = new AbortController();
    const work = refusal(
      holder.run(["shell", "echo go; sleep 7654321; true"], { signal: end.signal, onOutput: () => end.abort() }),
    );
    expect((await work).code).toBe("EXEC_CANCELLED");
    // adbd ends the command's shell with its connection, but not what that has started.
    const sleeping = "ps -A -o ARGS | grep -c '[s]leep 7654321'; true";
    expect((await holder.run(["shell", sleeping])).stdout).toBe("1\n");
    await driver.clean(device, AbortSignal.timeout(60_000));
    expect((await holder.run(["shell", sleeping])).stdout).toBe("0\n");
  });

  test("while the device is away its commands are refused, and the adb server stays as it is", async () => {
    await phone.stop();
    const error = await refusal(holder.run(["shell", "true"]));
    expect(error.code).toBe("DEVICE_UNAVAILABLE");
    expect(await bed.server.version()).toBe(41);
    await phone.start();
    await bed.listed(`127.0.0.1:${link.port}`, "device");
    expect((await holder.run(["shell", "true"])).exitCode).toBe(0);
  });
});
