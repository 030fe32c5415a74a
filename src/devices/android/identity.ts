import { createHash } from "node:crypto";
import type { DeviceSpec } from "../../contract/index.ts";
import { parseProperties } from "./properties.ts";

/** What a device says of itself. */
export interface DeviceIdentity {
  /** The same under any serial, after a reboot and an update of its OS; another after a factory reset. */
  readonly id: string;
  /** Of this boot of this device: what tells two with one identity apart, and proves cheaply that it is still the same. */
  readonly bootId: string | undefined;
  readonly spec: DeviceSpec;
}

export type IdentityVerdict =
  | { readonly kind: "known"; readonly identity: DeviceIdentity }
  /** It answers, but its system is still coming up: ask again. */
  | { readonly kind: "starting"; readonly why: string }
  | { readonly kind: "none"; readonly why: string };

const MARK = "--simlock-part--";

export const BOOT_ID_FILE = "/proc/sys/kernel/random/boot_id";

/** One command that asks for all of it. `settings` is a program on the device that takes a tenth of a second, so it is asked once a connection. */
export const IDENTITY_COMMAND = [
  `read -r boot <${BOOT_ID_FILE}; echo "$boot"; echo ${MARK}`,
  // The first user's: another user's differs, and a holder may have switched.
  `settings --user 0 get secure android_id; echo ${MARK}$?`,
  "getprop",
].join("; ");

/**
 * Serial numbers that makers and emulators give to many devices. USB's own stand-in for a missing one is `????????????`; every emulator of a
 * version says `EMULATOR…`.
 */
const PLACEHOLDER =
  /^(\?+|0+|unknown|emulator.*|(.)\2+|0123456789abcdef.*|1234567890.*|12345678|abcdef.*|none|null|default.*)$/i;

export function isPlaceholderSerial(serial: string): boolean {
  return serial === "" || PLACEHOLDER.test(serial);
}

/** Reads the answer to `IDENTITY_COMMAND`. Pure. */
export function readIdentity(stdout: string): IdentityVerdict {
  const [boot = "", setting = "", ...others] = stdout.split(MARK);
  const rest = others.join(MARK);
  const end = rest.indexOf("\n");
  const settingsCode = rest.slice(0, end === -1 ? undefined : end).trim();
  const properties = parseProperties(end === -1 ? "" : rest.slice(end + 1));
  const property = (...names: string[]): string => {
    for (const name of names) {
      const value = properties.get(name)?.trim();
      if (value !== undefined && value !== "") return value;
    }
    return "";
  };

  if (properties.size === 0) return { kind: "starting", why: "it says nothing of itself yet" };
  if (property("sys.boot_completed", "dev.bootcomplete") !== "1")
    return { kind: "starting", why: "it is still starting" };

  const androidId = readAndroidId(setting.trim(), settingsCode);
  if (androidId === undefined) return { kind: "starting", why: "its settings can't be read yet" };
  const serialNumber = property("ro.serialno", "ro.boot.serialno");
  const ownSerial = isPlaceholderSerial(serialNumber) ? "" : serialNumber;
  if (ownSerial === "" && androidId === "") {
    return {
      kind: "none",
      why: "it has neither a serial number nor an Android id of its own, so it can't be told from another",
    };
  }

  // What an update or a renaming changes (fingerprint, model) is no part of it. A reset of the device changes its Android id: it is then
  // another device for us, since what its enrolment listed is gone.
  const facts = [
    property("ro.product.manufacturer", "ro.product.vendor.manufacturer"),
    property("ro.product.device", "ro.product.vendor.device"),
    ownSerial,
    property("ro.boot.qemu.avd_name", "ro.kernel.qemu.avd_name"),
    androidId,
  ];
  const hash = createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, 32);
  const bootId = boot.trim();
  return {
    kind: "known",
    identity: {
      id: `android-${hash}`,
      bootId: isBootId(bootId) ? bootId : undefined,
      spec: {
        platform: "android",
        model: clip(
          property("ro.product.model", "ro.product.vendor.model", "ro.product.name") || "Android device",
          256,
        ),
        osVersion: clip(property("ro.build.version.release") || "0", 100),
      },
    },
  };
}

/** Random at each boot of a kernel. */
export function isBootId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}

/** Empty where the device has none; undefined where it can't be read now. A user land without `settings` (127) will never have one. */
function readAndroidId(setting: string, exitCode: string): string | undefined {
  if (exitCode === "127") return "";
  if (exitCode !== "0") return undefined;
  if (setting === "null") return "";
  return /^[0-9a-f]{1,32}$/i.test(setting) ? setting.toLowerCase() : undefined;
}

function clip(text: string, length: number): string {
  return text.replace(/\s+/g, " ").slice(0, length);
}
