import { describe, expect, test } from "vitest";
import { createState } from "./create-state.ts";
import { agent, failure, operator, settingsOf, World } from "./fixtures.ts";
import { capacityOf, queueProgress, waitingRequests } from "./views.ts";

describe("a request", () => {
  test("for a phone makes the default model on the newest OS, boots it and is granted", () => {
    const world = new World();
    const a = world.request("a");
    expect(world.finish().intent.kind).toBe("create");
    expect(world.finish().intent.kind).toBe("boot");
    expect(world.granted(a)).toMatchObject({
      device: { spec: { platform: "ios", model: "iPhone 17", osVersion: "26.1" }, mode: "full" },
      lease: { requesterId: "a", ownerId: "a", ttlMs: 900_000, ttlDeadline: world.now.wall + 900_000 },
    });
  });

  test("is on disk as an intent before the platform is asked to make a device", () => {
    const world = new World();
    world.request("a");
    const [effect] = world.open;
    const rows = world.stored();
    expect(rows.devices).toMatchObject([{ id: effect?.device.id, state: "provisioning", intent: { kind: "create" } }]);
    expect(rows.requests).toMatchObject([{ state: "open" }]);
  });

  test("names a model in any letter case, or by its alias", () => {
    const world = new World();
    const a = world.request("a", { model: "iphone 16" });
    const b = world.request("b", { model: "IPHONE-17" });
    world.finishAll();
    expect(world.granted(a).device.spec.model).toBe("iPhone 16");
    expect(world.granted(b).device.spec.model).toBe("iPhone 17");
  });

  test("of a range gets the newest OS in it that pairs with the model", () => {
    const world = new World();
    const a = world.request("a", { model: "iPhone 16", osVersion: ">=17 <26" });
    world.finishAll();
    expect(world.granted(a).device.spec.osVersion).toBe("18.5");
  });

  test.each([
    [{ model: "iPhone 99" }, "UNKNOWN_MODEL"],
    [{ class: "watch" as const }, "UNKNOWN_MODEL"],
    [{ model: "iPhone 17", osVersion: "18.5" }, "RUNTIME_MISSING"],
    [{ osVersion: "^26" }, "BAD_REQUEST"],
    [{ ttlMs: 4 * 3_600_000 + 1 }, "BAD_REQUEST"],
    [{ imageTag: "google_apis" }, "BAD_REQUEST"],
    [{ physical: true }, "NO_DRIVER"],
    [{ platform: "android" as const }, "NO_DRIVER"],
    [{ owner: "b" }, "FORBIDDEN"],
  ])("for %j is refused at once with %s", (input, code) => {
    const world = new World();
    const a = world.request("a", input);
    expect(world.errorCode(a)).toBe(code);
    expect(world.stored()).toEqual({ devices: [], leases: [], requests: [] });
  });

  test("waits for a device that is being cleaned instead of making another", () => {
    const world = new World(settingsOf({ maxRunning: 2 }));
    const a = world.request("a");
    world.finishAll();
    world.release("a", a);
    const b = world.request("b");
    expect(world.open.map((effect) => effect.intent.kind)).toEqual(["clean"]);
    world.finishAll();
    expect(world.granted(b).device.id).toBe(world.granted(a).device.id);
  });

  test("waits in line when all that may run are leased, and gets the one that is released", () => {
    const world = new World(settingsOf({ maxRunning: 1 }));
    const a = world.request("a");
    world.finishAll();
    const b = world.request("b");
    const c = world.request("c");
    expect(waitingRequests(world.state)).toMatchObject([
      { requesterId: "b", stage: "queued", queuePosition: 1, reason: "capacity" },
      { requesterId: "c", stage: "queued", queuePosition: 2, reason: "capacity" },
    ]);
    world.release("a", a);
    world.finishAll();
    expect(world.granted(b).device.id).toBe(world.granted(a).device.id);
    expect(world.answers.has(c)).toBe(false);
  });

  test("that is older is served first, also where the freed device is of another model", () => {
    const world = new World(settingsOf({ maxRunning: 1 }));
    const a = world.request("a", { model: "iPhone 17" });
    world.finishAll();
    const older = world.request("older", { model: "iPhone 16" });
    const younger = world.request("younger", { model: "iPhone 17" });
    world.release("a", a);
    world.finishAll();
    expect(world.granted(older).device.spec.model).toBe("iPhone 16");
    expect(world.answers.has(younger)).toBe(false);
    world.release("older", older);
    world.finishAll();
    expect(world.granted(younger).device.spec.model).toBe("iPhone 17");
  });

  test("that must not wait fails with NO_CAPACITY and the holders' names", () => {
    const world = new World(settingsOf({ maxRunning: 1 }));
    world.request("a");
    world.finishAll();
    const b = world.request("b", { noWait: true });
    const answer = world.answers.get(b);
    expect(answer).toMatchObject({ kind: "error", error: { code: "NO_CAPACITY" } });
    expect(answer?.kind === "error" && answer.error.details?.["holders"]).toMatchObject([
      { requesterId: "a", model: "iPhone 17", expiresAt: world.now.wall + 900_000 },
    ]);
  });

  test("that must not wait may still have a device made for it", () => {
    const world = new World();
    const a = world.request("a", { noWait: true });
    world.finishAll();
    expect(world.granted(a).lease.requesterId).toBe("a");
  });

  test("that waits too long fails with QUEUE_TIMEOUT at its deadline, counted from admission", () => {
    const world = new World(settingsOf({ maxRunning: 1 }));
    world.request("a");
    world.finishAll();
    const b = world.request("b", { timeoutMs: 5_000 });
    world.pass(4_999);
    expect(world.answers.has(b)).toBe(false);
    world.pass(1);
    expect(world.errorCode(b)).toBe("QUEUE_TIMEOUT");
    expect(waitingRequests(world.state)).toEqual([]);
  });

  test("is told its place and why it waits, and again only when that changes", () => {
    const world = new World(settingsOf({ maxRunning: 1 }));
    const a = world.request("a");
    world.finishAll();
    const b = world.request("b");
    const c = world.request("c");
    expect(queueProgress(world.state)).toMatchObject([
      { to: [b], progress: { stage: "queued", queuePosition: 1, reason: "capacity" } },
      { to: [c], progress: { stage: "queued", queuePosition: 2, reason: "capacity" } },
    ]);
    expect(queueProgress(world.state)).toEqual([]);
    world.release("a", a);
    world.finishAll();
    expect(queueProgress(world.state)).toMatchObject([{ to: [c], progress: { queuePosition: 1 } }]);
  });

  test("of a requester who holds or waits already is refused and names the lease", () => {
    const world = new World(settingsOf({ maxRunning: 1 }));
    const a = world.request("a");
    world.finishAll();
    world.request("b");
    expect(world.answers.get(world.request("a"))).toMatchObject({
      error: { code: "REQUESTER_ALREADY_LEASED", details: { existingLeaseId: world.granted(a).lease.id } },
    });
    expect(world.errorCode(world.request("b"))).toBe("REQUESTER_ALREADY_LEASED");
  });

  test("can be taken back by who made it, and by nobody else", () => {
    const world = new World(settingsOf({ maxRunning: 1 }));
    world.request("a");
    world.finishAll();
    const b = world.request("b");
    world.decide({ kind: "cancel", replyTo: 100, caller: agent("a"), requesterId: "b" });
    expect(world.errorCode(100)).toBe("FORBIDDEN");
    world.decide({ kind: "cancel", replyTo: 101, caller: agent("b"), requesterId: "b" });
    expect(world.answers.get(101)).toEqual({ kind: "cancelled", result: "cancelled" });
    expect(world.errorCode(b)).toBe("REQUEST_CANCELLED");
    world.decide({ kind: "cancel", replyTo: 102, caller: agent("b"), requesterId: "b" });
    expect(world.answers.get(102)).toEqual({ kind: "cancelled", result: "not-found" });
  });

  test("whose connection has gone is given up, and its device serves the next", () => {
    const world = new World(settingsOf({ maxRunning: 1 }));
    const a = world.request("a");
    world.decide({ kind: "abandoned", waiters: [a] });
    const b = world.request("b");
    world.finishAll();
    expect(world.granted(b).lease.requesterId).toBe("b");
    expect(world.stored().devices).toHaveLength(1);
  });
});

