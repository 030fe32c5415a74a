import { expect, test } from "vitest";
import { Status } from "../../contract/index.ts";
import { plain } from "./paint.ts";
import { statusText } from "./status.ts";

const NOW = 10_000_000;
const platform = {
  running: 1,
  maxRunning: 4,
  reserved: 0,
  overLimit: false,
  limit: 4,
  warm: 0,
  used: 1,
  atRamBudget: false,
};
const busy = Status.parse({
  daemon: {
    health: "running",
    mode: "worker",
    version: "0.1.0",
    pid: 42,
    home: "/h",
    virtual: true,
    startedAt: NOW - 180_000,
  },
  host: {
    os: "macOS",
    osVersion: "15.5",
    arch: "arm64",
    cpus: 8,
    memoryBytes: 32 * 2 ** 30,
    tools: [{ platform: "ios", name: "xcode", version: "16.4", build: "16F6" }],
  },
  devices: [
    {
      id: "dev_1",
      kind: "simulator",
      spec: { platform: "ios", model: "iPhone 17", osVersion: "26.0" },
      state: "leased",
      mode: "full",
      physical: false,
    },
    {
      id: "dev_2",
      kind: "simulator",
      spec: { platform: "ios", model: "iPad Pro", osVersion: "26.0" },
      state: "reclaiming",
      mode: "full",
      physical: false,
      transitionAgeMs: 5000,
      stalled: true,
    },
  ],
  leases: [
    {
      id: "lse_1",
      deviceId: "dev_1",
      requesterId: "bob",
      ownerId: "bob",
      grantedAt: 0,
      ttlMs: 1,
      ttlDeadline: NOW + 600_000,
      lastRenewedAt: NOW - 61_000,
    },
  ],
  capacity: {
    ios: platform,
    android: { ...platform, running: 5, overLimit: true },
    global: { running: 1, maxRunning: 4, reserved: 0, overLimit: false, warm: 0 },
    ramBudget: { limitBytes: 12 * 2 ** 30, usedBytes: 4.5 * 2 ** 30, overLimit: false },
  },
  queueDepth: 1,
  waiting: [
    {
      id: "req_1",
      requesterId: "eve",
      spec: { platform: "ios", model: "iPhone 17" },
      createdAt: NOW - 30_000,
      stage: "queued",
      queuePosition: 1,
      reason: "capacity",
    },
  ],
});

test("daemon, host, capacity, devices with their holders, leases with their expiry, the queue", () => {
  expect(statusText(busy, NOW, plain)).toBe(
    `Daemon: running, simlock 0.1.0, pid 42, started 3m ago
Home: /h (virtual: simulated devices)
Host: macOS 15.5 arm64, 8 cores, 32 GiB; xcode 16.4 (16F6)
Capacity: ios 1/4 running; android 5/4 running (over limit)
RAM budget: 4.50 GiB/12 GiB used

Devices:
  ID     MODEL      OS        KIND       STATE
  dev_1  iPhone 17  ios 26.0  simulator  leased by bob
  dev_2  iPad Pro   ios 26.0  simulator  reclaiming for 5s stalled

Leases:
  ID     DEVICE     HELD BY  EXPIRES  LAST RENEWED
  lse_1  iPhone 17  bob      in 10m   1m 1s ago

Waiting:
  #  WHO  FOR            BECAUSE   SINCE
  1  eve  ios iPhone 17  capacity  30s`,
  );
});

test("a daemon that is starting has only itself and the host to tell of", () => {
  const { daemon, host } = busy;
  const text = statusText({ daemon: { ...daemon, health: "starting" }, host }, NOW, plain);
  expect(text).toContain("Daemon: starting");
  expect(text).not.toContain("Devices");
});

test("no devices is said, not shown as an empty table", () => {
  expect(statusText({ ...busy, devices: [], leases: [], waiting: [] }, NOW, plain)).toContain("none yet");
});
