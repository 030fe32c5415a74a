import { DeviceId, SimlockError, toSimlockError, type DeviceKind } from "../contract/index.ts";
import type { Finding, Mend } from "../contract/index.ts";
import type { Driver, Observed, OwnDevice } from "../devices/index.ts";
import { stalledDevices, type Device } from "../leasing/index.ts";
import { bounded } from "./bounded.ts";
import { answered, type Core } from "./core.ts";
import { EFFECT_TIMEOUT_MS, PREREQUISITES_TIMEOUT_MS, READ_TIMEOUT_MS } from "./limits.ts";

/** What `doctor` would do about a finding, or does with `fix` or `purgeOrphans`. */
interface Remedy {
  readonly action: Mend["action"];
  readonly target: string;
  readonly when: "fix" | "purgeOrphans";
  readonly carryOut: () => Promise<void>;
}

interface Report {
  readonly finding: Finding;
  readonly remedy?: Remedy;
}

export interface DoctorRun {
  readonly fix: boolean;
  readonly purgeOrphans: boolean;
}

/**
 * Compares what we hold with what is there. Each platform is read once, side by side with the others; one that can't be read is a finding, and its
 * devices then count as unobservable, not as missing. Without `fix` and `purgeOrphans` nothing is changed.
 */
export async function examine(core: Core, run: DoctorRun): Promise<{ findings: Finding[]; mends: Mend[] }> {
  const prerequisites = await Promise.all(core.drivers.map(prerequisitesOf));
  const drifts = await Promise.all(core.drivers.map(async (driver) => driftOf(core, driver)));
  const reports: readonly Report[] = [
    ...prerequisites.flat().map((finding) => ({ finding })),
    ...drifts.flat(),
    ...ownState(core),
  ];
  const mends: Mend[] = [];
  for (const { remedy } of reports) {
    if (remedy === undefined) continue;
    const wanted = remedy.when === "fix" ? run.fix : run.purgeOrphans;
    mends.push({ action: remedy.action, target: remedy.target, done: wanted && (await carriedOut(core, remedy)) });
  }
  if (run.fix || run.purgeOrphans) {
    const mended = mends.filter((one) => one.done).length;
    core.loop.record([{ event: "doctor.reconciled", payload: { findings: reports.length, mended } }]);
  }
  return { findings: reports.map(({ finding }) => finding), mends };
}

async function carriedOut(core: Core, remedy: Remedy): Promise<boolean> {
  try {
    await remedy.carryOut();
    return true;
  } catch (thrown) {
    const { code, message } = toSimlockError(thrown);
    core.log.of("doctor").warn({ action: remedy.action, target: remedy.target, code, reason: message }, "mend failed");
    return false;
  }
}

async function prerequisitesOf(driver: Driver): Promise<readonly Finding[]> {
  const bound = { timeoutMs: PREREQUISITES_TIMEOUT_MS, what: `Looking for what ${driver.kind} devices need` };
  return bounded(bound, async () => driver.prerequisites()).catch((thrown: unknown) => [unreadable(driver, thrown)]);
}

function unreadable(driver: Driver, thrown: unknown): Finding {
  return { kind: "unreadable", platform: driver.platform, message: toSimlockError(thrown).message };
}

async function driftOf(core: Core, driver: Driver): Promise<readonly Report[]> {
  const known = devicesOf(core, driver.kind);
  // Nothing of ours is attached: whether the tool can be read is the prerequisites' matter.
  if (driver.attached !== undefined && known.length === 0) return [];
  let seen: readonly Observed[];
  try {
    const bound = { timeoutMs: READ_TIMEOUT_MS, what: `Reading the devices (${driver.kind})` };
    seen = await bounded(bound, async (signal) => driver.read(signal));
  } catch (thrown) {
    return [{ finding: unreadable(driver, thrown) }];
  }
  // Read after the machine: what was made meanwhile is in both, what was removed meanwhile in neither.
  const now = devicesOf(core, driver.kind);
  const byId = new Map(seen.map((observed) => [observed.driverDeviceId, observed]));
  return [
    ...now.flatMap((device) => deviceDrift(core, driver, device, byId)),
    ...(driver.attached === undefined ? orphans(core, driver, [...known, ...now], seen) : []),
  ];
}

function devicesOf(core: Core, kind: DeviceKind): readonly Device[] {
  return [...core.state.devices.values()].filter((device) => device.kind === kind);
}

function deviceDrift(
  core: Core,
  driver: Driver,
  device: Device,
  seen: ReadonlyMap<string, Observed>,
): readonly Report[] {
  const { id: deviceId, driverDeviceId, state } = device;
  const { platform } = driver;
  // A device that is being worked on is in no state that could be compared, and one that is away is known to be.
  if (driverDeviceId === undefined || device.intent !== undefined || state === "absent") return [];
  const observed = seen.get(driverDeviceId);
  if (observed === undefined) {
    const finding = { kind: "registry-device-missing", deviceId, platform } as const;
    return state === "leased" ? [{ finding }] : [{ finding, remedy: mend(core, device, "forget-device") }];
  }
  const reports: Report[] = [];
  const expected = expectedRunState(device);
  if (driver.attached === undefined && expected !== undefined && observed.runState !== "transitioning") {
    const { runState } = observed;
    if (runState !== expected) {
      const finding = { kind: "foreign-state-change", deviceId, platform, expected, observed: runState } as const;
      reports.push(state === "ready" ? { finding, remedy: mend(core, device, "correct-state") } : { finding });
    }
  }
  const detail = driver.attached === undefined ? provenanceDrift(device, observed) : undefined;
  if (detail !== undefined) {
    const finding = { kind: "foreign-provenance-change", deviceId, platform, detail } as const;
    reports.push({ finding });
  }
  return reports;
}