describe("an idempotency key", () => {
  test("gets the stored grant again, also after the lease has ended", () => {
    const world = new World();
    const first = world.request("a", { idempotencyKey: "k" });
    world.finishAll();
    const again = world.request("a", { idempotencyKey: "k" });
    expect(world.granted(again)).toEqual(world.granted(first));
    world.release("a", first);
    expect(world.granted(world.request("a", { idempotencyKey: "k" }))).toEqual(world.granted(first));
  });

  test("joins a request that still waits: both are answered", () => {
    const world = new World();
    const first = world.request("a", { idempotencyKey: "k" });
    const second = world.request("a", { idempotencyKey: "k" });
    world.finishAll();
    expect(world.granted(second)).toEqual(world.granted(first));
  });

  test("keeps its request waiting when the connection has gone, and over a restart", () => {
    const world = new World(settingsOf({ maxRunning: 1 }));
    world.request("b");
    world.finishAll();
    const first = world.request("a", { idempotencyKey: "k", timeoutMs: 60_000 });
    world.decide({ kind: "abandoned", waiters: [first] });
    restart(world);
    const again = world.request("a", { idempotencyKey: "k", timeoutMs: 60_000 });
    expect(world.answers.has(again)).toBe(false);
    world.pass(60_000);
    expect(world.errorCode(again)).toBe("QUEUE_TIMEOUT");
  });

  test("for another device is a conflict, of another caller forbidden", () => {
    const world = new World();
    world.request("a", { idempotencyKey: "k", requesterId: "shared" });
    expect(
      world.errorCode(world.request("a", { idempotencyKey: "k", requesterId: "shared", model: "iPhone 16" })),
    ).toBe("IDEMPOTENCY_CONFLICT");
    expect(world.errorCode(world.request("b", { idempotencyKey: "k", requesterId: "shared" }))).toBe("FORBIDDEN");
  });

  test("is forgotten after the retention", () => {
    const world = new World();
    const first = world.request("a", { idempotencyKey: "k" });
    world.finishAll();
    world.release("a", first);
    world.finishAll();
    world.pass(600_001);
    const again = world.request("a", { idempotencyKey: "k" });
    world.finishAll();
    expect(world.granted(again).lease.id).not.toBe(world.granted(first).lease.id);
  });
});

