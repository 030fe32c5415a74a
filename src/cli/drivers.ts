import { layoutOf, type Home } from "../contract/index.ts";
import type { DriverContext } from "../daemon/index.ts";
import { createAndroidDriver, createSimulatorDriver, type Driver, type ToolCommand } from "../devices/index.ts";
import { callTool } from "../exec/index.ts";
import { createVirtualMac, virtualXcrun } from "../virtual/index.ts";

/**
 * The kinds of devices that a daemon of this home serves. A virtual home has the simulators of its simulated Mac and nothing else: the host's own
 * adb server and its devices are real, and stay out of it.
 */
export function driversOf(context: DriverContext): readonly Driver[] {
  const { home, config } = context;
  const simulators = createSimulatorDriver({
    xcrun: xcrunOf(home),
    call: callTool,
    deviceSet: config.ios.deviceSet,
    instanceId: context.instanceId,
    defaultModels: config.ios.defaultModels,
    bootTimeoutMs: config.ios.bootTimeoutMs,
    log: logOf(context, "simulator"),
  });
  if (home.virtual) return [simulators];
  const ours = process.platform === "darwin" ? simulators : withoutMac(simulators);
  const attached = createAndroidDriver({
    call: callTool,
    serverPort: config.android.adbServerPort,
    log: logOf(context, "android"),
  });
  return [ours, attached];
}

/** On a host that is no Mac there are no simulators, and nothing is wrong with that: it is told once, where somebody asks what is missing. */
function withoutMac(simulators: Driver): Driver {
  return {
    ...simulators,
    catalog: async () => ({
      platform: "ios",
      models: [],
      runtimes: [],
      modelRuntimes: {},
      modelAliases: {},
      modelClasses: {},
      classDefaults: {},
    }),
    read: async () => [],
    hostTools: async () => [],
    prerequisites: async () => [
      {
        kind: "driver-advisory",
        platform: "ios",
        code: "no-mac",
        message:
          "Simulators need a Mac with Xcode. This host can lease attached Android devices, and simulated ones with --virtual.",
      },
    ],
  };
}

function logOf(context: DriverContext, module: string) {
  const log = context.log(module);
  return (level: "debug" | "info" | "warn", message: string, details?: Readonly<Record<string, unknown>>): void =>
    log[level](details ?? {}, message);
}

/** How a home's `xcrun` is started: the real one, or the stand-in on the home's virtual Mac, which is made where it is not there yet. */
export function xcrunOf(home: Home): ToolCommand {
  return home.virtual ? virtualMac(layoutOf(home).virtualMac) : realXcrun();
}

function virtualMac(root: string): ToolCommand {
  createVirtualMac(root);
  return virtualXcrun(root);
}

/** `DEVELOPER_DIR` says which Xcode is meant: the daemon keeps the choice that it was started with. */
function realXcrun(): ToolCommand {
  const chosen = process.env["DEVELOPER_DIR"];
  return { file: "/usr/bin/xcrun", prefix: [], env: chosen === undefined ? {} : { DEVELOPER_DIR: chosen } };
}
