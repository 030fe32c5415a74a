import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectSimlock, type SimlockClient } from "../../src/client/index.ts";
import { FakeDaemon } from "../support/fake-daemon.ts";

/** A daemon that is killed again and again while agents lease, renew and release. What it has said holds. */

const KILLS = process.env["CI"] === "true" ? 200 : 25;
const AGENTS = 10;

/** Two daemons, each in a home of its own, so that one works while the other starts. */
const HOMES = 2;

const folders = Array.from({ length: HOMES }, () => mkdtempSync(join(tmpdir(), "sl-kill-")));
const daemons: FakeDaemon[] = [];
beforeAll(async () => {
  for (const folder of folders) daemons.push(await FakeDaemon.prepare(folder));
});
afterAll(async () => {
  for (const daemon of daemons) await daemon.kill();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** What an agent was told, and so may rely on. */
interface Told {
  readonly leaseId: string;
  readonly udid: string;
}

test(`killed ${KILLS} times at random under load, the daemon loses nothing and grants nothing twice`, async () => {
  await Promise.all(daemons.map((daemon) => killed(daemon, Math.ceil(KILLS / HOMES))));
});

async function killed(daemon: FakeDaemon, kills: number): Promise<void> {
  const told = new Map<string, Told>();
  const busy = new Set<string>();
  let granted = 0;
  for (let round = 0; round < kills; round += 1) {
    await daemon.start();
    const names = Array.from({ length: AGENTS }, (_, at) => `agent-${at}`);
    const clients = await Promise.all(
      names.map((principal) => connectSimlock({ socketPath: daemon.socketPath, principal, clientVersion: "test" })),
    );
    await check(clients, told, busy);
    // The moment is counted in answers, not in time: it falls anywhere in the work, and the work goes on until it comes.
    let answersLeft = 1 + Math.floor(Math.random() * 60);
    const answered = () => {
      answersLeft -= 1;
      if (answersLeft === 0) daemon.shoot();
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
    await daemon.kill();
  }
  expect(granted).toBeGreaterThan(kills);
}

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