describe("a lease", () => {
  test("is renewed by its own width, or by a new one that it then keeps", () => {
    const world = new World();
    const a = world.request("a", { ttlMs: 10_000 });
    world.finishAll();
    const { id } = world.granted(a).lease;
    world.pass(6_000);
    world.decide({ kind: "renew", replyTo: 100, caller: agent("a"), leaseId: id, ttlMs: undefined });
    expect(world.answers.get(100)).toMatchObject({ lease: { ttlDeadline: world.now.wall + 10_000 } });
    world.decide({ kind: "renew", replyTo: 101, caller: agent("a"), leaseId: id, ttlMs: 20_000 });
    world.decide({ kind: "renew", replyTo: 102, caller: agent("a"), leaseId: id, ttlMs: undefined });
    expect(world.answers.get(102)).toMatchObject({ lease: { ttlMs: 20_000, ttlDeadline: world.now.wall + 20_000 } });
    world.decide({ kind: "renew", replyTo: 103, caller: agent("a"), leaseId: id, ttlMs: 14_400_001 });
    expect(world.errorCode(103)).toBe("BAD_REQUEST");
    world.decide({ kind: "renew", replyTo: 104, caller: agent("b"), leaseId: id, ttlMs: undefined });
    expect(world.errorCode(104)).toBe("FORBIDDEN");
  });

  test("expires at its deadline, tells its owner, and can't be renewed at that instant", () => {
    const world = new World();
    const a = world.request("a", { ttlMs: 10_000 });
    world.finishAll();
    const { id } = world.granted(a).lease;
    world.now = { wall: world.now.wall + 10_000, mono: world.now.mono + 10_000 };
    const { notices, events } = world.decide({
      kind: "renew",
      replyTo: 100,
      caller: agent("a"),
      leaseId: id,
      ttlMs: undefined,
    });
    expect(world.errorCode(100)).toBe("UNKNOWN_LEASE");
    expect(notices).toMatchObject([{ kind: "lease-lost", leaseId: id, reason: "expired", ownerId: "a" }]);
    expect(events.map((event) => event.event)).toContain("lease.expired");
  });

  test("outlives a sleep of the machine: the monotonic clock decides while the daemon runs", () => {
    const world = new World();
    const a = world.request("a", { ttlMs: 10_000 });
    world.finishAll();
    world.now = { wall: world.now.wall + 3_600_000, mono: world.now.mono + 5_000 };
    world.decide({
      kind: "renew",
      replyTo: 100,
      caller: agent("a"),
      leaseId: world.granted(a).lease.id,
      ttlMs: undefined,
    });
    expect(world.answers.get(100)).toMatchObject({ lease: { ttlDeadline: world.now.wall + 10_000 } });
  });

  test("of somebody else is ended only by an operator with force, and its owner is told", () => {
    const world = new World();
    const a = world.request("a");
    world.finishAll();
    const leaseId = world.granted(a).lease.id;
    world.decide({ kind: "release", replyTo: 100, caller: agent("b"), leaseId, force: true });
    expect(world.errorCode(100)).toBe("FORBIDDEN");
    world.decide({ kind: "release", replyTo: 101, caller: operator, leaseId, force: false });
    expect(world.errorCode(101)).toBe("FORBIDDEN");
    const { notices } = world.decide({ kind: "release", replyTo: 102, caller: operator, leaseId, force: true });
    expect(world.answers.get(102)).toEqual({ kind: "released", leaseIds: [leaseId] });
    expect(notices).toMatchObject([{ kind: "lease-lost", reason: "killed", ownerId: "a" }]);
    world.decide({ kind: "release", replyTo: 103, caller: agent("a"), leaseId, force: false });
    expect(world.errorCode(103)).toBe("UNKNOWN_LEASE");
  });

  test("that its owner releases is announced to their other connections only, and its commands are drained before the cleaning", () => {
    const world = new World();
    const a = world.request("a");
    world.finishAll();
    const replyTo = world.release("a", a);
    const last = world.decisions.at(-1);
    expect(world.answers.get(replyTo)).toMatchObject({ kind: "released" });
    expect(last?.notices).toMatchObject([{ kind: "lease-lost", reason: "released", ownerId: "a", exceptTo: replyTo }]);
    expect(last?.effects).toMatchObject([{ intent: { kind: "clean" }, drain: world.granted(a).lease.id }]);
  });

  test("ends with the process that it was bound to, and with no other of that number", () => {
    const world = new World();
    const replyTo = world.nextReply();
    const boundTo = { pid: 77, startedAt: "x" };
    world.decide({ kind: "request", replyTo, caller: agent("a"), input: { platform: "ios" }, boundTo });
    world.finishAll();
    world.decide({ kind: "holder-gone", pid: 77, startedAt: "y" });
    expect(world.stored().leases).toHaveLength(1);
    world.decide({ kind: "holder-gone", pid: 77, startedAt: "x" });
    expect(world.stored().leases).toHaveLength(0);
  });

  test("that reached nobody is given back", () => {
    const world = new World();
    const a = world.request("a");
    world.finishAll();
    world.decide({ kind: "undelivered", leaseId: world.granted(a).lease.id });
    expect(world.stored().leases).toEqual([]);
  });

  test("ends as lost when its device is missed in two readings in a row, not in one", () => {
    const world = new World();
    const a = world.request("a");
    world.finishAll();
    const gone = { kind: "reality", reality: { kind: "simulator", readable: true, devices: [] } } as const;
    world.decide(gone);
    world.decide({ kind: "reality", reality: { kind: "simulator", readable: false, error: "busy" } });
    expect(world.stored().leases).toHaveLength(1);
    const { notices } = world.decide(gone);
    expect(notices).toMatchObject([{ reason: "device-lost", leaseId: world.granted(a).lease.id }]);
    expect(world.stored()).toMatchObject({ leases: [], devices: [] });
  });
});

