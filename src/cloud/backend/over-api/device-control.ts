import { endpoints } from "../../api/index.ts";
import type { DeviceControlBackend, OnDisplay } from "../device-control.ts";
import type { Call } from "./calls.ts";

const { devices, screen, deviceApps, deviceFiles, deviceSettings, esim, recordings } = endpoints;

/** Which display is meant travels in a header, not in the body. */
function onDisplay<T extends OnDisplay>({ displayId, ...body }: T) {
  return { headers: { displayId }, body };
}

export function deviceControlOverApi(call: Call): DeviceControlBackend {
  return {
    ...lifecycle(call),
    ...input(call),
    ...apps(call),
    ...files(call),
    ...settings(call),
    ...sim(call),
    ...films(call),
  };
}

function lifecycle(call: Call) {
  return {
    rebootDevice: (deviceId, within) => call(devices.reboot, { path: { deviceId }, ...within }),
    resetDevice: (deviceId, within) => call(devices.reset, { path: { deviceId }, ...within }),
    renameDevice: async (deviceId, name, within) => {
      await call(devices.rename, { path: { deviceId }, body: { name }, ...within });
    },
    waitDeviceReady: async (deviceId, within) => {
      await call(devices.waitReady, { path: { deviceId }, ...within });
    },
    parkDevice: (deviceId, within) => call(devices.stop, { path: { deviceId }, ...within }),
    resumeDevice: (deviceId, within) => call(devices.resume, { path: { deviceId }, ...within }),
    getDeviceCapabilities: (deviceId, within) => call(devices.capabilities, { path: { deviceId }, ...within }),
    getDeviceFingerprint: (deviceId, within) => call(devices.fingerprint, { path: { deviceId }, ...within }),
    countDevices: (within) => call(devices.count, { ...within }),
  } satisfies Partial<DeviceControlBackend>;
}

function input(call: Call) {
  return {
    tap: (deviceId, tap, within) => call(screen.tap, { path: { deviceId }, ...onDisplay(tap), ...within }),
    swipe: (deviceId, swipe, within) => call(screen.swipe, { path: { deviceId }, ...onDisplay(swipe), ...within }),
    keyboardWrite: (deviceId, typing, within) =>
      call(screen.type, { path: { deviceId }, ...onDisplay(typing), ...within }),
    keyboardKey: (deviceId, press, within) =>
      call(screen.pressKey, { path: { deviceId }, ...onDisplay(press), ...within }),
    keyboardClear: (deviceId, { displayId }, within) =>
      call(screen.clearText, { path: { deviceId }, headers: { displayId }, ...within }),
    globalAction: (deviceId, act, within) =>
      call(screen.globalAction, { path: { deviceId }, ...onDisplay(act), ...within }),
    openDeepLink: (deviceId, link, within) =>
      call(deviceApps.openDeepLink, { path: { deviceId }, ...onDisplay(link), ...within }),
    executeScript: (deviceId, script, within) =>
      call(screen.executeScript, { path: { deviceId }, ...onDisplay(script), ...within }),
  } satisfies Partial<DeviceControlBackend>;
}

function apps(call: Call) {
  return {
    installApp: (deviceId, body, within) => call(deviceApps.install, { path: { deviceId }, body, ...within }),
    listInstalls: async (deviceId, within) =>
      (await call(deviceApps.installs, { path: { deviceId }, ...within })).installs,
    deleteApp: (deviceId, packageName, within) =>
      call(deviceApps.remove, { path: { deviceId, packageName }, body: {}, ...within }),
    startApp: (deviceId, packageName, body, within) =>
      call(deviceApps.start, { path: { deviceId, packageName }, body, ...within }),
    stopApp: (deviceId, packageName, body, within) =>
      call(deviceApps.stop, { path: { deviceId, packageName }, body, ...within }),
    grantPermission: (deviceId, packageName, permission, within) =>
      call(deviceApps.grantPermission, { path: { deviceId, packageName, permission }, ...within }),
    revokePermission: (deviceId, packageName, permission, within) =>
      call(deviceApps.revokePermission, { path: { deviceId, packageName, permission }, ...within }),
    listPackages: (deviceId, query, within) => call(deviceApps.packages, { path: { deviceId }, query, ...within }),
    enterKiosk: (deviceId, packageName, within) =>
      call(deviceApps.enterKiosk, { path: { deviceId }, body: { packageName }, ...within }),
    leaveKiosk: (deviceId, within) => call(deviceApps.leaveKiosk, { path: { deviceId }, ...within }),
  } satisfies Partial<DeviceControlBackend>;
}

