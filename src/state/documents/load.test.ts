import { describe, expect, test } from "vitest";
import { compose } from "./compose.ts";
import { layerV1, pointers, profileV1, profileV1Alpha1, refusalOf } from "./documents.fixture.ts";
import { type DocumentPorts, loadLayer, loadProfile, loadSnapshot } from "./load.ts";

/** Files that are only there in memory; an object is written as JSON. */
function files(
  contents: Readonly<Record<string, object | string>>,
  environment?: Record<string, string>,
): DocumentPorts {
  return {
    async readText(path) {
      const content = contents[path];
      if (content === undefined) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
      return typeof content === "string" ? content : JSON.stringify(content);
    },
    ...(environment === undefined ? {} : { environment }),
  };
}

describe("a profile that extends others", () => {
  const base = profileV1({
    metadata: { name: "base" },
    target: { name: "iPhone 17" },
    spec: { appearance: "light", media: ["photos/a.jpg"], statusBar: { time: "1", wifiBars: 1 } },
  });

  test("is laid over them, first to last, each with its own paths", async () => {
    const ports = files({
      "/p/team/base.json": base,
      "/p/layer.yaml":
        "apiVersion: simlock/v1\nkind: SimulatorStateLayer\nmetadata: { name: bars }\nspec: { statusBar: { wifiBars: 3 } }\n",
      "/p/own.json": {
        apiVersion: "simlock/v1",
        kind: "SimulatorState",
        metadata: { name: "own" },
        extends: ["team/base.json", "layer.yaml"],
        spec: {
          applications: [{ bundleIdentifier: "a", sourcePath: "../build/A.app" }],
          rootCertificates: ["/abs/ca.pem"],
          remove: { statusBar: ["time"] },
        },
      },
    });
    const { profiles, files: read, said } = await loadProfile({ path: "/p/own.json" }, ports);
    expect(profiles).toEqual([
      {
        apiVersion: "simlock/v1",
        kind: "SimulatorState",
        metadata: { name: "own" },
        target: { name: "iPhone 17" },
        spec: {
          power: "unchanged",
          eraseBeforeApply: false,
          appearance: "light",
          media: ["/p/team/photos/a.jpg"],
          rootCertificates: ["/abs/ca.pem"],
          applications: [
            { bundleIdentifier: "a", sourcePath: "/build/A.app", presence: "present", launchArguments: [] },
          ],
          preferences: [],
          statusBar: { wifiBars: 3 },
        },
      },
    ]);
    expect(read).toEqual(["/p/team/base.json", "/p/layer.yaml", "/p/own.json"]);
    const [profile] = profiles;
    if (profile === undefined) throw new Error("no profile");
    const { provenance } = compose(profile, [], said);
    expect(Object.fromEntries(provenance.map(({ path, source }) => [path, source.name]))).toMatchObject({
      "spec.appearance": "base",
      "spec.statusBar.wifiBars": "bars",
      "spec.rootCertificates": "own",
    });
  });

  test("may have targets of its own, which then are the ones", async () => {
    const own = profileV1({ extends: "base.json", target: { name: "iPad" } });
    const { profiles } = await loadProfile(
      { path: "/p/own.json" },
      files({ "/p/base.json": base, "/p/own.json": own }),
    );
    expect(profiles.map(({ target }) => target)).toEqual([{ name: "iPad" }]);
  });

  test("needs a target somewhere", async () => {
    const own = profileV1({ extends: "l.json" });
    delete own["target"];
    const ports = files({ "/p/l.json": layerV1({ power: "booted" }), "/p/own.json": own });
    expect(pointers(await refusalOf(loadProfile({ path: "/p/own.json" }, ports)))).toEqual(["/target"]);
  });

  test("is, without one, for the device that its user means", async () => {
    const own = profileV1();
    delete own["target"];
    const old = profileV1Alpha1();
    delete old["target"];
    const ports = {
      ...files({ "/p/own.json": own, "/p/old.json": old, "/p/base.json": base, "/p/has.json": profileV1() }),
      defaultTarget: async () => ({ udid: "LEASED" }),
    };
    const targets = async (path: string) => (await loadProfile({ path }, ports)).profiles.map(({ target }) => target);
    expect(await targets("/p/own.json")).toEqual([{ udid: "LEASED" }]);
    expect(await targets("/p/has.json")).toEqual([{ name: "iPhone 17" }]);
    expect(pointers(await refusalOf(loadProfile({ path: "/p/old.json" }, ports)))).toEqual(["/target"]);
  });

  test("must not come back to itself", async () => {
    const ports = files({
      "/p/a.json": profileV1({ extends: "b.json" }),
      "/p/b.json": profileV1({ extends: "./x/../a.json" }),
    });
    const error = await refusalOf(loadProfile({ path: "/p/a.json" }, ports));
    expect(error.message).toContain("/p/a.json → /p/b.json → /p/a.json");
  });

  test("may reach one base on two ways, but not without end", async () => {
    const level = (next: number) => profileV1({ extends: [`${next}.json`, `${next}.json`] });
    const contents = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`/p/${index}.json`, level(index + 1)]),
    );
    const ports = files({ ...contents, "/p/12.json": base });
    expect((await loadProfile({ path: "/p/10.json" }, ports)).files).toHaveLength(7);
    expect((await refusalOf(loadProfile({ path: "/p/0.json" }, ports))).message).toContain("64 in all");
  });

  test("says which file is not valid, and which is not there", async () => {
    const own = profileV1({ extends: "base.json" });
    const broken = files({ "/p/own.json": own, "/p/base.json": profileV1({ spec: { appearance: "blue" } }) });
    const error = await refusalOf(loadProfile({ path: "/p/own.json" }, broken));
    expect(error.message).toContain("profile /p/base.json");
    expect(pointers(error)).toEqual(["/spec/appearance"]);
    const missing = await refusalOf(loadProfile({ path: "/p/own.json" }, files({ "/p/own.json": own })));
    expect(missing.message).toContain("/p/base.json: ENOENT");
  });
});