function expectedRunState({ state }: Device): "running" | "stopped" | undefined {
  if (state === "ready" || state === "leased") return "running";
  return state === "shutdown" ? "stopped" : undefined;
}

function provenanceDrift(
  device: Device,
  observed: Observed,
): Extract<Finding, { kind: "foreign-provenance-change" }>["detail"] | undefined {
  if (observed.durableMark === undefined) return "durable-mark-missing";
  if (observed.durableMark !== device.mark) return "mark-mismatch";
  return observed.erasableMark === undefined ? "erased" : undefined;
}

/** Devices with our name or mark that the registry does not know: what a lost database or an interrupted removal leaves. */
function orphans(core: Core, driver: Driver, known: readonly Device[], seen: readonly Observed[]): readonly Report[] {
  const ids = new Set(known.map((device) => device.driverDeviceId));
  const names = new Set(known.map((device) => device.name));
  return seen
    .filter(
      (observed) => !ids.has(observed.driverDeviceId) && !(observed.name !== undefined && names.has(observed.name)),
    )
    .map((observed) => {
      const { driverDeviceId: device, name } = observed;
      const finding = {
        kind: "orphan-device",
        device,
        platform: driver.platform,
        ...(name === undefined ? {} : { name }),
      } as const;
      const own = ownOrphan(driver, observed);
      return own === undefined ? { finding } : { finding, remedy: purge(core, driver, own) };
    });
}

const NAME_PREFIX = "simlock-";

/** An orphan with our name and a mark that this home's own instance wrote: its driver proves both again before it removes anything. */
function ownOrphan(driver: Driver, { name, driverDeviceId, durableMark, spec }: Observed): OwnDevice | undefined {
  if (name === undefined || durableMark === undefined || !name.startsWith(NAME_PREFIX)) return undefined;
  const id = DeviceId.safeParse(name.slice(NAME_PREFIX.length));
  if (!id.success) return undefined;
  return {
    deviceId: id.data,
    driverDeviceId,
    name,
    mark: durableMark,
    spec: spec ?? { platform: driver.platform, model: "", osVersion: "" },
    baseline: undefined,
  };
}

function purge(core: Core, driver: Driver, own: OwnDevice): Remedy {
  return {
    action: "destroy-orphan",
    target: own.driverDeviceId ?? own.name,
    when: "purgeOrphans",
    async carryOut() {
      const { name } = own;
      const registered = devicesOf(core, driver.kind).some((device) => device.name === name);
      if (registered) throw new SimlockError("DEVICE_IN_USE", `${name} is in the registry after all.`);
      const bound = { timeoutMs: EFFECT_TIMEOUT_MS.destroy, what: `Removing ${name}` };
      await bounded(bound, async (signal) => driver.destroy(own, signal));
    },
  };
}

function mend(core: Core, device: Device, action: "forget-device" | "correct-state" | "quarantine"): Remedy {
  return {
    action,
    target: device.id,
    when: "fix",
    async carryOut() {
      const asked = core.loop.ask((replyTo) => ({ kind: "mend", replyTo, deviceId: device.id, action }));
      answered(await asked.answer, "done");
    },
  };
}

/** What is wrong by our own account, whatever the machine shows. */
function ownState(core: Core): readonly Report[] {
  const { state, config, clock } = core;
  const now = clock.now();
  const stalls = stalledDevices(state, now, config.stalledTransition).map(({ device, ageMs, thresholdMs }): Report => {
    const finding = {
      kind: "stalled-transition",
      deviceId: device.id,
      platform: device.spec.platform,
      state: device.state === "provisioning" ? "provisioning" : "reclaiming",
      enteredAt: device.stateSince,
      ageMs,
      thresholdMs,
    } as const;
    return { finding, remedy: mend(core, device, "quarantine") };
  });
  const stranded = [...state.devices.values()]
    .filter((device) => device.quarantine?.stranded === true)
    .map((device): Report => {
      const problem = device.quarantine?.error ?? "";
      return { finding: { kind: "stranded-device", deviceId: device.id, platform: device.spec.platform, problem } };
    });
  return [...expiredLeases(core, now.mono), ...stalls, ...stranded];
}

/** How far past its deadline a lease is before somebody should look: the timer that ends it may just be about to. */
const EXPIRY_SLACK_MS = 5000;

function expiredLeases(core: Core, mono: number): readonly Report[] {
  const next = core.state.deadlines.next();
  if (next === undefined || next > mono - EXPIRY_SLACK_MS) return [];
  return [...core.state.leases.values()]
    .filter((lease) => (core.state.deadlines.get(`lease:${lease.id}`) ?? Infinity) < mono - EXPIRY_SLACK_MS)
    .map(({ id: leaseId, deviceId }) => ({
      finding: { kind: "expired-live-lease", leaseId, deviceId },
      remedy: {
        action: "expire-lease",
        target: leaseId,
        when: "fix",
        async carryOut() {
          core.loop.submit({ kind: "tick" });
          await core.loop.settled();
        },
      },
    }));
}
