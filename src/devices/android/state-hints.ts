import type { ListedDevice } from "./device-list.ts";

export interface Unleasable {
  readonly reason: string;
  readonly hint: string;
}

/** Why a device in this state can't be leased, and what its owner can do. Any state but `device` is one. */
export function stateHint(listed: ListedDevice): Unleasable | undefined {
  if (listed.state === "device") return undefined;
  const known = HINTS[listed.state];
  if (known === undefined) {
    return { reason: `adb says "${listed.state}".`, hint: "Reconnect it, and see what `adb devices -l` says." };
  }
  return listed.message === undefined ? known : { ...known, reason: `${known.reason} ${listed.message}` };
}

const HINTS: Readonly<Record<string, Unleasable>> = {
  offline: {
    reason: "It is connected but does not answer.",
    hint: "Reconnect its cable or network, or restart it.",
  },
  unauthorized: {
    reason: "It does not trust this computer.",
    hint: "Unlock it and accept “Allow USB debugging”; if nothing is asked, revoke the authorizations in its developer options and reconnect it.",
  },
  authorizing: {
    reason: "It is being asked whether it trusts this computer.",
    hint: "Wait a moment, then look again.",
  },
  connecting: { reason: "The connection is being made.", hint: "Wait a moment, then look again." },
  "no permissions": {
    reason: "This user may not open its USB device.",
    hint: "Install the udev rules for Android (Debian: android-sdk-platform-tools-common) and reconnect it.",
  },
  host: { reason: "adb sees a computer there, not a device.", hint: "Set the other side to be a device." },
  recovery: { reason: "It runs its recovery, not Android.", hint: "Choose “Reboot system now” on the device." },
  rescue: { reason: "It is in rescue mode.", hint: "Restart it into Android." },
  sideload: {
    reason: "It waits for an update to be sideloaded.",
    hint: "Finish or cancel it on the device, then restart it.",
  },
  bootloader: { reason: "It is in its bootloader.", hint: "Run `fastboot reboot`, or restart it with its buttons." },
  detached: { reason: "The adb server let go of it.", hint: "Run `adb attach` for it." },
};
