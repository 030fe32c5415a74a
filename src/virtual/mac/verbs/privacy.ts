import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { dataOf } from "../device-folder.ts";
import { failure } from "../failure.ts";
import { PrivacyStore } from "../privacy-store.ts";
import { runningDevice } from "../selection.ts";
import { endApp } from "./launch.ts";

/** The services' names in the privacy database. Location is not kept there: see `PrivacyStore`. */
const SERVICES: Readonly<Record<string, readonly string[]>> = {
  calendar: ["kTCCServiceCalendar"],
  "contacts-limited": ["kTCCServiceContactsLimited"],
  contacts: ["kTCCServiceAddressBook"],
  location: ["location"],
  "location-always": ["location-always"],
  "photos-add": ["kTCCServicePhotosAdd"],
  photos: ["kTCCServicePhotos"],
  "media-library": ["kTCCServiceMediaLibrary"],
  microphone: ["kTCCServiceMicrophone"],
  motion: ["kTCCServiceMotion"],
  reminders: ["kTCCServiceReminders"],
  siri: ["kTCCServiceSiri"],
  // Works although no help text lists it.
  camera: ["kTCCServiceCamera"],
};

const FORM = "<device> grant | revoke | reset <service> [<bundle identifier>]";

/** `privacy DEVICE grant | revoke | reset SERVICE [BUNDLE]`. A change ends the app if it runs, as the system does. */
export function privacy(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("privacy", args, {});
  const { udid } = runningDevice(call.set, operand(parsed, 0, "privacy", FORM));
  const action = operand(parsed, 1, "privacy", FORM);
  const service = operand(parsed, 2, "privacy", FORM);
  const bundleId = parsed.operands[3];
  if (action !== "grant" && action !== "revoke" && action !== "reset") {
    throw failure("usage", { why: `usage: simctl privacy ${FORM}` });
  }
  const names =
    service === "all"
      ? Object.values(SERVICES).flat()
      : Object.hasOwn(SERVICES, service)
        ? SERVICES[service]
        : undefined;
  if (names === undefined) throw failure("invalidValue", { what: "service", value: service });
  if (bundleId === undefined && action !== "reset") {
    throw failure("usage", { why: `privacy ${action} needs a bundle identifier.\nusage: simctl privacy ${FORM}` });
  }
  const store = new PrivacyStore(dataOf(call.set, udid));
  try {
    const changed = store.change(action, names, bundleId);
    if (changed && bundleId !== undefined) call.set.write(() => endApp(call, udid, bundleId));
  } finally {
    store.close();
  }
}
