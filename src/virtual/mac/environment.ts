import type { Call } from "./call.ts";
import type { Device } from "./device.ts";
import { dataOf } from "./device-folder.ts";
import { runtimeRoot } from "./runtime-files.ts";
import { runtimeOf, typeOf } from "./selection.ts";

/** What programs in the device find in their environment. */
export function deviceEnvironment(call: Call, device: Device): Readonly<Record<string, string>> {
  const type = typeOf(device);
  const runtime = runtimeOf(device);
  const data = dataOf(call.set, device.udid);
  const version = `Device: ${device.name} (${device.udid}) - Runtime: ${runtime.name} (${runtime.build}) - DeviceType: ${type.name}`;
  return {
    HOME: data,
    CFFIXED_USER_HOME: data,
    TMPDIR: `${data}/tmp`,
    PATH: "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin",
    SIMULATOR_UDID: device.udid,
    SIMULATOR_DEVICE_NAME: device.name,
    SIMULATOR_MODEL_IDENTIFIER: type.modelIdentifier,
    SIMULATOR_ROOT: runtimeRoot(call.root, runtime),
    SIMULATOR_SHARED_RESOURCES_DIRECTORY: data,
    SIMULATOR_MAINSCREEN_WIDTH: String(type.width),
    SIMULATOR_MAINSCREEN_HEIGHT: String(type.height),
    SIMULATOR_RUNTIME_VERSION: runtime.version,
    SIMULATOR_RUNTIME_BUILD_VERSION: runtime.build,
    SIMULATOR_VERSION_INFO: `CoreSimulator - ${version}`,
  };
}

/** `SIMCTL_CHILD_NAME=value` on the host becomes `NAME=value` in the device. */
export function childVariables(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const prefix = "SIMCTL_CHILD_";
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      name.startsWith(prefix) && value !== undefined ? [[name.slice(prefix.length), value]] : [],
    ),
  );
}
