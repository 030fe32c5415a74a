import { PassThrough, Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { SimlockError } from "../contract/index.ts";
import { MAX_STDIN_BYTES, mayReadStdin, readStdin } from "./stdin.ts";

const usage = (part: string) => expect.objectContaining({ code: "USAGE", message: expect.stringContaining(part) });

describe("reading standard input", () => {
  test("takes all of it, a character that was cut between two chunks included", async () => {
    const bytes = Buffer.from("grün 电\n");
    const input = Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]);
    expect(await readStdin(input, { patient: false })).toBe("grün 电\n");
  });

  test("an input of exactly the limit is taken, one byte more is refused", async () => {
    const most = Buffer.alloc(MAX_STDIN_BYTES, "a");
    expect((await readStdin(Readable.from([most]), { patient: false })).length).toBe(MAX_STDIN_BYTES);
    await expect(readStdin(Readable.from([most, Buffer.from("b")]), { patient: false })).rejects.toEqual(
      usage("longer than 1 MiB"),
    );
  });

  test("a pipe that stays open and brings nothing is refused with the way out, unless its end is waited for", async () => {
    const open = new PassThrough();
    const refusal = readStdin(open, { patient: false, silenceMs: 20 });
    await expect(refusal).rejects.toEqual(usage("nothing came"));
    await expect(refusal).rejects.toSatisfy(
      (error) => error instanceof SimlockError && error.hint?.includes("--no-stdin") === true,
    );

    const late = new PassThrough();
    const waited = readStdin(late, { patient: true, silenceMs: 1 });
    setTimeout(() => late.end("late"), 60);
    expect(await waited).toBe("late");
  });

  test("bytes that are not text are refused rather than changed", async () => {
    await expect(readStdin(Readable.from([Buffer.from([0xff, 0x00])]), { patient: false })).rejects.toEqual(
      usage("not UTF-8"),
    );
  });

  test("a byte order mark is the caller's", async () => {
    expect(await readStdin(Readable.from([Buffer.from("\uFEFFx")]), { patient: false })).toBe("\uFEFFx");
  });
});

test("only commands that could read it wait for it", () => {
  expect(mayReadStdin("simctl", ["push", "com.example", "-"])).toBe(true);
  expect(mayReadStdin("simctl", ["listapps"])).toBe(false);
  expect(mayReadStdin("adb", ["-s", "x", "shell", "cat"])).toBe(true);
  expect(mayReadStdin("adb", ["devices"])).toBe(false);
  expect(mayReadStdin("devicectl", ["list", "devices"])).toBe(false);
});
