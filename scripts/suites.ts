import { adbdAvailable } from "./adbd/available.ts";
import { conformanceMissing } from "./conformance.ts";
import { inspectorMissing } from "./inspector.ts";

/** One suite of tests: how it is run, how long it may take, and what it needs that `npm ci` does not bring. */
export interface Suite {
  readonly name: string;
  readonly what: string;
  readonly command: readonly string[];
  readonly budgetSeconds: number;
  /** Why it can't run here, with the remedy, or undefined. */
  readonly missing: () => string | undefined;
}

const vitest = (project: string): readonly string[] => ["node_modules/.bin/vitest", "run", "--project", project];
const nothing = (): undefined => undefined;

export const SUITES: readonly Suite[] = [
  { name: "unit", what: "every room by itself", command: vitest("unit"), budgetSeconds: 420, missing: nothing },
  {
    name: "e2e",
    what: "the built command, its daemon and MCP server as processes",
    command: vitest("e2e"),
    budgetSeconds: 240,
    missing: nothing,
  },
  {
    name: "stress",
    what: "fifty agents at once, and kill -9 at random",
    command: vitest("stress"),
    budgetSeconds: 240,
    missing: nothing,
  },
  {
    name: "inspector",
    what: "the MCP server under the official Inspector",
    command: vitest("inspector"),
    budgetSeconds: 60,
    missing: inspectorMissing,
  },
  {
    name: "conformance",
    what: "the MCP server over HTTP under the official conformance suite",
    command: vitest("conformance"),
    budgetSeconds: 60,
    missing: conformanceMissing,
  },
  {
    name: "adb",
    what: "a real adb against real adbd",
    command: ["node_modules/.bin/node", "scripts/adbd/suite.ts"],
    budgetSeconds: 180,
    missing: () => {
      const able = adbdAvailable();
      return able.ok ? undefined : able.why;
    },
  },
];
