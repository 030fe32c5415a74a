import { expect, test } from "vitest";
import { Finding, Mend } from "../../contract/index.ts";
import { doctorText } from "./doctor.ts";
import { plain } from "./paint.ts";

const missing = Finding.parse({
  kind: "prerequisite-missing",
  platform: "ios",
  prerequisite: "xcode",
  message: "Xcode was not found.",
  remedy: "Install Xcode.",
  tried: ["/Applications/Xcode.app"],
});
const orphan = Finding.parse({ kind: "orphan-device", device: "UDID-1", platform: "ios", name: "simlock-dev_9" });

test("what is missing comes with the places tried and the remedy", () => {
  expect(doctorText({ findings: [missing], mends: [] }, plain)).toBe(
    "Missing [ios] xcode: Xcode was not found.\n    looked at /Applications/Xcode.app\n    remedy Install Xcode.",
  );
});

test("what could be mended names the flag that does it, what was done says so", () => {
  const would = doctorText(
    { findings: [orphan], mends: [Mend.parse({ action: "destroy-orphan", target: "UDID-1", done: false })] },
    plain,
  );
  expect(would).toContain('UDID-1 "simlock-dev_9"');
  expect(would).toContain("Run simlock doctor --purge-orphans to do it.");
  const done = doctorText(
    { findings: [orphan], mends: [Mend.parse({ action: "expire-lease", target: "lse_1", done: true })] },
    plain,
  );
  expect(done).toContain("Done:\n  expire-lease lse_1");
  expect(done).not.toContain("Run simlock");
});

test("nothing found is good news", () => {
  expect(doctorText({ findings: [], mends: [] }, plain)).toBe("All is well.");
});

test("every kind of finding has words of its own", () => {
  const device = { deviceId: "dev_1", platform: "ios" };
  const all = [
    { kind: "registry-device-missing", ...device },
    { kind: "expired-live-lease", leaseId: "lse_1", deviceId: "dev_1" },
    { kind: "foreign-state-change", ...device, expected: "running", observed: "stopped" },
    { kind: "foreign-provenance-change", ...device, detail: "erased" },
    { kind: "stalled-transition", ...device, state: "provisioning", enteredAt: 0, ageMs: 90_000, thresholdMs: 60_000 },
    { kind: "stranded-device", ...device, problem: "erase failed" },
    { kind: "driver-advisory", platform: "ios", code: "x", message: "y" },
    { kind: "unreadable", platform: "ios", message: "simctl hangs" },
  ].map((finding) => Finding.parse(finding));
  const lines = doctorText({ findings: [...all, missing, orphan], mends: [] }, plain).split("\n");
  expect(new Set(lines).size).toBe(lines.length);
  expect(lines.length).toBe(all.length + 4);
});