describe("a device", () => {
  test("that fails to boot is tried once more, then removed, and its request gets another", () => {
    const world = new World(settingsOf({ maxRunning: 1 }));
    const a = world.request("a");
    world.finish("create");
    world.finish("boot", failure());
    world.finish("boot", failure());
    expect(world.finish("destroy").intent.kind).toBe("destroy");
    world.finishAll();
    expect(world.granted(a).lease.requesterId).toBe("a");
    expect(world.stored().devices).toHaveLength(1);
  });

  test("that can't be started twice fails its request with DEVICE_START_FAILED", () => {
    const world = new World();
    const a = world.request("a");
    for (let device = 0; device < 2; device += 1) world.finish("create", failure());
    expect(world.errorCode(a)).toBe("DEVICE_START_FAILED");
    world.finishAll();
    expect(world.stored().devices).toEqual([]);
  });

  test("that can't be cleaned is kept from everybody, retried with growing pauses, then destroyed", () => {
    const world = new World(settingsOf({ maxRunning: 1 }));
    const a = world.request("a");
    world.finishAll();
    const b = world.request("b");
    world.release("a", a);
    world.finish("clean", failure());
    expect(world.stored().devices).toMatchObject([{ state: "quarantined", quarantine: { attempts: 0 } }]);
    for (const pause of [30_000, 60_000, 120_000]) {
      world.pass(pause - 1);
      expect(world.open).toEqual([]);
      world.pass(1);
      world.finish("clean", failure());
      expect(world.answers.has(b)).toBe(false);
    }
    world.finish("destroy");
    world.finishAll();
    expect(world.granted(b).device.id).not.toBe(world.granted(a).device.id);
  });

  test("that can't be destroyed either is left for an operator", () => {
    const world = new World(settingsOf({ maxRunning: 1 }));
    world.request("a");
    world.finish("create", failure());
    for (let retry = 0; retry < 3; retry += 1) {
      world.finish("destroy", failure());
      world.pass(300_000);
    }
    world.finish("destroy", failure());
    expect(world.stored().devices).toMatchObject([{ state: "quarantined", quarantine: { stranded: true } }]);
  });

  test("ignores a result that comes twice, or late", () => {
    const world = new World();
    const a = world.request("a");
    const [create] = world.open;
    world.finishAll();
    world.release("a", a);
    const before = world.stored();
    if (create === undefined) throw new Error("nothing was made");
    const { changes } = world.settle(create, { ok: true, kind: "create", driverDeviceId: "another" });
    expect(changes).toEqual([]);
    expect(world.stored()).toEqual(before);
  });

  test("that is idle makes room for an older model's request: the one used longest ago goes", () => {
    const world = new World(settingsOf({ maxRunning: 2 }));
    const a = world.request("a");
    const b = world.request("b");
    world.finishAll();
    world.release("b", b);
    world.finishAll();
    world.pass(1_000);
    world.release("a", a);
    world.finishAll();
    const c = world.request("c", { model: "iPhone 16" });
    world.finishAll();
    const left = world.stored().devices.map((device) => device.id);
    expect(left).toContain(world.granted(a).device.id);
    expect(left).not.toContain(world.granted(b).device.id);
    expect(world.granted(c).device.spec.model).toBe("iPhone 16");
  });
});