describe("paths", () => {
  test("of v1alpha1 are left as they are", async () => {
    const document = profileV1Alpha1({ spec: { applications: [{ bundleIdentifier: "a", sourcePath: "b/A.app" }] } });
    const { profiles } = await loadProfile({ path: "/p/own.json" }, files({ "/p/own.json": document }));
    expect(profiles[0]?.spec.applications[0]?.sourcePath).toBe("b/A.app");
  });

  test("begin at the folder that is named for a text that was read already", async () => {
    const text = JSON.stringify(profileV1({ spec: { media: ["a.jpg"] } }));
    const { profiles } = await loadProfile({ path: "/cwd/stdin", text }, files({}));
    expect(profiles[0]?.spec.media).toEqual(["/cwd/a.jpg"]);
  });
});

describe("a push from a file", () => {
  const document = layerV1({ push: [{ bundleIdentifier: "a", file: "push/hello.apns" }] });

  test("is read into the document, without the key that names the app", async () => {
    const ports = files({
      "/p/l.json": document,
      "/p/push/hello.apns": { "Simulator Target Bundle": "b", aps: { alert: "hi" }, id: 7 },
    });
    expect((await loadLayer({ path: "/p/l.json" }, ports)).spec.push).toEqual([
      { bundleIdentifier: "a", payload: { aps: { alert: "hi" }, id: 7 } },
    ]);
  });

  test.each([
    ["without aps", "{}"],
    ["that is too large", { aps: { alert: "x".repeat(5000) } }],
    ["that goes in a circle", "aps: &a { more: *a }"],
    ["that is no object", "hello"],
  ])("%s is refused, naming the file", async (_what, content) => {
    const ports = files({ "/p/l.json": document, "/p/push/hello.apns": content });
    expect((await refusalOf(loadLayer({ path: "/p/l.json" }, ports))).message).toContain("push /p/push/hello.apns");
  });
});

