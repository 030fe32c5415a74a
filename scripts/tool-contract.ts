/**
 * What the cloud tools promise, held against the last release: `tools.schema.snap` beside them. Says what changed and which version it asks for;
 * `--write` takes what is there for what package.json's version promises, unless that version has been released.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { versionProblem, type Surface } from "./tool-changes.ts";
import { currentSurface } from "./tool-surface.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const snapshot = join(root, "src", "cloud", "tools", "tools.schema.snap");
const textAt = (path: string): string => readFileSync(join(root, path), "utf8");

export const packageVersion = (): string => (JSON.parse(textAt("package.json")) as { version: string }).version;
/** Written by this script alone. */
export const snapshotSurface = (): Surface => JSON.parse(readFileSync(snapshot, "utf8")) as Surface;

/** The changelog has a heading for each version that is out. */
export function isReleased(version: string, changelog: string): boolean {
  return changelog.split("\n").some((line) => /^## \[?([^\]\s]+)/.exec(line)?.[1] === version);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const version = packageVersion();
  const current = currentSurface(version);
  const released = snapshotSurface();
  if (!process.argv.includes("--write")) {
    const problem = versionProblem(released, current, version);
    process.stdout.write(`${problem ?? `What changed since ${released.version} may be called ${version}.`}\n`);
    process.exitCode = problem === undefined ? 0 : 1;
  } else if (isReleased(version, textAt("CHANGELOG.md"))) {
    process.stdout.write(`${version} is released: what it promises stays. Raise the version in package.json first.\n`);
    process.exitCode = 1;
  } else {
    writeFileSync(snapshot, `${JSON.stringify(current, undefined, 1)}\n`);
    process.stdout.write(`${snapshot}: written for ${version}\n`);
  }
}
