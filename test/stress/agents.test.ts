import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectSimlock } from "../../src/client/index.ts";
import type { EventEnvelope, Status } from "../../src/contract/index.ts";
import { createVirtualMac } from "../../src/virtual/index.ts";
import { TestHome } from "../support/virtual-home.ts";

/** Fifty agents for eight simulators of a virtual Mac, through a real daemon: each takes its turn again and again. */

const AGENTS = 50;
const SIMULATORS = 8;
const LEASES = process.env["CI"] === "true" ? 1_000 : 200;

let mac: TestHome;
beforeAll(async () => {
  mac = new TestHome({ config: { capacity: { strategy: "fixed", maxRunning: SIMULATORS } } });
  createVirtualMac(join(mac.path, "virtual-mac"), { pace: "none" });
  await mac.json(["status", "--json"]);
});
afterAll(() => mac.close());

test(`${LEASES} leases by ${AGENTS} agents: no device twice, served in order, all settled`, async () => {
  const socketPath = join(mac.path, "daemon.sock");
  const options = { socketPath, virtual: true, clientVersion: "test" };
  const holders = new Map<string, string>();
  let left = LEASES;
  let most = 0;
  const live = async (principal: string) => {
    const client = await connectSimlock({ ...options, principal });
    try {
      while (left > 0) {
        left -= 1;
        const { device, lease } = await client.requestLease({ platform: "ios", model: "iPhone 17" });
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
  expect(most).toBe(SIMULATORS);

  const operator = await connectSimlock({
    ...options,
    principal: "operator",
    credential: readFileSync(join(mac.path, "admin.token"), "utf8").trim(),
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
    expect(requests("lease.requested")).toHaveLength(LEASES);
    // All ask for the same: whoever asked first is served first.
    expect(requests("lease.granted")).toEqual(requests("lease.requested"));
    expect(events.filter((event) => event.event === "lease.released")).toHaveLength(LEASES);
    const status: Status = await operator.call("status.get", {});
    expect(status).toMatchObject({ leases: [], waiting: [], queueDepth: 0 });
    expect(status.devices?.length).toBe(SIMULATORS);
  } finally {
    await operator.close();
  }
});