describe("the environment", () => {
  test("fills in strings, and what it filled in is masked where that can be said", async () => {
    const document = profileV1({
      metadata: { name: "${env:NAME}" },
      target: { name: "${env:DEVICE:-iPhone 17}" },
      spec: {
        applications: [
          { bundleIdentifier: "a", sourcePath: "${env:BUILD}/A.app" },
          { bundleIdentifier: "b", launchEnvironment: { TOKEN: "Bearer ${env:TOKEN}" } },
          { bundleIdentifier: "c", launchArguments: ["${env:EMPTY:-none}", "$${env:TOKEN}"] },
        ],
        preferences: [{ domain: "d", key: "k", value: ["x", "${env:TOKEN}"] }],
        pasteboard: "${env:TOKEN}",
        push: [{ bundleIdentifier: "a", payload: { aps: { alert: "${env:TOKEN}" } } }],
        openURL: "acme://plain",
      },
    });
    const ports = files({ "/p/own.json": document }, { TOKEN: "s3cret", BUILD: "out", EMPTY: "" });
    const { profiles } = await loadProfile({ path: "/p/own.json" }, ports);
    expect(profiles[0]).toMatchObject({
      metadata: { name: "${env:NAME}" },
      target: { name: "iPhone 17" },
      spec: {
        applications: [
          { sourcePath: "/p/out/A.app" },
          { launchEnvironment: { TOKEN: "Bearer s3cret" }, sensitive: true },
          { launchArguments: ["none", "${env:TOKEN}"], sensitive: true },
        ],
        preferences: [{ value: ["x", "s3cret"], sensitive: true }],
        pasteboard: "s3cret",
        sensitive: ["pasteboard", "push"],
      },
    });
    expect(profiles[0]?.spec.applications[0]).not.toHaveProperty("sensitive");
  });

  test.each([
    ["a variable that is not set", "${env:NONE}", "NONE is not set"],
    ["one that every object has", "${env:constructor}", "constructor is not set"],
    ["something that looks like a variable", "${TOKEN}", "`$${`"],
    ["a variable without its end", "${env:TOKEN", "`$${`"],
  ])("does not fill in %s", async (_what, pasteboard, says) => {
    const ports = files({ "/p/own.json": profileV1({ spec: { pasteboard } }) }, { TOKEN: "s3cret" });
    const error = await refusalOf(loadProfile({ path: "/p/own.json" }, ports));
    expect(pointers(error)).toEqual(["/spec/pasteboard"]);
    expect(error.message).toContain(says);
  });

  test("is in no error", async () => {
    const spec = {
      pasteboard: "${env:TOKEN}",
      contentSize: "${env:TOKEN}",
      localization: { timeZone: "${env:TOKEN}" },
      privacy: [{ service: "${env:TOKEN}", bundleIdentifier: "a b", access: "granted" }],
    };
    const ports = files({ "/p/own.json": profileV1({ spec }) }, { TOKEN: "s3cret" });
    const error = await refusalOf(loadProfile({ path: "/p/own.json" }, ports));
    expect(pointers(error)).toEqual([
      "/spec/contentSize",
      "/spec/privacy/0/service",
      "/spec/privacy/0/bundleIdentifier",
    ]);
    expect(JSON.stringify(error.toWire())).not.toContain("s3cret");
  });

  test("is not asked for a document of v1alpha1", async () => {
    const preferences = [{ domain: "d", key: "k", value: "${env:TOKEN}" }];
    const ports = files({ "/p/own.json": profileV1Alpha1({ spec: { preferences } }) }, { TOKEN: "s3cret" });
    expect((await loadProfile({ path: "/p/own.json" }, ports)).profiles[0]?.spec.preferences).toEqual(preferences);
  });
});

test("a snapshot is read from a file", async () => {
  const snapshot = {
    apiVersion: "awesome-ios-sim/snapshot-v1alpha1",
    generatedAt: "2026-08-18T00:00:00Z",
    device: { udid: "U", name: "iPhone", state: "Shutdown", runtimeIdentifier: "R", isAvailable: true },
    state: { power: "shutdown", applications: [], preferences: [] },
    capabilities: {},
  };
  expect(await loadSnapshot({ path: "/s.json" }, files({ "/s.json": snapshot }))).toEqual(snapshot);
});
