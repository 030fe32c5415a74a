import { SimlockError, type Finding, type HostTool, type PlatformCatalog } from "../../contract/index.ts";
import type { Driver, Observed, OwnDevice } from "../driver.ts";
import type { CallTool } from "../tool-call.ts";
import { adbVersion, findAdb, INSTALL_HINT, startAdbServer, type AdbVersion, type Environment } from "./adb-program.ts";
import { adbServer } from "./adb-server.ts";
import { identifyAttached, listAttached } from "./attached.ts";
import { cleanDevice, type Proven } from "./clean.ts";
import { adbFailure, deviceFailure } from "./failures.ts";
import { forwardMap } from "./forward-list.ts";
import type { Log } from "./log.ts";
import { Presence } from "./presence.ts";
import { mayBeReconnected, observe, whereIs } from "./sight.ts";

export interface AndroidDriverOptions {
  /** Runs `adb version` and `adb start-server`; everything else goes over the adb server's socket. */
  readonly call: CallTool;
  /** Where adb lies. Left out it is looked for: `ANDROID_HOME`, `ANDROID_SDK_ROOT`, `~/Library/Android/sdk`, `~/Android/Sdk`, `PATH`, common places. */
  readonly adb?: { readonly file: string } | undefined;
  /** The user's own adb server, on 127.0.0.1. */
  readonly serverPort?: number | undefined;
  /** The host's environment: where adb is looked for, and what a server that we have to start is given. */
  readonly env?: Environment | undefined;
  /** Milliseconds between two readings of what is connected, beside what the server tells by itself. */
  readonly pollMs?: number | undefined;
  /** Milliseconds that a server which has just started is given to find its devices, before one that is not listed counts as gone. */
  readonly settleMs?: number | undefined;
  readonly log?: Log | undefined;
}

/** How long `boot` waits for a device that is connected to answer. */
const BOOT_MS = 60_000;
const BOOT_STEP_MS = 500;

/**
 * Attached Android devices on the user's adb server: USB, TCP, or an emulator that is not ours. The server is spoken to over its socket. Where none
 * listens, `watch`, `list`, `identify`, `boot` and `clean` may start one, as any adb command of the user would, once in the driver's life; a command of an
 * agent never does, and nothing ever stops it. Nothing is started before the first call.
 */