describe("capacity", () => {
  test("is limited over both platforms together", () => {
    const settings = {
      ...settingsOf(),
      capacity: { strategy: "fixed" as const, maxRunning: 1, ios: { maxRunning: 3, maxDevices: 3 }, android: {} },
    };
    const world = new World(settings);
    world.request("a");
    world.finishAll();
    world.request("b");
    expect(world.open).toEqual([]);
    expect(waitingRequests(world.state)).toMatchObject([{ requesterId: "b", reason: "capacity" }]);
  });

  test("comes from the host: half its processors, and memory beside what the host keeps", () => {
    const world = new World({ ...settingsOf(), capacity: { strategy: "resource", ios: {}, android: {} } });
    expect(capacityOf(world.state)).toMatchObject({
      ios: { limit: 4, maxRunning: 4 },
      android: { limit: 2 },
      global: { maxRunning: 6 },
      ramBudget: { limitBytes: 28 * 1024 ** 3 },
    });
    for (const name of ["a", "b", "c", "d", "e"]) world.request(name);
    world.finishAll();
    expect(world.stored().leases).toHaveLength(4);
  });
});

describe("an attached device", () => {
  const enrol = (world: World, over: { identity?: string; shared?: boolean } = {}) => {
    const replyTo = world.nextReply();
    world.decide({
      kind: "enrol",
      replyTo,
      of: "android",
      identity: over.identity ?? "R58M",
      address: "R58M12",
      spec: { platform: "android", model: "Galaxy S24", osVersion: "14" },
      shared: over.shared ?? false,
      baseline: ["com.android.settings"],
    });
    return replyTo;
  };

  test("serves those who ask for a physical device or name its model; shared, any Android request", () => {
    const world = new World();
    enrol(world);
    expect(world.errorCode(world.request("x", { platform: "android" }))).toBe("NO_DRIVER");
    const a = world.request("a", { platform: "android", physical: true });
    world.finishAll();
    expect(world.granted(a).device).toMatchObject({ physical: true, spec: { model: "Galaxy S24" } });
    world.release("a", a);
    const b = world.request("b", { platform: "android", model: "galaxy s24" });
    world.finishAll();
    world.release("b", b);
    enrol(world, { shared: true });
    const c = world.request("c", { platform: "android" });
    world.finishAll();
    expect(world.granted(c).device.spec.model).toBe("Galaxy S24");
  });

  test("is waited for while it is away, and cleaned when it comes back", () => {
    const world = new World();
    enrol(world);
    world.finishAll();
    const seen = (devices: { driverDeviceId: string; address: string }[]) =>
      world.decide({
        kind: "reality",
        reality: {
          kind: "android",
          readable: true,
          devices: devices.map((device) => ({ ...device, name: undefined, runState: "running" as const })),
        },
      });
    seen([]);
    seen([]);
    expect(world.stored().devices).toMatchObject([{ state: "absent" }]);
    const a = world.request("a", { platform: "android", physical: true });
    expect(waitingRequests(world.state)).toMatchObject([{ reason: "absent" }]);
    seen([{ driverDeviceId: "R58M", address: "10.0.0.7:5555" }]);
    world.finish("clean");
    expect(world.granted(a).device.address).toBe("10.0.0.7:5555");
  });

  test("that is not there yet when the daemon starts keeps its lease, until a second reading misses it too", () => {
    const world = new World();
    enrol(world);
    const a = world.request("a", { platform: "android", physical: true });
    world.finishAll();
    const away = { kind: "android", readable: true, devices: [] } as const;
    world.open = [];
    world.state = createState(world.stored(), world.settings);
    world.decide({ kind: "recovered", realities: [away] });
    world.learn();
    expect(world.stored().leases).toMatchObject([{ id: world.granted(a).lease.id }]);
    world.decide({ kind: "reality", reality: away });
    expect(world.stored()).toMatchObject({ leases: [], devices: [{ state: "absent" }] });
  });

  test("is not removed while it is leased; removed, those who waited for it are told", () => {
    const world = new World();
    enrol(world);
    const a = world.request("a", { platform: "android", physical: true });
    world.finishAll();
    world.decide({ kind: "unenrol", replyTo: 100, device: "R58M12" });
    expect(world.errorCode(100)).toBe("DEVICE_IN_USE");
    const b = world.request("b", { platform: "android", physical: true });
    world.release("a", a);
    world.decide({ kind: "unenrol", replyTo: 101, device: "R58M12" });
    expect(world.answers.get(101)).toMatchObject({ kind: "device" });
    expect(world.errorCode(b)).toBe("NO_DRIVER");
  });
});

