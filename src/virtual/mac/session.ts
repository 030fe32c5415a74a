import type { Call } from "./call.ts";
import type { Device, Session, Settings } from "./device.ts";
import { runningDevice } from "./selection.ts";

/** Changes what lives as long as the device runs. Throws unless it is booted. */
export function changeSession(call: Call, word: string, change: (session: Session, device: Device) => Session): void {
  call.set.write(() => {
    const device = runningDevice(call.set, word);
    call.set.put({ ...device, session: change(sessionOf(device), device) });
  });
}

/** Changes what an erase puts back. Throws unless the device is booted. */
export function changeSettings(call: Call, word: string, change: (settings: Settings) => Settings): void {
  call.set.write(() => {
    const device = runningDevice(call.set, word);
    call.set.put({ ...device, settings: change(device.settings) });
  });
}

/** A device that is booted has a session. */
export function sessionOf(device: Device): Session {
  if (device.session === null) throw new Error(`${device.udid} is booted and has no session`);
  return device.session;
}
