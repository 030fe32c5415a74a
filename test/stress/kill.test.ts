import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "tsdown";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectSimlock, type SimlockClient } from "../../src/client/index.ts";

/** A daemon that is killed again and again while agents lease, renew and release. What it has said holds. */

const KILLS = process.env["CI"] === "true" ? 200 : 25;
const AGENTS = 10;
const root = join(import.meta.dirname, "..", "..");

const folder = mkdtempSync(join(tmpdir(), "sl-kill-"));
const home = join(folder, "h");
let daemon: ChildProcess | undefined;
// In one file, as it is shipped: reading hundreds of sources at each start would be most of what the test does.
beforeAll(() =>
  build({
    config: false,
    cwd: root,
    entry: { daemon: "src/daemon/fake-daemon.fixture.ts" },
    outDir: join(folder, "dist"),
    platform: "node",
    target: "node24",
    fixedExtension: false,
    dts: false,
    report: false,
    logLevel: "error",
    noExternal: () => true,
    inlineOnly: false,
  }),
);
afterAll(async () => {
  if (daemon !== undefined) await kill(daemon);
  rmSync(folder, { recursive: true, force: true });
});

async function kill(child: ChildProcess): Promise<void> {
  const gone = child.exitCode !== null || child.signalCode !== null ? undefined : once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

async function startDaemon(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(folder, "dist", "daemon.js"), home, join(folder, "world.json")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  expect(said.toString().trim()).toBe("listening");
  return child;
}

/** What an agent was told, and so may rely on. */
interface Told {
  readonly leaseId: string;
  readonly udid: string;
}

test(`killed ${KILLS} times at random under load, the daemon loses nothing and grants nothing twice`, async () => {
  const told = new Map<string, Told>();
  const busy = new Set<string>();
  let granted = 0;
  for (let round = 0; round < KILLS; round += 1) {
    const running = (daemon = await startDaemon());
    const names = Array.from({ length: AGENTS }, (_, at) => `agent-${at}`);
    const clients = await Promise.all(
      names.map((principal) =>
        connectSimlock({ socketPath: join(home, "daemon.sock"), principal, clientVersion: "test" }),
      ),
    );
    await check(clients, told, busy);
    // The moment is counted in answers, not in time: it falls anywhere in the work, and the work goes on until it comes.
    let answersLeft = 1 + Math.floor(Math.random() * 60);
    const answered = () => {
      answersLeft -= 1;
      if (answersLeft === 0) running.kill("SIGKILL");
    };
    await Promise.all(
      clients.map(async (client, at) => {
        const name = names[at] ?? "";
        try {
          for (;;) {
            const mine = told.get(name);
            busy.add(name);
            if (mine === undefined) {
              const grant = await client.requestLease({ platform: "ios" });
              told.set(name, { leaseId: grant.lease.id, udid: grant.device.driverDeviceId });
              granted += 1;
            } else if (Math.random() < 0.3) {
              await client.call("lease.renew", { leaseId: mine.leaseId });
            } else {
              await client.call("lease.release", { leaseId: mine.leaseId });
              told.delete(name);
            }
            busy.delete(name);
            answered();
          }
        } catch {
          // The daemon died. What was under way may have happened or not: it stays marked as busy.
        } finally {
          await client.close();
        }
      }),
    );
    await kill(running);
  }
  daemon = await startDaemon();
  expect(granted).toBeGreaterThan(KILLS);
});

/** Every lease that somebody was told of, and did not try to give back, stands; what was given back is gone; nothing is held twice. */
async function check(clients: readonly SimlockClient[], told: Map<string, Told>, busy: Set<string>): Promise<void> {
  const devices: string[] = [];
  for (const client of clients) {
    const { leases } = await client.call("lease.list", {});
    const known = told.get(client.principal);
    expect(leases.length).toBeLessThanOrEqual(1);
    const [lease] = leases;
    if (busy.has(client.principal)) {
      // A grant or a release whose answer never came: what is stored counts.
      if (lease === undefined) told.delete(client.principal);
      else told.set(client.principal, { leaseId: lease.id, udid: known?.udid ?? "" });
    } else {
      expect(lease?.id).toBe(known?.leaseId);
    }
    if (lease !== undefined) devices.push(lease.deviceId);
  }
  busy.clear();
  expect(new Set(devices).size).toBe(devices.length);
}
