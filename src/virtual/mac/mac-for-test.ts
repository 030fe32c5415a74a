import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createVirtualMac, virtualXcrun } from "../index.ts";
import type { Control, VirtualMac } from "../index.ts";
import { main } from "./main.ts";

export interface Ended {
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly bytes: Buffer;
}

export interface CallOptions {
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A virtual Mac of a test. */
export interface TestMac extends VirtualMac {
  /** A folder for the test's own files. */
  readonly files: string;
  /** A call as a process of its own, as it is for everybody. */
  start(args: readonly string[], options?: CallOptions): ChildProcessWithoutNullStreams;
  xcrun(args: readonly string[], options?: CallOptions): Promise<Ended>;
  /** The same call within the test's process: the same code between argv and exit code, a hundred times as fast. */
  here(args: readonly string[], options?: Omit<CallOptions, "cwd">): Promise<Ended>;
  simctl(...args: readonly string[]): Promise<Ended>;
  /** What `simctl` prints, trimmed; throws when it fails. Both run within the test's process. */
  say(...args: readonly string[]): Promise<string>;
  /** A booted simulator of this name, made for the test. */
  booted(name?: string, model?: string): Promise<string>;
  dispose(): Promise<void>;
}

export function macForTest(control: Control = { pace: "none" }): TestMac {
  const files = mkdtempSync(join(tmpdir(), "vmac-"));
  const mac = createVirtualMac(join(files, "mac"), control);
  const children = new Set<ChildProcessWithoutNullStreams>();

  const start = (args: readonly string[], options: CallOptions = {}) => {
    const tool = virtualXcrun(mac.root);
    const child = spawn(tool.file, [...tool.prefix, ...args], {
      env: { PATH: process.env["PATH"], ...tool.env, ...options.env },
      cwd: options.cwd ?? files,
    });
    children.add(child);
    child.once("close", () => children.delete(child));
    return child;
  };
  const xcrun = (args: readonly string[], options: CallOptions = {}) => {
    const child = start(args, options);
    // A child that ends before it has read its input is no failure of the test.
    child.stdin.on("error", () => {});
    child.stdin.end(options.stdin ?? "");
    return ended(child);
  };
  const here = async (args: readonly string[], options: Omit<CallOptions, "cwd"> = {}) => {
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    const exit = await main(args, {
      env: { PATH: process.env["PATH"], SIMLOCK_VIRTUAL_MAC: mac.root, ...options.env },
      out: (data) => out.push(Buffer.from(data)),
      err: (data) => err.push(Buffer.from(data)),
      stdin: async (limit) => {
        const bytes = Buffer.from(options.stdin ?? "");
        return bytes.length > limit ? undefined : bytes;
      },
    });
    const bytes = Buffer.concat(out);
    return { exit, signal: null, bytes, stdout: bytes.toString("utf8"), stderr: Buffer.concat(err).toString("utf8") };
  };
  const simctl = (...args: readonly string[]) => here(["simctl", ...args]);
  const say = async (...args: readonly string[]) => {
    const { exit, stdout, stderr } = await simctl(...args);
    if (exit !== 0) throw new Error(`simctl ${args.join(" ")} exits ${exit}: ${stderr}`);
    return stdout.trim();
  };
  return {
    ...mac,
    files,
    start,
    xcrun,
    here,
    simctl,
    say,
    booted: async (name = "phone", model = "iPhone 17") => {
      const udid = await say("create", name, model);
      await say("bootstatus", udid, "-b");
      return udid;
    },
    dispose: async () => {
      const rest = [...children];
      const gone = rest.map((child) => new Promise((done) => child.once("close", done)));
      for (const child of rest) child.kill("SIGKILL");
      await Promise.all(gone);
      rmSync(files, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (exit, signal) => {
      const bytes = Buffer.concat(out);
      done({ exit, signal, bytes, stdout: bytes.toString("utf8"), stderr: Buffer.concat(err).toString("utf8") });
    });
  });
}

/** Waits until a child has said `text` on one of its streams. */
export function heard(child: ChildProcessWithoutNullStreams, text: string): Promise<void> {
  return new Promise((done, fail) => {
    let said = "";
    const listen = (chunk: Buffer) => {
      said += chunk.toString("utf8");
      if (said.includes(text)) done();
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.once("close", () => fail(new Error(`it ended without saying "${text}": ${said}`)));
  });
}
