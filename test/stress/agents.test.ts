import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { connectSimlock } from "../../src/client/index.ts";
import type { EventEnvelope, Status } from "../../src/contract/index.ts";
import { createVirtualMac } from "../../src/virtual/index.ts";
import { FakeDaemon } from "../support/fake-daemon.ts";
import { TestHome } from "../support/virtual-home.ts";

/** Fifty agents for eight devices, through a real daemon: each takes its turn again and again. */

const AGENTS = 50;
const DEVICES = 8;
const CONFIG = { capacity: { strategy: "fixed", maxRunning: DEVICES } };
/** On a virtual Mac a lease costs a dozen processes: `SIMLOCK_STRESS=full` takes a thousand there too, which is a quarter of an hour on two cores. */
const VIRTUAL_LEASES = process.env["SIMLOCK_STRESS"] === "full" ? 1_000 : 60;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

test(`1000 leases by ${AGENTS} agents: no device twice, served in order, all settled`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "sl-agents-"));
  const daemon = await FakeDaemon.prepare(folder, CONFIG);
  ends.push(async () => {
    await daemon.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await daemon.start();
  await takeTurns({ home: daemon.home, virtual: false, leases: 1_000 });
});

test(`${VIRTUAL_LEASES} leases by ${AGENTS} agents of simulators on a virtual Mac`, async () => {
  const mac = new TestHome({ config: CONFIG });
  ends.push(() => mac.close());
  createVirtualMac(join(mac.path, "virtual-mac"), { pace: "none" });
  await mac.json(["status", "--json"]);
  await takeTurns({ home: mac.path, virtual: true, leases: VIRTUAL_LEASES });
});

async function takeTurns({ home, virtual, leases }: { home: string; virtual: boolean; leases: number }): Promise<void> {
  const options = { socketPath: join(home, "daemon.sock"), virtual, clientVersion: "test" };
  const holders = new Map<string, string>();
  let left = leases;
  let most = 0;
  const live = async (principal: string) => {
    const client = await connectSimlock({ ...options, principal });
    try {
      while (left > 0) {
        left -= 1;
        const { device, lease } = await client.requestLease({ platform: "ios" });
        const holder = holders.get(device.driverDeviceId);
        if (holder !== undefined) throw new Error(`${principal} was granted what ${holder} holds`);
        holders.set(device.driverDeviceId, principal);
        most = Math.max(most, holders.size);
        const answer = await client.exec({
          leaseId: lease.id,
          tool: "simctl",
          args: ["getenv", "HOME"],
          keepLast: 1000,
        });
        expect(answer).toMatchObject({ exitCode: 0 });
        expect(answer.stdout).toContain(device.driverDeviceId);
        holders.delete(device.driverDeviceId);
        await client.call("lease.release", { leaseId: lease.id });
      }
    } finally {
      await client.close();
    }
  };
  await Promise.all(Array.from({ length: AGENTS }, (_, at) => live(`agent-${at}`)));
  // Simulators are booted a few at a time, so not all of them are held at once.
  if (virtual) expect(most).toBeGreaterThan(1);
  else expect(most).toBe(DEVICES);

  const operator = await connectSimlock({
    ...options,
    principal: "operator",
    credential: readFileSync(join(home, "admin.token"), "utf8").trim(),
  });
  try {
    const events: EventEnvelope[] = [];
    for (let more = true; more;) {
      const page = await operator.call("events.replay", { limit: 10_000, afterSeq: events.at(-1)?.seq ?? 0 });
      events.push(...page.events);
      more = page.more;
    }
    const requests = (name: string) =>
      events.filter((event) => event.event === name).map((event) => event.payload["requestId"]);
    expect(requests("lease.requested")).toHaveLength(leases);
    // All ask for the same: whoever asked first is served first.
    expect(requests("lease.granted")).toEqual(requests("lease.requested"));
    expect(events.filter((event) => event.event === "lease.released")).toHaveLength(leases);
    const status: Status = await operator.call("status.get", {});
    expect(status).toMatchObject({ leases: [], waiting: [], queueDepth: 0 });
    expect(status.devices?.length).toBe(DEVICES);
  } finally {
    await operator.close();
  }
}
