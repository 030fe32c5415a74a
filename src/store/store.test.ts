import { mkdtempSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mintId, RequestId, SimlockError } from "../contract/index.ts";
import { deviceRow, leaseRow, putDevice, putLease, putRequest, renewed, requestRow } from "./rows.fixture.ts";
import { openStore } from "./store.ts";
import type { Store } from "./types.ts";

let folder: string;
let path: string;
const opened: Store[] = [];

beforeEach(() => {
  folder = mkdtempSync("/tmp/sl-store-");
  path = join(folder, "simlock.db");
});
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(): Store {
  const store = openStore({ path, mintEventId: () => mintId("evt") });
  opened.push(store);
  return store;
}

function reopen(store: Store): Store {
  store.close();
  return open();
}

function refusal(act: () => unknown): SimlockError {
  try {
    act();
  } catch (error) {
    if (error instanceof SimlockError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** Writes to the database behind the store's back, as a fault or another tool would. */
function tamper(sql: string): void {
  const db = new DatabaseSync(path);
  try {
    db.exec(sql);
  } finally {
    db.close();
  }
}

describe("what is committed", () => {
  test("comes back whole after a restart, fields that were undefined included", () => {
    const store = open();
    const device = deviceRow("dev_a", {
      driverDeviceId: "6F1C",
      address: "6F1C",
      environment: { SIMLOCK: "1" },
      baseline: ["com.example"],
      lastLeaseEndedAt: 5,
      intent: { id: "int_1", kind: "boot", attempt: 2, startedAt: 9, because: "req_1" },
      quarantine: { error: "no", goal: "clean", attempts: 1, nextRetryAt: 7, stranded: false },
    });
    const lease = leaseRow("lse_a", "dev_a", "agent", { boundTo: { pid: 42, startedAt: "then" } });
    const grant = {
      device: { id: device.id, driverDeviceId: "6F1C", spec: device.spec, mode: device.mode },
      environment: {},
      lease: {
        id: lease.id,
        deviceId: device.id,
        requesterId: "agent",
        ownerId: "agent",
        grantedAt: 1,
        ttlMs: 1,
        ttlDeadline: 2,
        lastRenewedAt: 1,
      },
      timing: { estimatedProvisionMs: 0, estimatedBootMs: 0, estimatedReclaimMs: 0, estimatedReadyMs: 0 },
    };
    const granted = requestRow("req_1", 1, "agent", { state: "granted", settledAt: 3, deadline: 4, grant });
    const failed = requestRow("req_2", 2, "other", {
      state: "failed",
      settledAt: 3,
      failure: { code: "NO_CAPACITY", message: "none is free", details: { holder: "agent" } },
      input: { platform: "android", class: "tablet", physical: true, idempotencyKey: "k" },
    });
    const bare = deviceRow("dev_b");
    store.commit([putDevice(device), putDevice(bare), putLease(lease), putRequest(failed), putRequest(granted)], [], {
      wall: 10,
    });

    expect(reopen(store).load()).toStrictEqual({
      devices: [device, bare],
      leases: [lease],
      requests: [granted, failed],
    });
  });

  test("is replaced and removed by key", () => {
    const store = open();
    store.commit([putDevice(deviceRow("dev_a")), putDevice(deviceRow("dev_b"))], [], { wall: 1 });
    store.commit(
      [putDevice(deviceRow("dev_a", { state: "shutdown" })), { table: "devices", key: "dev_b", row: undefined }],
      [],
      { wall: 2 },
    );
    expect(reopen(store).load().devices).toEqual([deviceRow("dev_a", { state: "shutdown" })]);
  });

  test("keeps the last of several changes to one row, a removal too", () => {
    const store = open();
    const a = deviceRow("dev_a");
    store.commit(
      [
        putDevice(a),
        putDevice({ ...a, state: "leased" }),
        putLease(leaseRow("lse_1", "dev_a", "agent")),
        { table: "leases", key: "lse_1", row: undefined },
        putDevice({ ...a, state: "reclaiming" }),
      ],
      [],
      { wall: 1 },
    );
    expect(store.load()).toMatchObject({ devices: [{ state: "reclaiming" }], leases: [] });
  });

  test("may hand a device on within one step: the new lease is written before the old one is removed", () => {
    const store = open();
    store.commit([putLease(leaseRow("lse_1", "dev_a", "one")), putDevice(deviceRow("dev_a"))], [], { wall: 1 });
    store.commit([putLease(leaseRow("lse_2", "dev_a", "two")), { table: "leases", key: "lse_1", row: undefined }], [], {
      wall: 2,
    });
    expect(store.load().leases.map((lease) => lease.id)).toEqual(["lse_2"]);
  });

  test("lies in a file that only its owner can read, and leaves no other file behind when it is closed", () => {
    const store = open();
    store.commit([putDevice(deviceRow("dev_a"))], [], { wall: 1 });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
    store.close();
    expect(statSync(`${path}-wal`, { throwIfNoEntry: false })).toBeUndefined();
    expect(statSync(`${path}.new`, { throwIfNoEntry: false })).toBeUndefined();
  });

  test("costs no commit when there is nothing to write", () => {
    const store = open();
    const before = statSync(`${path}-wal`).size;
    expect(store.commit([], [], { wall: 1 })).toEqual([]);
    expect(statSync(`${path}-wal`).size).toBe(before);
  });
});

describe("a step that must not be written", () => {
  const device = putDevice(deviceRow("dev_a"));
  const cases = {
    "a second lease on a device": [
      putLease(leaseRow("lse_1", "dev_a", "one")),
      putLease(leaseRow("lse_2", "dev_a", "two")),
    ],
    "a second lease of a requester": [
      putDevice(deviceRow("dev_b")),
      putLease(leaseRow("lse_1", "dev_a", "one")),
      putLease(leaseRow("lse_2", "dev_b", "one")),
    ],
    "a second open request of a requester": [
      putRequest(requestRow("req_1", 1, "one")),
      putRequest(requestRow("req_2", 2, "one")),
    ],
    "a lease of no device": [putLease(leaseRow("lse_1", "dev_gone", "one"))],
    "a row under another key": [{ table: "devices" as const, key: "dev_b", row: deviceRow("dev_c") }],
  };
  for (const [what, changes] of Object.entries(cases)) {
    test(`${what}: nothing of it is kept, no number is used up, and the store takes no more work`, () => {
      const store = open();
      store.commit([device], [renewed("lse_0", 1)], { wall: 1 });
      const error = refusal(() => store.commit(changes, [renewed("lse_1", 2)], { wall: 2 }));
      expect(error).toMatchObject({ code: "DATABASE_UNUSABLE", details: { path, reason: "write" } });
      expect(error.hint).toContain("disk");
      expect(store.lastSeq()).toBe(1);
      for (const again of [
        () => store.commit([device], [], { wall: 3 }),
        () => store.load(),
        () => store.events({ limit: 1 }),
        () => store.trimEvents({ before: 0, keep: 1 }),
      ]) {
        expect(refusal(again)).toBe(error);
      }
      const after = reopen(store);
      expect(after.load()).toEqual({ devices: [deviceRow("dev_a")], leases: [], requests: [] });
      expect(after.events({ limit: 10 }).events).toHaveLength(1);
      expect(after.commit([], [renewed("lse_1", 2)], { wall: 4 })).toMatchObject([{ seq: 2 }]);
    });
  }

  test.each([
    ["a lease that moves to another device", putLease(leaseRow("lse_1", "dev_b", "one"))],
    ["a lease that moves to another requester", putLease(leaseRow("lse_1", "dev_a", "two"))],
    ["a request that moves in the order of arrival", putRequest(requestRow("req_1", 2, "one"))],
  ])("%s is refused", (_what, change) => {
    const store = open();
    const rows = [
      device,
      putDevice(deviceRow("dev_b")),
      putLease(leaseRow("lse_1", "dev_a", "one")),
      putRequest(requestRow("req_1", 1, "one")),
    ];
    store.commit(rows, [], { wall: 1 });
    const before = store.load();
    expect(refusal(() => store.commit([change], [], { wall: 2 })).message).toContain("must not change what it is of");
    expect(reopen(store).load()).toEqual(before);
  });

  test("a settled request does not stand in the way of the same requester's next one", () => {
    const store = open();
    store.commit([putRequest(requestRow("req_1", 1, "one"))], [], { wall: 1 });
    store.commit(
      [putRequest(requestRow("req_1", 1, "one", { state: "cancelled" })), putRequest(requestRow("req_2", 2, "one"))],
      [],
      { wall: 2 },
    );
    expect(store.load().requests.map((row) => [row.id, row.state])).toEqual([
      ["req_1", "cancelled"],
      ["req_2", "open"],
    ]);
  });

  test("after close nothing is written and nothing is read", () => {
    const store = open();
    store.close();
    store.close();
    expect(refusal(() => store.commit([device], [], { wall: 1 }))).toMatchObject({ code: "DATABASE_UNUSABLE" });
    expect(refusal(() => store.load())).toMatchObject({ code: "DATABASE_UNUSABLE" });
  });
});

describe("a row that can't be understood", () => {
  const request = requestRow("req_1", 1, "one");
  const cases: Readonly<Record<string, { sql: string; says: string }>> = {
    "JSON that was cut off": {
      sql: `UPDATE devices SET body = '{"id":' WHERE id = 'dev_a'`,
      says: "devices dev_a: its body is not JSON",
    },
    "a state that we don't know": {
      sql: `UPDATE devices SET body = json_set(body, '$.state', 'molten')`,
      says: "devices dev_a: state: ",
    },
    "a lease without an owner": {
      sql: `UPDATE leases SET body = json_remove(body, '$.ownerId')`,
      says: "leases lse_1: ownerId: ",
    },
    "a request whose input is no input": {
      sql: `UPDATE requests SET body = json_set(body, '$.input', 7)`,
      says: "requests req_1: input: ",
    },
    "a body of another row": {
      sql: `UPDATE devices SET body = json_set(body, '$.id', 'dev_z')`,
      says: "devices dev_a: its body is named dev_z",
    },
  };
  for (const [what, { sql, says }] of Object.entries(cases)) {
    test(`${what} stops the start, is named and is left as it is`, () => {
      const store = open();
      store.commit(
        [putDevice(deviceRow("dev_a")), putLease(leaseRow("lse_1", "dev_a", "two")), putRequest(request)],
        [],
        { wall: 1 },
      );
      store.close();
      tamper(sql);
      for (let start = 0; start < 2; start += 1) {
        const again = open();
        const error = refusal(() => again.load());
        expect(error).toMatchObject({ code: "DATABASE_UNUSABLE", details: { reason: "row" } });
        expect(error.message).toContain(says);
        again.close();
      }
    });
  }

  test("a field that we don't know is no reason to refuse the row", () => {
    const store = open();
    store.commit([putRequest(request)], [], { wall: 1 });
    store.close();
    tamper(`UPDATE requests SET body = json_set(body, '$.input.future', 1, '$.later', 2)`);
    expect(open().load().requests).toEqual([request]);
  });
});

describe("events", () => {
  test("are returned as they were written, numbered without a gap, and read back the same", () => {
    const store = open();
    const written = [
      ...store.commit(
        [],
        [renewed("lse_1", 1), { event: "daemon.started", payload: { version: "1", virtual: true } }],
        {
          wall: 100.7,
        },
      ),
      ...store.commit([], [{ event: "doctor.reconciled", payload: { findings: 1, mended: 0 } }], { wall: 101 }),
    ];
    expect(written.map(({ seq, timestamp, event, module }) => ({ seq, timestamp, event, module }))).toEqual([
      { seq: 1, timestamp: 100, event: "lease.renewed", module: "leasing" },
      { seq: 2, timestamp: 100, event: "daemon.started", module: "daemon" },
      { seq: 3, timestamp: 101, event: "doctor.reconciled", module: "daemon" },
    ]);
    expect(new Set(written.map((event) => event.id)).size).toBe(3);
    const again = reopen(store);
    expect(again.events({ limit: 10 })).toEqual({ events: written, more: false });
    expect(again.lastSeq()).toBe(3);
  });

  test("are read in pages, each event once", () => {
    const store = open();
    store.commit(
      [],
      Array.from({ length: 7 }, (_, i) => renewed("lse_1", i)),
      { wall: 1 },
    );
    const seen: number[] = [];
    let page = store.events({ limit: 3 });
    for (; page.more; page = store.events({ limit: 3, afterSeq: seen.at(-1) })) {
      seen.push(...page.events.map((event) => event.seq));
    }
    seen.push(...page.events.map((event) => event.seq));
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test("since a time come by number even where the clock was set back, and never one from before it", () => {
    const store = open();
    for (const wall of [10, 20, 5, 30, 25]) store.commit([], [renewed("lse_1", wall)], { wall });
    const since = (sinceTs: number, afterSeq?: number) =>
      store.events({ sinceTs, limit: 10, afterSeq }).events.map((event) => event.timestamp);
    expect(since(20)).toEqual([20, 30, 25]);
    expect(since(20, 2)).toEqual([30, 25]);
    expect(since(5)).toEqual([10, 20, 5, 30, 25]);
    expect(since(31)).toEqual([]);
  });

  test("beyond the retention are removed in bounded batches, oldest first, by age and by count", () => {
    const store = open();
    const facts = Array.from({ length: 1_200 }, (_, i) => renewed("lse_1", i));
    store.commit([], facts, { wall: 100 });
    store.commit([], facts.slice(0, 10), { wall: 200 });
    expect(store.trimEvents({ before: 100, keep: 10_000 })).toBe(0);
    const removed = Array.from({ length: 6 }, () => store.trimEvents({ before: 150, keep: 10_000 }));
    expect(removed).toEqual([250, 250, 250, 250, 200, 0]);
    expect(store.events({ limit: 100 }).events.map((event) => event.seq)[0]).toBe(1_201);
    expect(store.trimEvents({ before: 0, keep: 4 })).toBe(6);
    expect(store.events({ limit: 100 }).events.map((event) => event.seq)).toEqual([1_207, 1_208, 1_209, 1_210]);
  });

  test("never get a number twice, even when all that can be removed were", () => {
    const store = open();
    store.commit([], [renewed("lse_1", 1), renewed("lse_1", 2)], { wall: 1 });
    expect(store.trimEvents({ before: 1_000, keep: 0 })).toBe(1);
    expect(store.trimEvents({ before: 1_000, keep: 0 })).toBe(0);
    const again = reopen(store);
    expect(again.lastSeq()).toBe(2);
    expect(again.commit([], [renewed("lse_1", 3)], { wall: 1 })).toMatchObject([{ seq: 3 }]);
  });

  test("that can't be understood are named and not skipped", () => {
    const store = open();
    store.commit([], [renewed("lse_1", 1)], { wall: 1 });
    store.close();
    tamper("UPDATE events SET payload = '[1]'");
    const error = refusal(() => open().events({ limit: 1 }));
    expect(error).toMatchObject({ code: "DATABASE_UNUSABLE", details: { table: "events", key: "1" } });
  });

  test("are written with the change that they tell of, or neither is", () => {
    const store = open();
    const requests = [putRequest(requestRow("req_1", 1, "one")), putRequest(requestRow("req_2", 2, "one"))];
    const fact = { event: "lease.queued" as const, payload: { requestId: RequestId.parse("req_1"), position: 1 } };
    refusal(() => store.commit(requests, [fact], { wall: 1 }));
    const again = reopen(store);
    expect([again.events({ limit: 5 }).events, again.load().requests]).toEqual([[], []]);
  });
});