describe("a restart", () => {
  test("keeps leases, and fails requests whose caller is gone", () => {
    const world = new World(settingsOf({ maxRunning: 1 }));
    const a = world.request("a");
    world.finishAll();
    world.request("b");
    restart(world);
    expect(world.stored().leases).toMatchObject([{ id: world.granted(a).lease.id }]);
    expect(world.stored().requests.find((request) => request.requesterId === "b")).toMatchObject({ state: "failed" });
    world.pass(900_000);
    expect(world.stored().leases).toEqual([]);
  });

  test("after the stored deadline ends the lease and cleans the device", () => {
    const world = new World();
    world.request("a");
    world.finishAll();
    world.now = { wall: world.now.wall + 900_000, mono: 0 };
    restart(world);
    expect(world.stored().leases).toEqual([]);
    expect(world.open).toMatchObject([{ intent: { kind: "clean" } }]);
  });

  test("does not take an idle device for ready that the machine shows stopped", () => {
    const world = new World();
    const a = world.request("a");
    world.finish("create");
    world.decide({ kind: "abandoned", waiters: [a] });
    world.finish("boot");
    expect(world.stored().devices).toMatchObject([{ state: "ready" }]);
    restart(world, "stopped");
    expect(world.stored().devices).toMatchObject([{ state: "shutdown" }]);
  });

  test("removes a device that was being made for somebody who is gone", () => {
    const world = new World();
    world.request("a");
    restart(world);
    expect(world.open).toMatchObject([{ intent: { kind: "destroy" } }]);
    world.finishAll();
    expect(world.stored().devices).toEqual([]);
  });

  test("boots a leased device that the machine has stopped, unless its holder stopped it", () => {
    for (const off of [false, true]) {
      const world = new World();
      const a = world.request("a");
      world.finishAll();
      world.decide({ kind: "power", leaseId: world.granted(a).lease.id, off });
      restart(world, "stopped");
      expect(world.open.map((effect) => effect.intent.kind)).toEqual(off ? [] : ["boot"]);
      expect(world.stored().leases).toHaveLength(1);
    }
  });
});

/** A new process on the rows that were committed. */
function restart(world: World, runState: "running" | "stopped" = "running"): void {
  world.open = [];
  world.state = createState(world.stored(), world.settings);
  const devices = world
    .stored()
    .devices.flatMap(({ driverDeviceId, name, address }) =>
      driverDeviceId === undefined ? [] : [{ driverDeviceId, name, address, runState }],
    );
  world.decide({ kind: "recovered", realities: [{ kind: "simulator", readable: true, devices }] });
  world.learn();
}
