import { expect, test } from "vitest";
import { runTour } from "../support/tour.ts";

/** The README's tour, line by line. */

test("every block of the README's tour does what it says", { timeout: 180_000 }, () => {
  const { blocks, status, stdout, stderr } = runTour("README.md");
  expect(blocks).toBeGreaterThan(6);
  expect(stderr).not.toContain("exited with");
  if (status !== 0) throw new Error(`the tour ended with ${status}: ${stderr}`);
  expect(stdout).toContain("com.apple.Preferences: ");
  expect(stdout).toContain("iPhone 17 Pro");
  expect(stderr).toContain("PASSTHROUGH_REFUSED");
});
