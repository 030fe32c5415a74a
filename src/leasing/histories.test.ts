import fc from "fast-check";
import { test } from "vitest";
import type { DeviceId, LeaseId, LeaseRequestInput } from "../contract/index.ts";
import { createState } from "./create-state.ts";
import { describeCapacity, holdsRunningSlot, isMade } from "./capacity.ts";
import { agent, FACTS, failure, settingsOf, workingResult, World } from "./fixtures.ts";
import type { Decision, Effect, Input, Reality, ReplyTo } from "./protocol.ts";
import { fits, requirementOf } from "./requirement.ts";
import { queueProgress } from "./views.ts";
import type { Device, Request } from "./state.ts";

/**
 * Random lives of a daemon: requests, releases, failures, lost devices, crashes between any two commits. After each decision the invariants of the design are
 * checked on the rows that were committed and on a model of the machine, not on what the decider believes.
 */

const RUNS = process.env["CI"] === "true" ? 20_000 : 2_000;

type Step =
  | { readonly do: "request"; readonly who: number; readonly input: Partial<LeaseRequestInput> }
  | { readonly do: "cancel" | "abandon" | "renew" | "release" | "kill"; readonly who: number }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "finish"; readonly which: number; readonly how: "works" | "fails" | "twice" }
  | { readonly do: "vanish" | "stop"; readonly which: number }
  | { readonly do: "read" }
  /** `reached`: which open effects had an effect on the machine before the process died. */
  | { readonly do: "crash"; readonly reached: readonly boolean[]; readonly away: number }
  | { readonly do: "limit"; readonly maxRunning: number };

const who = fc.nat({ max: 5 });
const input: fc.Arbitrary<Partial<LeaseRequestInput>> = fc
  .record(
    {
      model: fc.constantFrom("iPhone 17", "iPhone 16"),
      osVersion: fc.constantFrom("26.1", "18.5", "<26"),
      noWait: fc.boolean(),
      timeoutMs: fc.constantFrom(1_000, 60_000),
      ttlMs: fc.constantFrom(5_000, 600_000),
      idempotencyKey: fc.constantFrom("k1", "k2"),
      physical: fc.boolean(),
      platform: fc.constantFrom("ios" as const, "android" as const),
    },
    { requiredKeys: [] },
  )
  .map(({ physical, ...rest }) => (physical === true && rest.platform === "android" ? { ...rest, physical } : rest));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant("request" as const), who, input }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom("cancel", "abandon", "renew", "release", "release", "kill"), who }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(1, 999, 5_000, 61_000) }) },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant("finish" as const),
      which: fc.nat({ max: 9 }),
      how: fc.constantFrom("works" as const, "works" as const, "works" as const, "fails" as const, "twice" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom("vanish" as const, "stop" as const), which: fc.nat({ max: 5 }) }),
  },
  { weight: 2, arbitrary: fc.constant({ do: "read" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("crash" as const),
      reached: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      away: fc.constantFrom(0, 10_000, 700_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("limit" as const), maxRunning: fc.integer({ min: 1, max: 3 }) }),
  },
);

/** What the machine itself would show. */
interface Machine {
  readonly running: boolean;
  readonly dirty: boolean;
}

function must(holds: boolean, message: string): void {
  if (!holds) throw new Error(message);
}

class Life {
  readonly world: World;
  readonly machine = new Map<string, Machine>();
  readonly #callOf = new Map<number, ReplyTo>();
  readonly #settled = new Map<string, string>();
  #lastDone: { effect: Effect; result: Extract<Input, { kind: "effect-done" }>["result"] } | undefined;

  constructor() {
    this.world = new World(settingsOf({ maxRunning: 2 }));
    const phone = { driverDeviceId: "phone-1", running: true };
    this.machine.set(phone.driverDeviceId, { running: true, dirty: false });
    this.decide({
      kind: "enrol",
      replyTo: this.world.nextReply(),
      of: "android",
      identity: "phone-1",
      address: "serial-1",
      spec: { platform: "android", model: "Galaxy S24", osVersion: "14" },
      shared: true,
      baseline: [],
    });
  }

  decide(...inputs: Input[]): Decision {
    const before = new Map<DeviceId, Device>(this.world.rows.devices);
    const waiting = this.openRequests();
    const decision = this.world.decide(...inputs);
    this.check(decision, before, waiting);
    return decision;
  }

