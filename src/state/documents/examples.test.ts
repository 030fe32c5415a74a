import { execFile } from "node:child_process";
import { access, chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { compose } from "./compose.ts";
import { lint, lintFiles } from "./lint.ts";
import { type DocumentPorts, loadLayer, loadProfile } from "./load.ts";
import { readDocumentText } from "./read-text.ts";
import { isFields } from "./substitute.ts";

const folder = fileURLToPath(new URL("../../../examples/state", import.meta.url));
const example = (name: string): string => join(folder, name);
const ports: DocumentPorts = { readText: (path) => readFile(path, "utf8"), environment: {} };
const there = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const documents = await Promise.all(
  (await readdir(folder, { recursive: true }))
    .filter((name) => /\.(?:yaml|json)$/.test(name))
    .map(async (name) => [name, await readDocumentText(await readFile(example(name), "utf8"), name)] as const),
);
const ofKind = (kind: string) =>
  documents.filter(([, value]) => isFields(value) && value["kind"] === kind).map(([name]) => name);

describe("the examples", () => {
  test.each(ofKind("SimulatorState"))("%s is a profile, with no doubt but what it means", async (name) => {
    const { profiles } = await loadProfile({ path: example(name) }, ports);
    expect(profiles.length).toBeGreaterThan(0);
    for (const profile of profiles) {
      const codes = [...lint(profile), ...(await lintFiles(profile, there))].map(({ code }) => code);
      // The app is not built here; the screenshots begin on an erased device; onboarding is of an app that is there.
      expect(codes.filter((code) => !["missing-file", "erases-every-time", "no-source"].includes(code))).toEqual([]);
    }
  });

  test.each(ofKind("SimulatorStateLayer"))("%s is a layer", async (name) => {
    expect((await loadLayer({ path: example(name) }, ports)).spec).not.toEqual({});
  });

  test("are all there, and nothing else is in the folder", () => {
    expect(ofKind("SimulatorState").toSorted()).toEqual([
      "accessibility.yaml",
      "localisation/matrix.yaml",
      "onboarding.json",
      "screenshots.yaml",
      "team/base.yaml",
    ]);
    expect(documents).toHaveLength(5 + ofKind("SimulatorStateLayer").length);
  });

  test("name the schema that they keep to", async () => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
    for (const [name, value] of documents) {
      const [, schema] = /^# yaml-language-server: \$schema=(\S+)/.exec(await readFile(example(name), "utf8")) ?? [];
      if (schema === undefined) {
        expect(name).toMatch(/\.json$/);
        continue;
      }
      const path = join(example(name), "..", schema);
      const validate =
        ajv.getSchema(path) ?? ajv.addSchema(JSON.parse(await readFile(path, "utf8")), path).getSchema(path);
      expect([name, validate?.(value)]).toEqual([name, true]);
    }
  });

  test("lay the team's base under the accessibility run, and mask the token", async () => {
    const { profiles } = await loadProfile(
      { path: example("accessibility.yaml") },
      { ...ports, environment: { ACME_TOKEN: "t" } },
    );
    expect(profiles[0]?.spec.applications).toEqual([
      {
        bundleIdentifier: "com.acme.demo",
        sourcePath: join(folder, "../../build/Demo.app"),
        presence: "present",
        running: true,
        launchArguments: ["-AccessibilityAudit", "YES"],
        launchEnvironment: { ACME_TOKEN: "t" },
        sensitive: true,
      },
    ]);
  });

  test("make three devices of the matrix speak a language, with the time as it is", async () => {
    const { profiles, said } = await loadProfile({ path: example("localisation/matrix.yaml") }, ports);
    const layers = await Promise.all(
      ["arabic", "untouched-status-bar"].map((name) =>
        loadLayer({ path: example(`localisation/${name}.yaml`) }, ports),
      ),
    );
    const composed = profiles.map(
      (profile) =>
        compose(
          profile,
          layers.map((layer) => ({ layer })),
          said,
        ).profile,
    );
    expect(composed.map(({ target, spec }) => [target.name, spec.localization?.languages, spec.statusBar])).toEqual([
      ["Small", ["ar-EG"], undefined],
      ["Large", ["ar-EG"], undefined],
      ["Tablet", ["ar-EG"], undefined],
    ]);
  });
});

describe("the drift check", () => {
  const check = async (...profiles: readonly string[]): Promise<number> => {
    const bin = await mkdtemp(join(tmpdir(), "drift-"));
    try {
      // Stands in for the command: the profile's name is its exit code.
      await writeFile(
        join(bin, "simlock"),
        '#!/bin/sh\n[ "$1 $2 $3 $5" = "state diff --profile --exit-code" ] || exit 9\nexit "$4"\n',
      );
      await chmod(join(bin, "simlock"), 0o755);
      return await new Promise((resolve) => {
        const env = { PATH: `${bin}:${process.env["PATH"] ?? ""}` };
        execFile("sh", [example("drift-check.sh"), ...profiles], { env, timeout: 10_000 }, (error) =>
          resolve(error === null ? 0 : Number(error.code)),
        );
      });
    } finally {
      await rm(bin, { recursive: true });
    }
  };

  test("tells drift from a comparison that failed, whatever comes last", async () => {
    expect(await check("0", "0")).toBe(0);
    expect(await check("3", "0")).toBe(1);
    expect(await check("2", "3", "0")).toBe(2);
    expect(await check()).toBe(2);
  });
});
