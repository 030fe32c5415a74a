import type { AttachedDevice } from "../../contract/index.ts";
import type { Paint } from "./paint.ts";
import { safe, table } from "./table.ts";

/** What `simlock device list` says to a person. */
export function attachedText(devices: readonly AttachedDevice[], paint: Paint): string {
  if (devices.length === 0) {
    return "No attached device is seen. Connect one with USB debugging allowed, then enrol it: simlock device add <serial>.";
  }
  const rows = devices.map((device) => [
    safe(device.serial),
    safe(device.model ?? "-"),
    `${device.platform} ${safe(device.osVersion ?? "")}`.trim(),
    safe(device.state),
    enrolment(device, paint),
  ]);
  const hints = devices.flatMap((device) =>
    device.hint === undefined ? [] : [`${safe(device.serial)}: ${safe(device.hint)}`],
  );
  return [...table(["SERIAL", "MODEL", "OS", "STATE", "ENROLLED"], rows, paint), ...hints].join("\n");
}

function enrolment(device: AttachedDevice, paint: Paint): string {
  const reason = device.leasable || device.reason === undefined ? "" : `: ${paint("red", safe(device.reason))}`;
  if (device.enrolled === undefined) return `${paint("gray", "no")}${reason}`;
  return `${paint("green", device.enrolled)}${device.shared === true ? " shared" : ""}${reason}`;
}