function files(call: Call) {
  return {
    listFiles: (deviceId, path, within) => call(deviceFiles.list, { path: { deviceId }, query: { path }, ...within }),
    uploadFile: (deviceId, { path, fileName: name, bytes, contentType }, within) =>
      call(deviceFiles.upload, {
        path: { deviceId },
        query: { path },
        body: { name, bytes, ...(contentType === undefined ? {} : { contentType }) },
        ...within,
      }),
    downloadFile: (deviceId, path, within) =>
      call(deviceFiles.download, { path: { deviceId }, query: { path }, ...within }),
    deleteFile: (deviceId, path, within) =>
      call(deviceFiles.remove, { path: { deviceId }, query: { path }, ...within }),
  } satisfies Partial<DeviceControlBackend>;
}

function settings(call: Call) {
  return {
    getLanguage: (deviceId, within) => call(deviceSettings.language, { path: { deviceId }, ...within }),
    setLanguage: (deviceId, body, within) => call(deviceSettings.setLanguage, { path: { deviceId }, body, ...within }),
    getTimezone: (deviceId, within) => call(deviceSettings.timezone, { path: { deviceId }, ...within }),
    setTimezone: (deviceId, timezone, within) =>
      call(deviceSettings.setTimezone, { path: { deviceId }, body: { timezone }, ...within }),
    getLocation: (deviceId, within) => call(deviceSettings.location, { path: { deviceId }, ...within }),
    setLocation: (deviceId, body, within) => call(deviceSettings.setLocation, { path: { deviceId }, body, ...within }),
    resetLocation: (deviceId, within) => call(deviceSettings.resetLocation, { path: { deviceId }, ...within }),
    getTime: async (deviceId, within) => ({ time: await call(screen.time, { path: { deviceId }, ...within }) }),
    getOverlay: (deviceId, within) => call(screen.overlay, { path: { deviceId }, ...within }),
    setOverlay: (deviceId, visible, within) =>
      call(screen.setOverlay, { path: { deviceId }, body: { visible }, ...within }),
    connectProxy: (deviceId, body, within) =>
      call(deviceSettings.connectProxy, { path: { deviceId }, body, ...within }),
    disconnectProxy: (deviceId, within) => call(deviceSettings.disconnectProxy, { path: { deviceId }, ...within }),
    getProxyStatus: (deviceId, within) => call(deviceSettings.proxy, { path: { deviceId }, ...within }),
  } satisfies Partial<DeviceControlBackend>;
}

function sim(call: Call) {
  return {
    listEsims: (deviceId, within) => call(esim.list, { path: { deviceId }, ...within }),
    activateEsim: (deviceId, body, within) => call(esim.activate, { path: { deviceId }, body, ...within }),
    enableEsim: (deviceId, subId, within) => call(esim.enable, { path: { deviceId }, body: { subId }, ...within }),
    removeEsim: (deviceId, subId, within) => call(esim.remove, { path: { deviceId }, query: { subId }, ...within }),
    getEsimStatus: (deviceId, within) => call(esim.status, { path: { deviceId }, ...within }),
    listAccessPoints: (deviceId, within) => call(esim.accessPoints, { path: { deviceId }, ...within }),
    selectAccessPoint: (deviceId, body, within) =>
      call(esim.selectAccessPoint, { path: { deviceId }, body, ...within }),
    createAccessPoint: (deviceId, body, within) =>
      call(esim.createAccessPoint, { path: { deviceId }, body, ...within }),
    setRoaming: (deviceId, enabled, within) =>
      call(esim.setRoaming, { path: { deviceId }, body: { enabled }, ...within }),
  } satisfies Partial<DeviceControlBackend>;
}

function films(call: Call) {
  return {
    listRecordings: (deviceId, within) => call(recordings.list, { path: { deviceId }, ...within }),
    getRecording: (deviceId, recordingId, within) =>
      call(recordings.get, { path: { deviceId, recordingId }, ...within }),
    startRecording: (deviceId, body, within) => call(recordings.start, { path: { deviceId }, body, ...within }),
    stopRecording: (deviceId, recordingId, within) =>
      call(recordings.stop, { path: { deviceId, recordingId }, ...within }),
    deleteRecording: (deviceId, recordingId, within) =>
      call(recordings.remove, { path: { deviceId, recordingId }, ...within }),
  } satisfies Partial<DeviceControlBackend>;
}