  take(step: Step): void {
    const { world } = this;
    switch (step.do) {
      case "request": {
        const replyTo = world.nextReply();
        this.#callOf.set(step.who, replyTo);
        this.decide({
          kind: "request",
          replyTo,
          caller: agent(`a${step.who}`),
          input: { platform: "ios", ...step.input },
          boundTo: step.who === 0 ? { pid: 7, startedAt: "s" } : undefined,
        });
        return;
      }
      case "cancel":
        this.decide({
          kind: "cancel",
          replyTo: world.nextReply(),
          caller: agent(`a${step.who}`),
          requesterId: `a${step.who}`,
        });
        return;
      case "abandon":
        this.decide({ kind: "abandoned", waiters: [this.#callOf.get(step.who) ?? -1] });
        return;
      case "kill":
        this.decide({ kind: "holder-gone", pid: 7, startedAt: "s" });
        return;
      case "renew":
      case "release": {
        const lease = [...world.rows.leases.values()].find((one) => one.requesterId === `a${step.who}`);
        const leaseId: LeaseId = lease?.id ?? ("lse_none" as LeaseId);
        const call = { replyTo: world.nextReply(), caller: agent(`a${step.who}`), leaseId };
        if (step.do === "renew") this.decide({ kind: "renew", ...call, ttlMs: undefined });
        else this.decide({ kind: "release", ...call, force: false });
        return;
      }
      case "pass":
        world.now = { wall: world.now.wall + step.ms, mono: world.now.mono + step.ms };
        this.decide({ kind: "tick" });
        return;
      case "finish":
        this.finish(step.which, step.how);
        return;
      case "vanish":
      case "stop": {
        const id = [...this.machine.keys()][step.which];
        const known = id === undefined ? undefined : this.machine.get(id);
        if (id === undefined || known === undefined) return;
        if (step.do === "vanish") this.machine.delete(id);
        else this.machine.set(id, { ...known, running: id === "phone-1" });
        return;
      }
      case "read":
        for (const reality of this.realities()) this.decide({ kind: "reality", reality });
        return;
      case "crash":
        this.crash(step.reached, step.away);
        return;
      case "limit":
        world.settings = settingsOf({ maxRunning: step.maxRunning });
        this.crash([], 0);
        return;
    }
  }

  finish(which: number, how: "works" | "fails" | "twice"): void {
    const { world } = this;
    const effect = world.open.splice(which % Math.max(1, world.open.length), 1)[0];
    if (how === "twice" && this.#lastDone !== undefined) {
      const late = world.settle(this.#lastDone.effect, this.#lastDone.result);
      must(late.effects.length === 0, "a late result began something");
    }
    if (effect === undefined) return;
    const result = how === "fails" ? failure() : workingResult(effect);
    // A phone that is gone can't be cleaned, whatever the script says.
    const works = result.ok && this.reach(effect);
    const done = works ? result : failure();
    this.#lastDone = { effect, result: done };
    this.decide({
      kind: "effect-done",
      deviceId: effect.device.id,
      intentId: effect.intent.id,
      attempt: effect.intent.attempt,
      result: done,
    });
  }

  /** What an effect does to the machine. False where it could not. */
  reach({ device, intent }: Effect): boolean {
    const id = isMade(device.kind) ? `udid-${device.id}` : (device.driverDeviceId ?? "");
    const there = this.machine.get(id);
    switch (intent.kind) {
      case "create":
        this.machine.set(id, there ?? { running: false, dirty: false });
        return true;
      case "boot":
        if (there === undefined) return false;
        this.machine.set(id, { ...there, running: true });
        return true;
      case "clean":
        if (there === undefined) return false;
        this.leased(device.id, "cleaned");
        this.machine.set(id, { running: !isMade(device.kind), dirty: false });
        return true;
      case "shutdown":
        this.leased(device.id, "shut down");
        if (there !== undefined) this.machine.set(id, { ...there, running: false });
        return true;
      case "destroy":
        this.leased(device.id, "destroyed");
        must(isMade(device.kind), "somebody's phone was destroyed");
        this.machine.delete(id);
        return true;
    }
  }

  /** Invariant 2: nothing of this may happen to a device that somebody holds. */
  leased(deviceId: DeviceId, what: string): void {
    const holder = [...this.world.rows.leases.values()].find((lease) => lease.deviceId === deviceId);
    if (holder !== undefined) throw new Error(`${deviceId} was ${what} while ${holder.id} held it`);
  }

  crash(reached: readonly boolean[], away: number): void {
    const { world } = this;
    for (const [at, effect] of world.open.entries()) if (reached[at % 4] === true) this.reach(effect);
    world.open = [];
    this.#lastDone = undefined;
    world.now = { wall: world.now.wall + away, mono: 0 };
    // The same rows give the same state: nothing that matters lived in memory only.
    world.state = createState(world.stored(), world.settings);
    this.decide({ kind: "recovered", realities: this.realities() });
    for (const fact of FACTS) this.decide(fact);
  }

  realities(): Reality[] {
    const of = (kind: "simulator" | "android"): Reality => ({
      kind,
      readable: true,
      devices: [...this.machine].flatMap(([driverDeviceId, { running }]) =>
        (driverDeviceId === "phone-1") === (kind === "android")
          ? [
              {
                driverDeviceId,
                name: undefined,
                runState: running ? ("running" as const) : ("stopped" as const),
                address: driverDeviceId === "phone-1" ? "serial-1" : driverDeviceId,
              },
            ]
          : [],
      ),
    });
    return [of("simulator"), of("android")];
  }

  openRequests(): Request[] {
    return [...this.world.rows.requests.values()].filter((request) => request.state === "open");
  }

  check(decision: Decision, before: ReadonlyMap<DeviceId, Device>, waiting: readonly Request[]): void {
    const { world } = this;
    const leases = [...world.rows.leases.values()];
    const devices = [...world.rows.devices.values()];
    const open = this.openRequests();

    // 1. One lease a device; one lease or open request a requester.
    must(new Set(leases.map((lease) => lease.deviceId)).size === leases.length, "a device has two leases");
    const busy = [...leases, ...open].map((one) => one.requesterId);
    must(new Set(busy).size === busy.length, "a requester has two");
    const leasedDevices = devices.filter((device) => device.state === "leased").map((device) => device.id);
    const held = new Set(leases.map((lease) => lease.deviceId));
    must(
      leasedDevices.length === held.size && leasedDevices.every((id) => held.has(id)),
      "leased devices and leases differ",
    );

    // 2. No work is begun on a leased device but booting it for its holder.
    for (const { device, intent } of decision.effects) {
      if (leases.some((lease) => lease.deviceId === device.id))
        must(intent.kind === "boot", `a ${intent.kind} on a leased device`);
      // An effect is a committed intent.
      must(world.rows.devices.get(device.id)?.intent === intent, "an effect without its committed intent");
    }

    // 3. A settled request stays as it was settled; every request that is settled in this decision answers whoever waited.
    for (const request of world.rows.requests.values()) {
      const settled = this.#settled.get(request.id);
      const outcome = JSON.stringify([request.state, request.grant, request.failure]);
      if (settled !== undefined) must(outcome === settled, `${request.id} was settled twice`);
      else if (request.state !== "open") this.#settled.set(request.id, outcome);
    }
    for (const request of open) {
      if (request.deadline !== undefined && world.state.deadlines.get(`request:${request.id}`) === undefined) {
        throw new Error(`${request.id} waits without its deadline`);
      }
    }

    // 4. A granted device fits no older request that waits on.
    for (const lease of leases) {
      if (before.get(lease.deviceId)?.state === "leased") continue;
      const device = world.rows.devices.get(lease.deviceId);
      const granted = world.rows.requests.get(lease.requestId);
      if (device === undefined || granted === undefined) throw new Error("a grant without its rows");
      for (const other of open) {
        const older = other.seq < granted.seq && waiting.some((request) => request.id === other.id);
        if (older && fits(requirementOf(other.input), device, world.state.aliases)) {
          throw new Error(`${granted.id} was granted what the older ${other.id} waits for`);
        }
      }
    }

    // 5. What we start ourselves stays within the limits, also where they have shrunk below what stands.
    const running = devices.filter(holdsRunningSlot).length;
    const was = [...before.values()].filter(holdsRunningSlot).length;
    const { maxRunning } = describeCapacity(world.state.limits, world.state.usage).global;
    must(running <= was || running <= maxRunning, `${running} run, ${maxRunning} may`);
    const made = devices.filter((device) => isMade(device.kind)).length;
    if (made > [...before.values()].filter((device) => isMade(device.kind)).length) {
      must(made <= world.state.limits.ios.maxDevices, `${made} were made`);
    }
    // The counts that decisions use are those of the rows.
    must(
      world.state.usage.running.ios === devices.filter((d) => d.spec.platform === "ios" && holdsRunningSlot(d)).length,
      "the count of running devices is wrong",
    );
    must(world.state.usage.devices.ios === made, "the count of devices is wrong");

    // 7. What is granted is clean, ready, and nobody's.
    for (const lease of leases) {
      const was = before.get(lease.deviceId);
      if (was?.state === "leased") continue;
      const id = world.rows.devices.get(lease.deviceId)?.driverDeviceId ?? "";
      const there = this.machine.get(id);
      if (there?.dirty === true) throw new Error(`${lease.deviceId} was granted dirty`);
      if (there !== undefined) this.machine.set(id, { ...there, dirty: true });
      must(lease.ttlDeadline > world.now.wall, "a lease was granted that is over");
    }

    // Nobody waits for what lies idle.
    for (const device of devices) {
      if (device.state !== "ready" || device.intent !== undefined) continue;
      for (const request of open) {
        if (fits(requirementOf(request.input), device, world.state.aliases)) {
          throw new Error(`${request.id} waits although ${device.id} is ready`);
        }
      }
    }
    queueProgress(world.state);
  }

  /** 6. Left alone with a machine that works, everything comes to rest: all settled, nothing under way, nothing on the machine that we don't know. */
  rest(): void {
    const { world } = this;
    for (let round = 0; round < 200; round += 1) {
      while (world.open.length > 0) this.finish(0, "works");
      const due = world.state.deadlines.next();
      if (due === undefined && world.open.length === 0) break;
      const ms = Math.max(1, (due ?? world.now.mono) - world.now.mono);
      world.now = { wall: world.now.wall + ms, mono: world.now.mono + ms };
      this.decide({ kind: "tick" });
      for (const reality of this.realities()) this.decide({ kind: "reality", reality });
    }
    must(world.rows.leases.size === 0, "a lease never ended");
    for (const device of world.rows.devices.values()) {
      must(
        ["ready", "shutdown", "absent", "quarantined"].includes(device.state),
        `${device.id} is still ${device.state}`,
      );
      must(device.state !== "quarantined" || device.quarantine?.stranded === true, `${device.id} stays in quarantine`);
    }
    const known = new Set([...world.rows.devices.values()].map((device) => device.driverDeviceId));
    for (const id of this.machine.keys()) if (!known.has(id)) throw new Error(`${id} has leaked`);
    // Who still waits can't be served: by a device that is away, or a place that nothing will free.
    for (const request of this.openRequests()) {
      const requirement = requirementOf(request.input);
      const fitting = [...world.rows.devices.values()].filter((d) => fits(requirement, d, world.state.aliases));
      for (const device of fitting) {
        must(["absent", "quarantined"].includes(device.state), `${request.id} waits for ${device.id}, ${device.state}`);
      }
    }
  }
}

/** Histories that once broke an invariant. */
const FOUND: readonly (readonly Step[])[] = [
  // A start that was cut off counted as off while it was being stopped, and as running once that had failed.
  [
    { do: "request", who: 0, input: { ttlMs: 5_000 } },
    { do: "finish", which: 0, how: "works" },
    { do: "finish", which: 0, how: "works" },
    { do: "request", who: 1, input: {} },
    { do: "finish", which: 0, how: "works" },
    { do: "crash", reached: [false, false, false, false], away: 700_000 },
    { do: "finish", which: 0, how: "works" },
    { do: "request", who: 0, input: {} },
    { do: "finish", which: 0, how: "fails" },
    { do: "limit", maxRunning: 1 },
    { do: "cancel", who: 0 },
    { do: "finish", which: 0, how: "fails" },
  ],
];

test(
  `over ${RUNS} random histories the invariants hold, crashes at every commit included`,
  { timeout: 600_000 },
  () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 45 }), (steps) => {
        const life = new Life();
        for (const one of steps) life.take(one);
        life.rest();
      }),
      { numRuns: RUNS, examples: FOUND.map((steps) => [[...steps]]) },
    );
  },
);