export function createAndroidDriver(options: AndroidDriverOptions): Driver {
  const env = options.env ?? process.env;
  const port = options.serverPort ?? 5037;
  const log: Log = options.log ?? (() => undefined);
  const named = options.adb?.file;
  const server = adbServer(port);
  const ended = new AbortController();
  let version: Promise<AdbVersion> | undefined;

  const presence = new Presence({
    server,
    pollMs: options.pollMs ?? 5_000,
    settleMs: options.settleMs ?? 3_000,
    log,
    startServer: async () => {
      log("info", "starting the user's adb server", { port });
      await startAdbServer(findAdb(named, env), port, env, options.call);
    },
  });

  const either = (signal?: AbortSignal): AbortSignal =>
    signal === undefined ? ended.signal : AbortSignal.any([ended.signal, signal]);

  /** Failures of adb as the door's own, and an end that was asked for as `CANCELLED`. */
  async function told<T>(
    signal: AbortSignal,
    work: () => Promise<T>,
    failure: (error: unknown) => unknown,
  ): Promise<T> {
    try {
      signal.throwIfAborted();
      return await work();
    } catch (error) {
      if (error instanceof SimlockError) throw error;
      if (signal.aborted)
        throw new SimlockError("CANCELLED", "The work on the device was cancelled.", { cause: error });
      throw failure(error);
    }
  }
  const onServer = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
    told(signal, work, (error) => adbFailure(error, port));
  const onDevice = <T>(signal: AbortSignal, device: OwnDevice, work: () => Promise<T>): Promise<T> =>
    told(signal, work, (error) => deviceFailure(error, device.name));

  const clientVersion = (): Promise<AdbVersion> => {
    version ??= adbVersion(findAdb(named, env), env, options.call).catch((error: unknown) => {
      version = undefined;
      throw error;
    });
    return version;
  };

  /** A client of another protocol version kills the server and starts its own, for everybody on this machine: no command may be run then. */
  async function agreeOnVersion(theirs: number): Promise<void> {
    const { protocol, tools } = await clientVersion();
    if (protocol === undefined || protocol === theirs) return;
    throw new SimlockError(
      "DEVICE_UNAVAILABLE",
      `The adb server on port ${port} speaks version ${theirs}, and ${findAdb(named, env)} (${tools}) speaks ${protocol}: a command of it would end the server for everybody.`,
      {
        hint: "Use one version of the platform-tools: run `adb kill-server` yourself, then `adb start-server` with the adb that is found first.",
      },
    );
  }

  /** Finds the device by its identity, and proves it where the list alone can't. Throws `DEVICE_UNAVAILABLE`. */
  async function prove(device: OwnDevice, start: boolean, signal: AbortSignal): Promise<Proven> {
    const id = device.driverDeviceId;
    if (id === undefined) throw new SimlockError("DEVICE_UNAVAILABLE", `${device.name} was never identified.`);
    for (const settle of [false, true]) {
      const { sights, protocol } = await presence.look({ settle, start, signal });
      await agreeOnVersion(protocol);
      const where = whereIs(id, sights);
      if (where.kind === "ambiguous") {
        throw new SimlockError(
          "DEVICE_UNAVAILABLE",
          `${device.name} can't be told from another connected device: ${where.serials.join(" and ")} say the same of themselves.`,
          { hint: "Disconnect all but one of them." },
        );
      }
      if (where.kind === "absent") continue;
      const { route, others } = where;
      if (mayBeReconnected(route.listed) && !(await presence.prove(route.listed, signal))) continue;
      return { route, serials: [route, ...others].map(({ listed }) => listed.serial) };
    }
    throw new SimlockError(
      "DEVICE_UNAVAILABLE",
      `${device.name} (${device.spec.model}) is not connected, or does not answer.`,
      {
        hint: "Reconnect it and unlock it; `simlock device list` shows what is connected and why it can't be used.",
      },
    );
  }

  async function settled(device: OwnDevice, signal: AbortSignal): Promise<Proven> {
    const until = performance.now() + BOOT_MS;
    for (;;) {
      try {
        return await prove(device, true, signal);
      } catch (error) {
        if (performance.now() >= until || signal.aborted) throw error;
      }
      await pause(BOOT_STEP_MS, signal);
    }
  }

  return {
    kind: "android",
    platform: "android",
    tools: ["adb"],

    // Attached devices are not made: what is enrolled brings its own model.
    catalog: async () => EMPTY_CATALOG,

    read: (signal) =>
      onServer(either(signal), async () =>
        observe((await presence.look({ settle: true, signal: either(signal) })).sights),
      ),

    create: async (device) => {
      throw new SimlockError(
        "NO_DRIVER",
        `${device.name} can't be made: an attached device is connected and enrolled.`,
        {
          hint: "Connect it, then `simlock device add <serial>`.",
        },
      );
    },

    boot: (device, signal) =>
      onDevice(either(signal), device, async () => {
        const { route } = await settled(device, either(signal));
        if (!(await presence.prove(route.listed, either(signal)))) {
          throw new SimlockError("DEVICE_UNAVAILABLE", `${device.name} does not answer.`, {
            hint: "Reconnect it, or restart it.",
          });
        }
        return { address: route.listed.serial };
      }),

    clean: (device, signal) =>
      onDevice(either(signal), device, async () => {
        if (device.baseline === undefined) {
          throw new SimlockError(
            "TOOL_FAILED",
            `${device.name} can't be cleaned: what was on it at its enrolment is not known.`,
            {
              hint: "Remove and add it again.",
            },
          );
        }
        const proven = await prove(device, true, either(signal));
        await cleanDevice({ server, log, signal: either(signal) }, proven, device.baseline);
        return { state: "ready", strategy: "uninstall", address: proven.route.listed.serial };
      }),

    shutdown: async () => undefined,
    destroy: async () => undefined,

    estimates: () => ({ provisionMs: 0, bootMs: 1_000, reclaimMs: 5_000 }),

    environment: (_device, address) => ({ ANDROID_SERIAL: address, ANDROID_ADB_SERVER_PORT: String(port) }),

    target: (device) =>
      onDevice(ended.signal, device, async () => {
        const { route } = await prove(device, false, ended.signal);
        return { kind: "android", serial: route.listed.serial };
      }),

    // With -H adb never starts a server, whatever it finds (seen with adb 29 and 34).
    command: () => ({ file: findAdb(named, env), prefix: ["-H", "127.0.0.1", "-P", String(port)], env: {} }),

    forwards: () => onServer(ended.signal, async () => forwardMap(await server.forwards(ended.signal))),

    prerequisites: async () => {
      try {
        findAdb(named, env);
        await clientVersion();
      } catch (error) {
        return [missing(error)];
      }
      try {
        await agreeOnVersion(await server.version(ended.signal));
        return [];
      } catch (error) {
        // No server yet is no fault: one is started when it is needed.
        if (!(error instanceof SimlockError)) return [];
        return [{ kind: "driver-advisory", platform: "android", code: "adb-version-mismatch", message: error.message }];
      }
    },

    hostTools: async (): Promise<readonly HostTool[]> => {
      try {
        const { tools } = await clientVersion();
        return [{ platform: "android", name: "platform-tools", version: tools.slice(0, 128) }];
      } catch {
        return [];
      }
    },

    attached: {
      list: (signal) =>
        onServer(either(signal), async () =>
          listAttached((await presence.look({ settle: true, start: true, signal: either(signal) })).sights),
        ),
      identify: (serial, signal) =>
        onServer(either(signal), async () => {
          const { sights } = await presence.look({ settle: true, start: true, signal: either(signal) });
          return identifyAttached(server, sights, serial, either(signal));
        }),
      watch: (changed: (devices: readonly Observed[]) => void, failed) =>
        presence.watch(
          (sights) => changed(observe(sights)),
          (error) => failed(adbFailure(error, port)),
        ),
    },

    dispose: async () => {
      ended.abort();
      await presence.dispose();
    },
  };
}

const EMPTY_CATALOG: PlatformCatalog = {
  platform: "android",
  models: [],
  runtimes: [],
  modelRuntimes: {},
  modelAliases: {},
  modelClasses: {},
  classDefaults: {},
};

function missing(error: unknown): Finding {
  const known = error instanceof SimlockError ? error : undefined;
  const tried = known?.details?.["tried"];
  return {
    kind: "prerequisite-missing",
    platform: "android",
    prerequisite: "android-platform-tools",
    message: known?.message ?? "adb does not answer.",
    remedy: known?.hint ?? INSTALL_HINT,
    ...(Array.isArray(tried) ? { tried: tried.map(String) } : {}),
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}
