import { homedir } from "node:os";
import { join } from "node:path";
import { layoutOf, mintId, type Config, type DeviceKind, type LeaseId } from "../contract/index.ts";
import type { Driver } from "../devices/index.ts";
import { isAlive, protectedRoots, RecordingSlot, RunJournal } from "../exec/index.ts";
import {
  boundProcesses,
  createState,
  decide,
  findDevice,
  findLease,
  nextDeadline,
  queueProgress,
  type Input,
} from "../leasing/index.ts";
import type { Store } from "../store/index.ts";
import { settlesWithin } from "./bounded.ts";
import { BoundProcesses } from "./bound-processes.ts";
import type { Peer } from "./call.ts";
import { Catalogs } from "./catalogs.ts";
import { createClock } from "./clock.ts";
import { Commands } from "./commands.ts";
import type { Core } from "./core.ts";
import { Effects } from "./effects.ts";
import { Health } from "./health.ts";
import { HostFactsReader } from "./host-facts.ts";
import { LeaseWork } from "./lease-work.ts";
import { STOP_STEP_MS, SURVEY_PAUSE_MS } from "./limits.ts";
import type { DaemonLog } from "./log.ts";
import { DecisionLoop } from "./loop.ts";
import type { DaemonOptions } from "./options.ts";
import { createOutlet } from "./outlet.ts";
import { Passthroughs } from "./passthroughs.ts";
import { prepareCommand, prepareTarget, type Asked, type PreparePorts } from "./prepare-command.ts";
import { RealityWatch } from "./reality.ts";
import { ScratchFolders } from "./scratch.ts";
import { StateWork } from "./state-work.ts";
import { Subscriptions } from "./subscriptions.ts";

interface Parts {
  readonly options: DaemonOptions;
  readonly config: Config;
  readonly log: DaemonLog;
  readonly store: Store;
  readonly drivers: readonly Driver[];
  readonly startedAt: number;
}

export interface Assembled {
  readonly core: Core;
  readonly effects: Effects;
  readonly work: LeaseWork;
  readonly scratch: ScratchFolders;
  readonly bound: BoundProcesses;
  readonly commandJournal: RunJournal;
  /** Told once the socket is there. */
  peers: () => Iterable<Peer>;
  fatal: (error: unknown) => void;
}

/** Puts the parts together. Nothing runs yet. */
export function assemble({ options, config, log, store, drivers, startedAt }: Parts): Assembled {
  const { home } = options;
  const layout = layoutOf(home);
  const clock = createClock();
  const state = createState(store.load(), config);
  const driverOf = (kind: DeviceKind): Driver | undefined => drivers.find((driver) => driver.kind === kind);
  const work = new LeaseWork(config.exec.drainMs);
  const scratch = new ScratchFolders(layout.scratch);
  const subscriptions = new Subscriptions(mintId);
  const submit = (input: Input): void => loop.submit(input);
  const effects = new Effects({
    driverOf,
    submit,
    drained: async (leaseId) => work.drain(leaseId),
    bootTimeoutMs: config.ios.bootTimeoutMs,
    log: log.of("effects"),
  });
  // Both look through all devices and leases: a burst of decisions is looked at once.
  let surveying: NodeJS.Timeout | undefined;
  const survey = (): void => {
    surveying ??= setTimeout(() => {
      surveying = undefined;
      if (!core.health.stopping) {
        bound.update();
        reality.update();
      }
    }, SURVEY_PAUSE_MS).unref();
  };
  const outlet = createOutlet({
    peers: () => assembled.peers(),
    effects,
    work,
    scratch,
    subscriptions,
    changed: survey,
    scratchFailed: (leaseId, error) => log.of("daemon").warn({ leaseId, error }, "a scratch folder can't be removed"),
  });
  const loop: DecisionLoop = new DecisionLoop({
    decider: {
      decide: (inputs, now, mint) => decide(state, inputs, now, mint),
      nextDeadline: () => nextDeadline(state),
      queueProgress: () => queueProgress(state),
    },
    store,
    clock,
    mint: mintId,
    outlet,
    fatal: (error) => assembled.fatal(error),
  });
  const kindsOf = (which: "leased" | "known"): ReadonlySet<DeviceKind> => {
    const kinds = new Set<DeviceKind>();
    for (const device of state.devices.values()) {
      if (which === "known" || state.leaseByDevice.has(device.id)) kinds.add(device.kind);
    }
    return kinds;
  };
  const reality = new RealityWatch({
    drivers,
    submit,
    leasedKinds: () => kindsOf("leased"),
    knownKinds: () => kindsOf("known"),
    probeIntervalMs: config.health.probeIntervalMs,
    log: log.of("reality"),
  });
  const bound = new BoundProcesses({
    bound: () => boundProcesses(state),
    isAlive: async ({ pid, startedAt: identity }) => isAlive(pid, identity),
    submit,
  });
  const commandJournal = new RunJournal(layout.runs);
  const prepare: PreparePorts = {
    findLease: (id) => findLease(state, id),
    deviceOf: (lease) => findDevice(state, lease.deviceId),
    driverOf,
    scratch,
    exec: config.exec,
    protectedRoots: protectedRoots({ userHome: homedir(), simlockHome: home.path, deviceRoots: deviceRoots(config) }),
    reservedPorts: new Set([5037, config.android.adbServerPort]),
    environment: process.env,
  };
  const running = {
    prepare: async (asked: Asked, peer: Peer) => prepareCommand(prepare, asked, peer),
    leaseStands: (leaseId: LeaseId) => findLease(state, leaseId) !== undefined,
    async power(leaseId: LeaseId, off: boolean) {
      submit({ kind: "power", leaseId, off });
      await loop.settled();
    },
    work,
    recording: new RecordingSlot(),
    mint: mintId,
  };
  const core: Core = {
    home,
    version: options.version,
    startedAt,
    config,
    health: new Health(),
    log,
    clock,
    state,
    store,
    loop,
    drivers,
    catalogs: new Catalogs(drivers, submit, log.of("catalogs")),
    host: new HostFactsReader(drivers, options.hostFacts ?? {}),
    reality,
    commands: new Commands({ ...running, journal: commandJournal, exec: config.exec }),
    passthroughs: new Passthroughs({ ...running, journal: new RunJournal(`${layout.runs}-of-callers`) }),
    stateWork: new StateWork({
      ...running,
      prepare: async (asked, peer) => prepareTarget(prepare, asked, peer),
      journals: layout.stateJournals,
      exec: config.exec,
      environment: process.env,
    }),
    subscriptions,
  };
  const assembled: Assembled = {
    core,
    effects,
    work,
    scratch,
    bound,
    commandJournal,
    peers: () => [],
    fatal: () => undefined,
  };
  return assembled;
}

/** Where the platforms keep their devices: other people's data among it. */
function deviceRoots(config: Config): readonly string[] {
  const own = config.ios.deviceSet === undefined ? [] : [config.ios.deviceSet];
  if (process.platform !== "darwin") return own;
  return [...own, join(homedir(), "Library", "Developer", "CoreSimulator", "Devices")];
}

export async function disposeAll(drivers: readonly Driver[]): Promise<void> {
  await Promise.all(drivers.map(async (driver) => settlesWithin(driver.dispose(), STOP_STEP_MS)));
}
