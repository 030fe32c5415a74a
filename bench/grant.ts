import { createConnection, type Socket } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { connectSimlock, type SimlockClient } from "../src/client/index.ts";
import { Workshop } from "./child.ts";
import { atMost, percentile, type Figure } from "./figure.ts";

const ROUNDS = 600;
const WARM_UP = 100;

/** A warm grant, and a release that serves the next in line: against the commits and the round trip that neither can do without. */
export async function grantFigures(): Promise<Figure[]> {
  const shop = new Workshop();
  try {
    const home = join(shop.folder, "h");
    await shop.start("fake-daemon.ts", home, "1");
    await shop.start("echo-server.ts", join(shop.folder, "echo"));
    const connect = (principal: string) =>
      connectSimlock({ socketPath: join(home, "daemon.sock"), principal, clientVersion: "bench" });
    const [a, b] = await Promise.all([connect("a"), connect("b")]);
    const commit = fullCommit(join(shop.folder, "floor.db"));
    const echo = await echoClient(join(shop.folder, "echo"));

    const commits: number[] = [];
    const trips: number[] = [];
    const grants: number[] = [];
    const handovers: number[] = [];
    await warmGrant(a);
    for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
      // Turn about, so that whatever else the machine does falls on all alike.
      const taken = [timed(commit), await timedAsync(echo), await warmGrant(a), await handover(a, b)] as const;
      if (round < WARM_UP) continue;
      for (const [at, into] of [commits, trips, grants, handovers].entries()) into.push(taken[at] ?? Number.NaN);
    }
    await Promise.all([a.close(), b.close()]);
    const p50 = (samples: readonly number[]) => percentile(samples, 0.5);
    const p99 = (samples: readonly number[]) => percentile(samples, 0.99);
    const one = p50(commits) + p50(trips);
    return [
      atMost("warm grant over the socket, p50", "one FULL commit + one round trip", one, p50(grants), 2),
      atMost("warm grant over the socket, p99", "one FULL commit + one round trip, p50", one, p99(grants), 6),
      atMost(
        "release → next waiter granted, p50",
        "two FULL commits + one round trip",
        2 * p50(commits) + p50(trips),
        p50(handovers),
        2,
      ),
    ];
  } finally {
    await shop.close();
  }
}

/** How long a ready device takes to be granted. It is given back, and ready again, before this returns. */
async function warmGrant(client: SimlockClient): Promise<number> {
  const started = performance.now();
  const { lease } = await client.requestLease({ platform: "ios" });
  const took = performance.now() - started;
  await client.call("lease.release", { leaseId: lease.id });
  await untilReady(client);
  return took;
}

/** From a release to the grant of the one who waited for it. */
async function handover(a: SimlockClient, b: SimlockClient): Promise<number> {
  const { lease } = await a.requestLease({ platform: "ios" });
  const waiting = b.requestLease({ platform: "ios" });
  // Not by its progress, which is told a few times a second only.
  while ((await a.call("status.get", {})).queueDepth !== 1);
  const started = performance.now();
  const released = a.call("lease.release", { leaseId: lease.id });
  const next = await waiting;
  const took = performance.now() - started;
  await released;
  await b.call("lease.release", { leaseId: next.lease.id });
  await untilReady(b);
  return took;
}

async function untilReady(client: SimlockClient): Promise<void> {
  for (;;) {
    const { devices } = await client.call("status.get", {});
    if (devices?.every((device) => device.state === "ready") === true && devices.length > 0) return;
  }
}

function fullCommit(path: string): () => void {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)");
  const insert = database.prepare("INSERT INTO t (body) VALUES (?)");
  return () => {
    database.exec("BEGIN IMMEDIATE");
    insert.run("x".repeat(300));
    database.exec("COMMIT");
  };
}

async function echoClient(path: string): Promise<() => Promise<void>> {
  const socket: Socket = createConnection(path);
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.unref();
  return () =>
    new Promise((resolve) => {
      socket.once("data", () => resolve());
      socket.write(`${JSON.stringify({ id: 1, type: "lease.request", payload: { platform: "ios" } })}\n`);
    });
}

function timed(call: () => void): number {
  const started = performance.now();
  call();
  return performance.now() - started;
}

async function timedAsync(call: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await call();
  return performance.now() - started;
}
