import { expect, test } from "vitest";
import { AttachedDevice } from "../../contract/index.ts";
import { attachedText } from "./attached.ts";
import { plain } from "./paint.ts";

test("each device with its state as adb says it, its enrolment, and why it can't be leased", () => {
  const devices = [
    {
      serial: "R58M1",
      state: "device",
      leasable: true,
      model: "Pixel 8",
      osVersion: "15",
      enrolled: "dev_1",
      shared: true,
    },
    {
      serial: "R58M2",
      state: "unauthorized",
      leasable: false,
      reason: "It does not trust this computer.",
      hint: "Allow it on its screen.",
    },
  ].map((device) => AttachedDevice.parse({ platform: "android", ...device }));
  expect(attachedText(devices, plain)).toBe(
    [
      "  SERIAL  MODEL    OS          STATE         ENROLLED",
      "  R58M1   Pixel 8  android 15  device        dev_1 shared",
      "  R58M2   -        android     unauthorized  no: It does not trust this computer.",
      "R58M2: Allow it on its screen.",
    ].join("\n"),
  );
});

test("nothing attached is told with the next step", () => {
  expect(attachedText([], plain)).toContain("simlock device add");
});
