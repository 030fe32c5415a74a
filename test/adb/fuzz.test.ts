import fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SimlockError } from "../../src/contract/index.ts";
import { createAndroidDriver, type Driver, type OwnDevice } from "../../src/devices/index.ts";
import { callTool } from "../../src/exec/index.ts";
import { describeInBed, enrolled, openBed, type Bed } from "./bed.ts";
import { adbCommandLine, type Names } from "./command-lines.ts";
import { holderOf, type Holder } from "./holder.ts";
import { openLink, type Link } from "./link.ts";

/** Command lines in all; what the grammar lets through is run. `SIMLOCK_FUZZ_RUNS=5000` for the long form. */
const RUNS = Number(process.env["SIMLOCK_FUZZ_RUNS"] || 150);
/** A command that does not end by itself is ended after this. */
const LIMIT_MS = 1_000;

let bed: Bed;
let mine: Link;
let others: Link;
let driver: Driver;
let device: OwnDevice;
let holder: Holder;
let names: Names;
let scratch: string;
let othersForward: string;

/** adb servers that a command of ours has left behind: each would carry our TMPDIR in its environment. */
function serversOfOurs(): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^[0-9]+$/.test(pid)) return [];
    try {
      if (!readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(`TMPDIR=${scratch}`)) return [];
      return [readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ")];
    } catch {
      return [];
    }
  });
}

describeInBed("random command lines, with two devices attached and one leased", () => {
  beforeAll(async () => {
    bed = await openBed();
    const [leased, other] = await Promise.all([bed.device("leased"), bed.device("other")]);
    [mine, others] = await Promise.all([openLink(leased.port), openLink(other.port)]);
    scratch = await mkdtemp(join(tmpdir(), "adb-fuzz-"));
    await writeFile(join(scratch, "file.txt"), "text\n");
    await writeFile(join(scratch, "app.apk"), "package=com.example.fuzz\n");
    driver = createAndroidDriver({
      call: callTool,
      adb: { file: "/usr/bin/adb" },
      serverPort: bed.serverPort,
      pollMs: 60_000,
    });
    const serial = await bed.connect(mine.port);
    const otherSerial = await bed.connect(others.port);
    device = await enrolled(driver, serial);
    const forwarded = await bed.adb("-s", otherSerial, "forward", "tcp:0", "tcp:4242");
    othersForward = `tcp:${forwarded.stdout.trim()}`;
    names = { own: serial, other: otherSerial, serverPort: bed.serverPort, othersForward };
    holder = holderOf({ driver, device, scratch, reservedPorts: new Set([bed.serverPort, mine.port, others.port]) });
  });

  afterAll(async () => {
    await driver?.dispose();
    await mine?.close();
    await others?.close();
    await bed?.close();
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true });
  });

  test(
    `of ${RUNS} command lines none reaches the other device, starts or stops a server, or takes a forward of another`,
    async () => {
      // Who the other is has been asked by now; from here on nobody has business with it.
      await driver.read();
      const before = others.opened.length;
      let ran = 0;
      let serverGone = false;
      const tracking = new AbortController();
      const tracked = bed.server
        .track(tracking.signal, () => undefined)
        .catch(() => (serverGone = !tracking.signal.aborted));

      await fc.assert(
        fc.asyncProperty(adbCommandLine(names), async (args) => {
          const verdict = await holder.decide(args);
          if (verdict.kind !== "run") return;
          ran += 1;
          try {
            await holder.perform(verdict, { timeoutMs: LIMIT_MS });
          } catch (error) {
            if (!(error instanceof SimlockError) || error.code !== "EXEC_TIMEOUT") throw error;
          }
          expect(others.opened.slice(before)).toEqual([]);
          expect(serverGone).toBe(false);
          expect((await driver.forwards?.())?.get(othersForward)).toBe(names.other);
          expect(await driver.target(device)).toEqual({ kind: "android", serial: names.own });
        }),
        { numRuns: RUNS, endOnFailure: true },
      );
      tracking.abort();
      await tracked;
      expect(serversOfOurs()).toEqual([]);
      expect((await bed.server.devices()).map(({ serial, state }) => [serial, state]).sort()).toEqual(
        [
          [names.own, "device"],
          [names.other, "device"],
        ].sort(),
      );
      // A grammar that refuses everything would pass the rest.
      expect(ran).toBeGreaterThan(RUNS / 20);
      console.log(`${RUNS} command lines, ${ran} run`);
    },
    60_000 + RUNS * 3_000,
  );

  test("the recorder sees a command that does reach the other device", async () => {
    const before = others.opened.length;
    await bed.adb("-s", names.other, "shell", "true");
    expect(others.opened.slice(before)).toHaveLength(1);
  });
});
