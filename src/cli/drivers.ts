import { layoutOf } from "../contract/index.ts";
import type { DriverContext } from "../daemon/index.ts";
import { createSimulatorDriver, type Driver, type ToolCommand } from "../devices/index.ts";
import { callTool } from "../exec/index.ts";
import { createVirtualMac, virtualXcrun } from "../virtual/index.ts";

/**
 * The kinds of devices that a daemon of this home serves. A virtual home has the simulators of its simulated Mac and nothing else: the host's own
 * adb server and its devices are real, and stay out of it.
 */
export function driversOf(context: DriverContext): readonly Driver[] {
  const { home, config } = context;
  const log = context.log("simulator");
  const simulators = createSimulatorDriver({
    xcrun: home.virtual ? virtualMac(layoutOf(home).virtualMac) : realXcrun(),
    call: callTool,
    deviceSet: config.ios.deviceSet,
    instanceId: context.instanceId,
    defaultModels: config.ios.defaultModels,
    bootTimeoutMs: config.ios.bootTimeoutMs,
    log: (level, message, details) => log[level](details ?? {}, message),
  });
  return [simulators];
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
