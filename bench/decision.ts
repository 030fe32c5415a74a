import { type LeaseId, mintId, DEFAULT_CONFIG, type PlatformCatalog } from "../src/contract/index.ts";
import { createState, decide, type Input, type Now, type State } from "../src/leasing/index.ts";
import { atMost, percentile, type Figure } from "./figure.ts";

const SHAPES = 10;

/** What one decision costs in a crowd, against the same decision with few: a release whose device goes on to the oldest that waits for it. */
export function decisionFigures(): Figure[] {
  const few = crowd(100, 10);
  const many = crowd(10_000, 1_000);
  const floor: number[] = [];
  const measured: number[] = [];
  // Turn about, so that whatever else the machine does falls on both alike.
  for (let round = 0; round < 3_000; round += 1) {
    const a = few.cycle();
    const b = many.cycle();
    if (round < 500) continue;
    floor.push(a);
    measured.push(b);
  }
  return [
    atMost(
      "one decision, 10,000 waiting, 1,000 devices",
      "100 waiting, 10 devices",
      percentile(floor, 0.5),
      percentile(measured, 0.5),
      2,
    ),
  ];
}

function crowd(waiting: number, devices: number): { cycle: () => number } {
  const models = Array.from({ length: SHAPES }, (_, at) => `iPhone ${at}`);
  const catalog: PlatformCatalog = {
    platform: "ios",
    models,
    runtimes: ["26.1"],
    modelRuntimes: Object.fromEntries(models.map((model) => [model, ["26.1"]])),
    modelAliases: {},
    modelClasses: Object.fromEntries(models.map((model) => [model, "phone" as const])),
    classDefaults: { phone: "iPhone 0" },
  };
  const limit = { maxDevices: devices, maxRunning: devices };
  const settings = {
    ...DEFAULT_CONFIG,
    capacity: { strategy: "fixed" as const, maxRunning: devices, ios: limit, android: {} },
  };
  const state: State = createState({ devices: [], leases: [], requests: [] }, settings);
  const now: Now = { wall: 1_000_000, mono: 0 };
  let replyTo = 0;
  const open: { device: string; input: Input }[] = [];
  const leases: { id: LeaseId; requester: string }[] = [];
  const take = (...inputs: Input[]) => {
    const decision = decide(state, inputs, now, mintId);
    for (const { device, intent } of decision.effects) {
      const result =
        intent.kind === "create"
          ? { ok: true as const, kind: "create" as const, driverDeviceId: device.id }
          : intent.kind === "boot"
            ? { ok: true as const, kind: "boot" as const, address: device.id, environment: {} }
            : { ok: true as const, kind: "clean" as const, state: "ready" as const, strategy: "none" };
      open.push({
        device: device.id,
        input: { kind: "effect-done", deviceId: device.id, intentId: intent.id, attempt: intent.attempt, result },
      });
    }
    for (const { answer } of decision.replies) {
      if (answer.kind === "grant")
        leases.push({ id: answer.grant.lease.id, requester: answer.grant.lease.requesterId });
    }
  };
  const settle = () => {
    for (let next = open.shift(); next !== undefined; next = open.shift()) take(next.input);
  };
  let asked = 0;
  const ask = (model: string) => {
    asked += 1;
    replyTo += 1;
    take({
      kind: "request",
      replyTo,
      caller: { principal: `agent-${asked}`, role: "agent" },
      input: { platform: "ios", model },
      boundTo: undefined,
    });
  };
  take({ kind: "recovered", realities: [{ kind: "simulator", readable: true, devices: [] }] });
  take({ kind: "catalog", of: "simulator", catalog, estimate: { provisionMs: 1, bootMs: 1, reclaimMs: 1 } });
  for (let at = 0; at < devices; at += 1) {
    ask(models[at % SHAPES] ?? "iPhone 0");
    settle();
  }
  for (let at = 0; at < waiting; at += 1) ask(models[at % SHAPES] ?? "iPhone 0");
  return {
    cycle() {
      const lease = leases.shift();
      if (lease === undefined) throw new Error("nobody holds a lease");
      replyTo += 1;
      const caller = { principal: lease.requester, role: "agent" as const };
      const started = performance.now();
      take({ kind: "release", replyTo, caller, leaseId: lease.id, force: false });
      settle();
      const took = performance.now() - started;
      ask(models[asked % SHAPES] ?? "iPhone 0");
      return took;
    },
  };
}
