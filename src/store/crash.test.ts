import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mintId } from "../contract/index.ts";
import { openStore } from "./store.ts";

const WRITER = join(import.meta.dirname, "crash.fixture.ts");
const KILLS = 50;

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync("/tmp/sl-crash-");
  path = join(folder, "simlock.db");
});
let writer: ChildProcess | undefined;
afterEach(async () => {
  if (writer !== undefined && writer.exitCode === null && writer.signalCode === null) {
    writer.kill("SIGKILL");
    await once(writer, "exit");
  }
  rmSync(folder, { recursive: true, force: true });
});

/** Kills a writer after so many acknowledged commits and a random moment more; returns the last number that it acknowledged. */
async function killedAfter(commits: number, extraMs: number): Promise<number> {
  // Most of a writer's life is its start: what it compiles is kept for the next one.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, "compiled") };
  const child = spawn(process.execPath, [WRITER, path], { stdio: ["ignore", "pipe", "inherit"], env });
  writer = child;
  const closed = once(child, "close");
  let text = "";
  let armed = false;
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk: string) => {
    text += chunk;
    if (armed || text.split("\n").length <= commits) return;
    armed = true;
    // The moment is random, so that the kill falls anywhere within a commit, a trim or a checkpoint.
    setTimeout(() => child.kill("SIGKILL"), extraMs);
  });
  const [code, signal] = await closed;
  expect([code, signal]).toEqual([null, "SIGKILL"]);
  const acknowledged = text.slice(0, text.lastIndexOf("\n")).split("\n").map(Number);
  return acknowledged.at(-1) ?? 0;
}

test(
  `${KILLS} kills at random moments: every commit that was acknowledged is there, and none is there in part`,
  { timeout: 300_000 },
  async () => {
    let last = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const acknowledged = await killedAfter(1 + Math.floor(Math.random() * 20), Math.random() * 8);
      expect(acknowledged).toBeGreaterThan(last);

      const store = openStore({ path, mintEventId: () => mintId("evt") });
      const { devices, leases, requests } = store.load();
      const stored = devices[0]?.createdAt ?? 0;
      // At most the one commit that was under way may be there without having been acknowledged.
      expect(stored - acknowledged).toBeGreaterThanOrEqual(0);
      expect(stored - acknowledged).toBeLessThanOrEqual(1);
      expect(leases.map((lease) => lease.grantedAt)).toEqual([stored]);
      expect(requests.map((request) => request.createdAt)).toEqual([stored]);
      const { events } = store.events({ limit: 10_000 });
      const told = events.map((event) => event.payload["deadline"]);
      expect(told.slice(-2)).toEqual([stored, stored]);
      expect(events.at(-1)?.seq).toBe(stored * 2);
      store.close();
      last = stored;
    }
  },
);

test("a disk that takes no more: the commit fails, nothing of it is kept, and what was acknowledged is", () => {
  // A limit on the size of a file stands in for a full disk: the kernel refuses the write (EFBIG).
  const limited = spawnSync("/bin/sh", ["-c", 'ulimit -f 600 && exec "$0" "$@"', process.execPath, WRITER, path], {
    encoding: "utf8",
    timeout: 60_000,
  });
  expect([limited.status, limited.signal]).toEqual([3, null]);
  expect(limited.stderr).toContain("could not be written");
  const acknowledged = Number(limited.stdout.trimEnd().split("\n").at(-1));
  expect(acknowledged).toBeGreaterThan(5);
  const store = openStore({ path, mintEventId: () => mintId("evt") });
  expect(store.load()).toMatchObject({
    devices: [{ createdAt: acknowledged }],
    leases: [{ grantedAt: acknowledged }],
    requests: [{ createdAt: acknowledged }],
  });
  store.close();
});
