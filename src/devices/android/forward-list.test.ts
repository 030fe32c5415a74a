import { expect, test } from "vitest";
import { forwardMap, parseForwards } from "./forward-list.ts";

test("each line is a serial, a LOCAL and a REMOTE", () => {
  expect(
    parseForwards("emulator-5554 tcp:6100 tcp:7100\nR58M tcp:8080 localabstract:chrome_devtools_remote\n"),
  ).toEqual([
    { serial: "emulator-5554", local: "tcp:6100", remote: "tcp:7100" },
    { serial: "R58M", local: "tcp:8080", remote: "localabstract:chrome_devtools_remote" },
  ]);
});

test("a serial with blanks and a REMOTE with blanks are kept whole", () => {
  expect(parseForwards("adb-4c75 (2)._adb-tls-connect._tcp tcp:1 shell:ls -l tcp:2 x\n")).toEqual([
    { serial: "adb-4c75 (2)._adb-tls-connect._tcp", local: "tcp:1", remote: "shell:ls -l tcp:2 x" },
  ]);
});

test("network serials are no LOCAL", () => {
  expect(parseForwards("127.0.0.1:5555 tcp:1 tcp:2\n")).toEqual([
    { serial: "127.0.0.1:5555", local: "tcp:1", remote: "tcp:2" },
  ]);
});

test("the reverses of a device, as adbd 34 tells them, are of its own side", () => {
  expect(parseForwards("host-18 tcp:9999 tcp:9998\n")).toEqual([
    { serial: "host-18", local: "tcp:9999", remote: "tcp:9998" },
  ]);
});

test("nothing, and what is no forward, give nothing", () => {
  expect(parseForwards("")).toEqual([]);
  expect(parseForwards("\nwhat\n")).toEqual([]);
  expect(forwardMap(parseForwards("a tcp:1 tcp:2")).get("tcp:1")).toBe("a");
});
