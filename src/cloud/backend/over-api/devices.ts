import { endpoints } from "../../api/index.ts";
import type { DevicesBackend } from "../devices.ts";
import type { Call } from "./calls.ts";

const { devices, screen, deviceApps } = endpoints;

export function devicesOverApi(call: Call): DevicesBackend {
  return {
    listDevices: (query, within) => call(devices.list, { query, ...within }),
    getDevice: (deviceId, within) => call(devices.get, { path: { deviceId }, ...within }),
    getDeviceScreenshot: (deviceId, { hideOverlay } = {}, within) =>
      call(screen.screenshot, { path: { deviceId }, query: { hideOverlay }, ...within }),
    getDeviceUiState: (deviceId, within) =>
      call(screen.uiState, { path: { deviceId }, query: { filter: true }, ...within }),
    listAppsOnDevice: (deviceId, query, within) => call(deviceApps.list, { path: { deviceId }, query, ...within }),
    createDevice: ({ deviceType, country, name }, within) =>
      call(devices.create, { query: { deviceType, country }, body: { name }, ...within }),
    terminateDevice: (deviceId, within) => call(devices.terminate, { path: { deviceId }, body: {}, ...within }),
  };
}
