import { SimlockError, type OperationOutput } from "../../contract/index.ts";
import {
  capacityOf,
  catalogs,
  deviceRecords,
  leaseRecords,
  queueDepthOf,
  stalledDevices,
  statusDevices,
  waitingRequests,
} from "../../leasing/index.ts";
import type { Handlers } from "../call.ts";
import type { Core } from "../core.ts";

type MachineHandlers = Pick<
  Handlers,
  "status.get" | "catalog.get" | "list.get" | "config.get" | "events.replay" | "events.subscribe" | "events.unsubscribe"
>;

const ALL = { principal: "", role: "admin" } as const;
const DEFAULT_REPLAY = 1000;

export function machineHandlers(core: Core): MachineHandlers {
  const { state, store, subscriptions } = core;
  return {
    "status.get": () => status(core),
    "catalog.get": async ({ platform, refresh }) => {
      const { catalogs: readings } = core;
      if (platform !== undefined && !readings.hasDriver(platform)) {
        throw new SimlockError("NO_DRIVER", `This machine has no driver for ${platform}.`, { details: { platform } });
      }
      if (refresh === true) {
        await readings.refresh(platform, 0);
        const error = readings.errorOf(platform);
        if (error !== undefined && platform !== undefined) throw error;
      } else if (catalogs(state, platform).length === 0) await readings.refresh(platform);
      await core.loop.settled();
      const platforms = catalogs(state, platform);
      // An empty list would say that nothing is installed; what is true is that it could not be read.
      if (platforms.length === 0) {
        throw readings.errorOf(platform) ?? new SimlockError("NO_DRIVER", "This machine has no driver.");
      }
      return { platforms };
    },
    "list.get": ({ kind }) => {
      const now = core.clock.now();
      return {
        ...(kind === undefined || kind === "devices" ? { devices: deviceRecords(state, now) } : {}),
        ...(kind === undefined || kind === "leases" ? { leases: leaseRecords(state, ALL) } : {}),
        ...(kind === undefined || kind === "requests" ? { requests: waitingRequests(state) } : {}),
      };
    },
    "config.get": () => core.config,
    "events.replay": ({ sinceTs, afterSeq, limit }) => {
      const { events, more } = store.events({ sinceTs, afterSeq, limit: limit ?? DEFAULT_REPLAY });
      return { events: [...events], more };
    },
    "events.subscribe": (_, { peer }) => ({
      subscribed: true,
      subscriptionId: subscriptions.add(peer),
      seq: store.lastSeq(),
    }),
    "events.unsubscribe": (_, { peer }) => {
      subscriptions.remove(peer);
      return { subscribed: false };
    },
  };
}

function status(core: Core): OperationOutput<"status.get"> {
  const { state, health, clock, config } = core;
  const base = {
    daemon: {
      health: health.state,
      mode: "worker" as const,
      version: core.version,
      pid: process.pid,
      home: core.home.path,
      virtual: core.home.virtual,
      startedAt: core.startedAt,
    },
    host: core.host.facts,
  };
  if (health.state !== "running") return base;
  const now = clock.now();
  const stalled = new Set(stalledDevices(state, now, config.stalledTransition).map(({ device }) => device.id));
  return {
    ...base,
    devices: statusDevices(state, now).map((device) =>
      stalled.has(device.id) ? { ...device, stalled: true } : device,
    ),
    leases: leaseRecords(state, ALL),
    capacity: capacityOf(state),
    queueDepth: queueDepthOf(state),
    waiting: waitingRequests(state),
  };
}
