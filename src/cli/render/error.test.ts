import { expect, test } from "vitest";
import { ERRORS, ERROR_CODES, SimlockError } from "../../contract/index.ts";
import { dropInText, errorLine, errorText, exitCodeOf } from "./error.ts";
import { plain } from "./paint.ts";

const busy = new SimlockError("NO_CAPACITY", "No ios iPhone 17 is free now.", {
  details: { holders: [{ leaseId: "lse_1", requesterId: "claude-code:7", model: "iPhone 17", expiresAt: 300_000 }] },
});

test("every code of the table has the exit code that the table gives it", () => {
  for (const code of ERROR_CODES) expect(exitCodeOf(new SimlockError(code, "x"))).toBe(ERRORS[code].exitCode);
});

test("a program gets one line of JSON with code, message, hint and details", () => {
  const line = errorLine(busy);
  expect(line).not.toContain("\n");
  expect(JSON.parse(line)).toEqual({
    error: { code: "NO_CAPACITY", message: busy.message, hint: ERRORS.NO_CAPACITY.hint, details: busy.details },
  });
  expect(JSON.parse(errorLine(new SimlockError("BAD_REQUEST", "no")))).toEqual({
    error: { code: "BAD_REQUEST", message: "no" },
  });
});

test("a person is told who is in the way, until when, and what to do next", () => {
  expect(errorText(busy, plain, 0)).toBe(
    [
      "error No ios iPhone 17 is free now. (NO_CAPACITY)",
      "  claude-code:7 holds iPhone 17 (lse_1), expires in 5m",
      `next  ${ERRORS.NO_CAPACITY.hint}`,
    ].join("\n"),
  );
});

test("the places that were looked at are listed", () => {
  const error = new SimlockError("TOOL_MISSING", "adb was not found.", { details: { tried: ["/a/adb", "/b/adb"] } });
  expect(errorText(error, plain, 0)).toContain("  looked at /a/adb\n  looked at /b/adb\n");
});

test("another caller's name cannot move the cursor", () => {
  const error = new SimlockError("NO_CAPACITY", "taken by \u001b[2J", {
    details: { holders: [{ requesterId: "\u202eevil", leaseId: "l" }] },
  });
  expect(errorText(error, plain, 0)).not.toMatch(/[\u001b\u202e]/);
});

test("the drop-in says one line that begins with error:, whatever is in the message", () => {
  expect(dropInText(new SimlockError("STATE_INVALID", "The plan\nis refused.", { hint: "Plan again." }))).toBe(
    "error: The plan?is refused. Plan again.",
  );
});
