import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { MAIN } from "./cli.fixture.ts";

/** Every file that is loaded as soon as this one is: static imports only, types left out. Packages by their name. */
function loadedWith(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const imports = readFileSync(file, "utf8").matchAll(
    /^(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm,
  );
  for (const [, name = ""] of imports) {
    if (name.endsWith(".ts")) loadedWith(join(dirname(file), name), seen);
    else if (!name.startsWith(".")) seen.add(name);
  }
  return seen;
}

test("starting the command loads neither the parser, nor the daemon, nor any of the other commands", () => {
  const loaded = [...loadedWith(MAIN)];
  expect(loaded).toContain("zod");
  expect([...loadedWith(join(dirname(MAIN), "program.ts"))]).toContain("commander");
  expect(
    loaded.filter(
      (name) => name === "commander" || /\/(commands|demo|daemon|devices|exec|store|virtual|mcp)\//.test(name),
    ),
  ).toEqual([]);
});

test("the MCP command adds the MCP room, and the code that reaches a daemon only with the first tool call", () => {
  const loaded = [...loadedWith(join(dirname(MAIN), "commands", "mcp.ts"))];
  expect(loaded.some((name) => name.endsWith("/mcp/index.ts"))).toBe(true);
  expect(
    loaded.filter((name) => name === "commander" || /\/(client|daemon|devices|exec|store|virtual)\//.test(name)),
  ).toEqual([]);
});
