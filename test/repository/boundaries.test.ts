import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

interface Cruise {
  readonly summary: {
    readonly totalCruised: number;
    readonly violations: readonly {
      readonly rule: { readonly name: string };
      readonly from: string;
      readonly to: string;
    }[];
  };
}

/** Runs the project's own rules on a tree of files. */
function cruise(files: Readonly<Record<string, string>>): Cruise["summary"] {
  const folder = mkdtempSync(join(tmpdir(), "simlock-rooms-"));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { allowImportingTsExtensions: true, noEmit: true } }),
  );
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return cruiseIn(folder);
}

function cruiseIn(folder: string): Cruise["summary"] {
  const { stdout } = spawnSync(
    process.execPath,
    [
      join(root, "node_modules", "dependency-cruiser", "bin", "dependency-cruise.mjs"),
      "--config",
      join(root, ".dependency-cruiser.cjs"),
      "--output-type",
      "json",
      "src",
    ],
    { cwd: folder, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  return (JSON.parse(stdout) as Cruise).summary;
}

const rules = (summary: Cruise["summary"]) => summary.violations.map((violation) => violation.rule.name);

test("a room that enters one it may not enter is caught", () => {
  const summary = cruise({
    "src/leasing/decide.ts": 'import { run } from "../exec/index.ts";\nexport const decide = run;\n',
    "src/exec/index.ts": "export const run = 1;\n",
  });
  expect(rules(summary)).toEqual(["leasing-enters-only-its-neighbours"]);
});

test("a type that comes from a room that may not be entered is caught too", () => {
  const summary = cruise({
    "src/contract/index.ts": 'import type { State } from "../leasing/index.ts";\nexport type Seen = State;\n',
    "src/leasing/index.ts": "export interface State { readonly n: number }\n",
  });
  expect(rules(summary)).toEqual(["contract-enters-only-its-neighbours"]);
});

test("a room that is entered beside its door is caught", () => {
  const summary = cruise({
    "src/daemon/loop.ts": 'import { decide } from "../leasing/decide.ts";\nexport const loop = decide;\n',
    "src/leasing/decide.ts": "export const decide = 1;\n",
  });
  expect(rules(summary)).toEqual(["only-through-the-door"]);
});

test("two files that need each other are caught", () => {
  const summary = cruise({
    "src/leasing/a.ts": 'import { b } from "./b.ts";\nexport const a = () => b;\n',
    "src/leasing/b.ts": 'import { a } from "./a.ts";\nexport const b = () => a;\n',
  });
  expect(rules(summary)).toContain("no-circles");
});

test("the rules see the project's modules, and find nothing", () => {
  const summary = cruiseIn(root);
  expect(summary.totalCruised).toBeGreaterThan(100);
  expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`)).toEqual([]);
});
