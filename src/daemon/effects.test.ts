import { expect, test } from "vitest";
import { mintId, type DeviceId, type LeaseId } from "../contract/index.ts";
import type { Device, Effect, Input, Intent } from "../leasing/index.ts";
import { Effects } from "./effects.ts";
import { createFakeDriver, type FakeOptions } from "./fake-driver.ts";
import { createLog } from "./log.ts";

const device: Device = {
  id: "dev_1" as DeviceId,
  kind: "simulator",
  spec: { platform: "ios", model: "iPhone 17", osVersion: "26.0" },
  class: "phone",
  mode: "full",
  state: "provisioning",
  stateSince: 0,
  physical: false,
  shared: false,
  name: "simlock-dev_1",
  mark: mintId("int"),
  driverDeviceId: undefined,
  address: undefined,
  environment: {},
  baseline: undefined,
  createdAt: 0,
  lastLeaseEndedAt: undefined,
  intent: undefined,
  quarantine: undefined,
};
const effect = (kind: Intent["kind"], more: Partial<Effect> = {}): Effect => ({
  device,
  intent: { id: "int_1", kind, attempt: 2, startedAt: 0, because: "req_1" },
  drain: undefined,
  ...more,
});

function executor(options: FakeOptions = {}, drained: (leaseId: LeaseId) => Promise<void> = async () => undefined) {
  const driver = createFakeDriver(options);
  const inputs: Input[] = [];
  const effects = new Effects({
    driverOf: (kind) => (kind === "simulator" ? driver : undefined),
    submit: (input) => void inputs.push(input),
    drained,
    bootTimeoutMs: 1000,
    log: createLog("error", { write: () => undefined }).of("effects"),
  });
  const settled = async (): Promise<void> => {
    while (effects.running > 0) await new Promise(setImmediate);
  };
  return { driver, inputs, effects, settled };
}

test("work comes back with the id and the attempt of its intent", async () => {
  const { effects, inputs, settled } = executor();
  effects.start(effect("create"));
  await settled();
  expect(inputs).toEqual([
    {
      kind: "effect-done",
      deviceId: "dev_1",
      intentId: "int_1",
      attempt: 2,
      result: { ok: true, kind: "create", driverDeviceId: expect.any(String) },
    },
  ]);
  effects.start(effect("boot"));
  await settled();
  const [, booted] = inputs;
  expect(booted).toMatchObject({ result: { kind: "boot", environment: { SIMLOCK_MODEL: "iPhone 17" } } });
});

test("a failure comes back as an error without the text of a fault", async () => {
  const { effects, inputs, settled } = executor({
    before() {
      throw new Error("/private/path");
    },
  });
  effects.start(effect("boot"));
  await settled();
  expect(inputs).toMatchObject([{ result: { ok: false, error: { code: "INTERNAL" } } }]);
  expect(JSON.stringify(inputs)).not.toContain("/private/path");
});

test("a kind without a driver is a failure", async () => {
  const { effects, inputs, settled } = executor();
  effects.start(effect("boot", { device: { ...device, kind: "iphone" } }));
  await settled();
  expect(inputs).toMatchObject([{ result: { ok: false, error: { code: "NO_DRIVER" } } }]);
});

test("a device is cleaned only when its last holder's commands are over, also when the cleaning is begun again", async () => {
  const over = Promise.withResolvers<void>();
  const waited: LeaseId[] = [];
  const { effects, driver, settled } = executor({}, async (leaseId) => {
    waited.push(leaseId);
    return over.promise;
  });
  effects.start(effect("create"));
  await settled();
  effects.start(effect("clean", { drain: "lse_1" as LeaseId }));
  effects.start(effect("clean", { intent: { ...effect("clean").intent, because: "lse_2" } }));
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(waited).toEqual(["lse_1", "lse_2"]);
  expect(driver.steps).toEqual(["create dev_1"]);
  over.resolve();
  await settled();
  expect(driver.steps).toEqual(["create dev_1", "clean dev_1", "clean dev_1"]);
});

test("a stop waits for work, begins no more, and reports nothing of what it cut off", async () => {
  const made = Promise.withResolvers<void>();
  const { effects, inputs } = executor({ before: async () => made.promise });
  effects.start(effect("create"));
  await new Promise(setImmediate);
  const stopped = effects.stop(10_000);
  effects.start(effect("boot"));
  made.resolve();
  await stopped;
  expect(inputs).toHaveLength(1);

  const stuck = executor({ latency: { create: 60_000 } });
  stuck.effects.start(effect("create"));
  await new Promise(setImmediate);
  await stuck.effects.stop(20);
  expect(stuck.inputs).toEqual([]);
});
