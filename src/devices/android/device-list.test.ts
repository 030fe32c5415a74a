import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDeviceList } from "./device-list.ts";

const brief = (text: string) => parseDeviceList(text).map(({ serial, state }) => [serial, state]);

describe("the list of adb devices", () => {
  test("a long line gives serial, state, transport and fields", () => {
    const [device] = parseDeviceList(
      "List of devices attached\nR58M12 device usb:1-2 product:a52q model:SM_A525F device:a52q transport_id:3\n\n",
    );
    expect(device).toMatchObject({ serial: "R58M12", state: "device", message: undefined, transportId: 3 });
    expect(Object.fromEntries(device?.fields ?? [])).toEqual({
      usb: "1-2",
      product: "a52q",
      model: "SM_A525F",
      device: "a52q",
      transport_id: "3",
    });
  });

  test("no permissions: with its reason, after a tab", () => {
    expect(
      parseDeviceList(
        "A1\tno permissions (user in plugdev group; are your udev rules wrong?); see [http://developer.android.com/tools/device.html]\n",
      ),
    ).toMatchObject([
      {
        serial: "A1",
        state: "no permissions",
        message:
          "(user in plugdev group; are your udev rules wrong?); see [http://developer.android.com/tools/device.html]",
      },
    ]);
  });

  test("no permissions: with fields and without a reason", () => {
    expect(parseDeviceList("A1 no permissions usb:1-2 transport_id:3")).toMatchObject([
      { serial: "A1", state: "no permissions", message: undefined, transportId: 3 },
    ]);
  });

  test("no permissions: padded, with a reason and fields", () => {
    expect(
      parseDeviceList(
        "A1                     no permissions (missing udev rules? user is in the plugdev group); see [http://x/y] usb:1-2 transport_id:3",
      ),
    ).toMatchObject([
      {
        serial: "A1",
        state: "no permissions",
        message: "(missing udev rules? user is in the plugdev group); see [http://x/y]",
        transportId: 3,
      },
    ]);
  });

  test.each([
    ...["device", "unauthorized", "authorizing", "connecting", "offline", "host", "recovery", "sideload"],
    ...["bootloader", "rescue", "detached", "levitating"],
  ])("the state %s is kept as it is, in every form of a line", (state) => {
    const forms = [
      `A1\t${state}`,
      `A1\t${state}\r`,
      `A1\t${state}   `,
      `A1                     ${state}`,
      `A1                     ${state} usb:1-2 transport_id:3`,
      `A-SERIAL-OF-TWENTY-THREE ${state} transport_id:3`,
    ];
    expect(forms.flatMap(brief).map(([, read]) => read)).toEqual(forms.map(() => state));
  });

  test("a state of several words that nobody has heard of is kept whole", () => {
    expect(brief("A1                     some new state usb:1-2 transport_id:3")).toEqual([["A1", "some new state"]]);
  });

  test("carriage returns and blanks at the end change nothing", () => {
    const text = "List of devices attached\nA1\tdevice\nB2\toffline\n\n";
    const read = parseDeviceList(text);
    expect(read).toHaveLength(2);
    expect(parseDeviceList(text.replaceAll("\n", "\r\n"))).toEqual(read);
    expect(parseDeviceList(text.replaceAll("\n", "  \n"))).toEqual(read);
  });

  test("a serial keeps its blank and its brackets", () => {
    expect(brief("adb-4c75-lL2h (2)._adb-tls-connect._tcp\tdevice product:p model:M")).toEqual([
      ["adb-4c75-lL2h (2)._adb-tls-connect._tcp", "device"],
    ]);
    expect(brief("my device (2)          device product:p")).toEqual([["my device (2)", "device"]]);
    // Over 22 columns the long form leaves one blank.
    expect(brief("adb-4c75-lL2h (2)._adb-tls-connect._tcp device product:p model:M transport_id:9")).toEqual([
      ["adb-4c75-lL2h (2)._adb-tls-connect._tcp", "device"],
    ]);
    expect(brief("adb-4c75-lL2h (2)._adb-tls-connect._tcp no permissions (x); see [http://x] transport_id:9")).toEqual([
      ["adb-4c75-lL2h (2)._adb-tls-connect._tcp", "no permissions"],
    ]);
  });

  test("network serials are read whole", () => {
    const serials = ["localhost:36790", "192.168.0.7:5555", "Host.local:46345", "[fe80::1]:5555"];
    expect(serials.flatMap((serial) => brief(`${serial}\tdevice`))).toEqual(
      serials.map((serial) => [serial, "device"]),
    );
    expect(serials.flatMap((serial) => brief(`${serial.padEnd(22)} device product:p transport_id:1`))).toEqual(
      serials.map((serial) => [serial, "device"]),
    );
  });

  test("duplicates and placeholders are all there", () => {
    expect(
      brief(
        "????????????           device transport_id:1\n????????????           device transport_id:2\n0123456789ABCDEF\tdevice",
      ),
    ).toEqual([
      ["????????????", "device"],
      ["????????????", "device"],
      ["0123456789ABCDEF", "device"],
    ]);
  });

  test("a device without a serial is there", () => {
    expect(brief("(no serial number)     device usb:1-1 transport_id:1")).toEqual([["(no serial number)", "device"]]);
  });

  test("a ghost does not hide the healthy one", () => {
    expect(brief("emulator-5562\toffline\nemulator-5554\tdevice")).toEqual([
      ["emulator-5562", "offline"],
      ["emulator-5554", "device"],
    ]);
  });

  test("what the client prints around the list is no device", () => {
    expect(
      brief(
        [
          "* daemon not running; starting now at tcp:5037",
          "* daemon started successfully",
          "adb server version (40) doesn't match this client (41); killing...",
          "List of devices attached",
          "A1\tdevice",
        ].join("\n"),
      ),
    ).toEqual([["A1", "device"]]);
  });

  test("a line that makes no sense is left out and the others stand", () => {
    expect(brief("A1\tdevice\ngarbage\n\t\n   \nB2\tdevice")).toEqual([
      ["A1", "device"],
      ["B2", "device"],
    ]);
  });

  test("an empty field is a field: devices that name no product", () => {
    expect(parseDeviceList("emulator-5554          device product: model: transport_id:1")).toMatchObject([
      { serial: "emulator-5554", state: "device", transportId: 1 },
    ]);
  });

  test("whatever adb writes for a device is read back", () => {
    const word = fc.stringMatching(/^[A-Za-z0-9._:-]{1,30}$/);
    const serial = fc.oneof(
      word,
      fc.tuple(word, word).map(([a, b]) => `${a} (${b})`),
    );
    const state = fc.constantFrom("device", "offline", "unauthorized", "recovery", "no permissions", "host");
    fc.assert(
      fc.property(serial, state, fc.nat({ max: 99_999 }), fc.boolean(), (name, word_, id, long) => {
        const line = long ? `${name.padEnd(22)} ${word_} usb:1-2 transport_id:${id}` : `${name}\t${word_}`;
        expect(parseDeviceList(`List of devices attached\n${line}\n`)).toMatchObject([
          { serial: name, state: word_, transportId: long ? id : undefined },
        ]);
      }),
    );
  });

  test("no text makes it throw, and what is read has a serial and a state", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        for (const { serial, state } of parseDeviceList(`${text}\nA1\tdevice`))
          expect(serial !== "" && state !== "").toBe(true);
      }),
    );
  });
});
