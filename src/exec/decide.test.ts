import { expect, test } from "vitest";
import { decideCommand } from "./decide.ts";
import { commandOf, expectedOf, GOLDEN, settingOf } from "./golden.ts";

test.each(GOLDEN.map((row) => ({ row, name: `${row.id} ${row.tool} ${JSON.stringify(row.args).slice(0, 80)}` })))(
  "$name",
  ({ row }) => {
    const verdict = decideCommand(commandOf(row), settingOf(row));
    const expected = expectedOf(row);
    if (expected === "unknown-tool") {
      expect(verdict).toEqual({ kind: "unknown-tool", tool: row.tool });
    } else if ("run" in expected) {
      expect(verdict).toMatchObject({
        kind: "run",
        tool: row.tool,
        args: expected.run,
        flags: expected.flags,
        hostPaths: expected.hostPaths,
      });
    } else {
      expect(verdict).toMatchObject({ kind: "refuse", reason: expected.reason, token: expected.token });
    }
  },
);

test("all 231 golden rows are there", () => {
  expect(GOLDEN.map(({ id }) => id)).toEqual(Array.from({ length: 231 }, (_, index) => `G${index + 1}`));
});
