import { describe, expect, test } from "vitest";
import { IDENTITY_COMMAND, isPlaceholderSerial, readIdentity } from "./identity.ts";

const MARK = "--simlock-part--";
const BOOT = "11111111-2222-3333-4444-555555555555";

interface Said {
  readonly boot?: string;
  readonly androidId?: string;
  readonly settingsCode?: string;
  readonly properties?: Readonly<Record<string, string>>;
}

const PHONE = {
  "sys.boot_completed": "1",
  "ro.serialno": "R58M12ABCDE",
  "ro.product.manufacturer": "samsung",
  "ro.product.device": "a52q",
  "ro.product.model": "SM-A525F",
  "ro.build.version.release": "14",
  "ro.build.fingerprint": "samsung/a52q/a52q:14/X/1:user/release-keys",
};

function answer({
  boot = BOOT,
  androidId = "a1b2c3d4e5f60718",
  settingsCode = "0",
  properties = PHONE,
}: Said = {}): string {
  const lines = Object.entries(properties).map(([name, value]) => `[${name}]: [${value}]`);
  return `${boot}\n${MARK}\n${androidId}\n${MARK}${settingsCode}\n${lines.join("\n")}\n`;
}

function idOf(said: Said): string {
  const verdict = readIdentity(answer(said));
  if (verdict.kind !== "known") throw new Error(verdict.why);
  return verdict.identity.id;
}

describe("a device's identity", () => {
  test("comes with its model, OS version and boot", () => {
    expect(readIdentity(answer())).toMatchObject({
      kind: "known",
      identity: { bootId: BOOT, spec: { platform: "android", model: "SM-A525F", osVersion: "14" } },
    });
  });

  test("stays after a reboot and an update of the OS", () => {
    const updated = {
      ...PHONE,
      "ro.build.version.release": "15",
      "ro.build.fingerprint": "new",
      "ro.product.model": "A52",
    };
    expect(idOf({ boot: BOOT.replace("1", "9"), properties: updated })).toBe(idOf({}));
  });

  test("is another after a factory reset: what its enrolment listed is gone", () => {
    expect(idOf({ androidId: "ffffffffffffffff" })).not.toBe(idOf({}));
  });

  test("differs where the serial number or the kind of device does", () => {
    const ids = [
      idOf({}),
      idOf({ properties: { ...PHONE, "ro.serialno": "R58M12ABCDF" } }),
      idOf({ properties: { ...PHONE, "ro.product.device": "a53" } }),
      idOf({ properties: { ...PHONE, "ro.boot.qemu.avd_name": "Pixel_8" } }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("is the serial number under either of its names", () => {
    const { "ro.serialno": serial, ...rest } = PHONE;
    expect(idOf({ properties: { ...rest, "ro.boot.serialno": serial } })).toBe(idOf({}));
  });

  test.each(["", "????????????", "0123456789ABCDEF", "unknown", "EMULATOR35X4X10X0", "0000000000", "1234567890"])(
    "a serial number that many have (%j) counts for nothing: the Android id alone tells it apart",
    (serial) => {
      const properties = { ...PHONE, "ro.serialno": serial };
      expect(isPlaceholderSerial(serial)).toBe(true);
      expect(idOf({ properties })).not.toBe(idOf({ properties, androidId: "bbbb" }));
      expect(readIdentity(answer({ properties, androidId: "null" })).kind).toBe("none");
    },
  );

  test("a real serial number is none of those", () => {
    for (const serial of ["R58M12ABCDE", "0123456789", "28091FDH2000AB", "emu-7f", "ZY22C"]) {
      expect([serial, isPlaceholderSerial(serial)]).toEqual([serial, false]);
    }
  });

  test("a user land without settings is known by its serial number", () => {
    expect(readIdentity(answer({ androidId: "", settingsCode: "127" })).kind).toBe("known");
  });

  test.each([
    ["settings that fail", { androidId: "cmd: Can't find service: settings", settingsCode: "20" }],
    ["settings that fail in the middle", { androidId: "a1b2", settingsCode: "1" }],
    ["settings that answer nonsense", { androidId: "java.lang.NullPointerException" }],
    ["a system that has not started", { properties: { ...PHONE, "sys.boot_completed": "" } }],
    ["empty properties", { properties: {} }],
  ] satisfies [string, Said][])("%s are no other identity but none yet", (_name, said) => {
    expect(readIdentity(answer(said)).kind).toBe("starting");
  });

  test("an answer that says nothing is none yet", () => {
    expect(readIdentity("").kind).toBe("starting");
    expect(readIdentity(`\n${MARK}\n${MARK}`).kind).toBe("starting");
  });

  test("a boot id that is none is none", () => {
    expect(readIdentity(answer({ boot: "'; rm -rf /" }))).toMatchObject({ identity: { bootId: undefined } });
  });

  test("the command asks for the first user's Android id, and ends with the properties", () => {
    expect(IDENTITY_COMMAND).toContain("settings --user 0 get secure android_id");
    expect(IDENTITY_COMMAND.endsWith("getprop")).toBe(true);
  });
});
