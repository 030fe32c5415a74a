import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyProfile } from "./arbitrary.fixture.ts";
import { decodeProfile } from "./decode.ts";
import { profileV1, profileV1Alpha1 } from "./documents.fixture.ts";
import { lint, lintFiles } from "./lint.ts";

const found = (document: object) => lint(decodeProfile(document)).map(({ code, pointer }) => [code, pointer]);
const app = (fields: object) => ({ applications: [{ bundleIdentifier: "a", ...fields }] });

describe("a profile that can't mean what it says", () => {
  test.each([
    [
      "a status bar that is lost",
      { power: "shutdown", statusBar: { time: "1" } },
      [["lost-at-shutdown", "/spec/statusBar"]],
    ],
    [
      "an app that ends at once",
      { power: "shutdown", ...app({ running: true, sourcePath: "/a.app" }) },
      [["lost-at-shutdown", "/spec/applications/0/running"]],
    ],
    ["an app that nobody can install", app({ running: true }), [["no-source", "/spec/applications/0"]]],
    [
      "an app that an erase takes away",
      { eraseBeforeApply: true, ...app({}) },
      [
        ["erases-every-time", "/spec/eraseBeforeApply"],
        ["no-source", "/spec/applications/0"],
      ],
    ],
    ["a source that is no app", app({ sourcePath: "/a.zip" }), [["no-source", "/spec/applications/0/sourcePath"]]],
    [
      "an absent app that is to run",
      app({ presence: "absent", running: true }),
      [["absent-but-used", "/spec/applications/0/running"]],
    ],
    [
      "arguments that nobody gets",
      app({ launchArguments: ["x"] }),
      [["never-passed", "/spec/applications/0/launchArguments"]],
    ],
    [
      "an environment that nobody gets",
      app({ launchEnvironment: { A: "b" } }),
      [["never-passed", "/spec/applications/0/launchEnvironment"]],
    ],
    [
      "access for an app that is absent",
      { ...app({ presence: "absent" }), privacy: [{ service: "siri", bundleIdentifier: "a", access: "granted" }] },
      [["absent-but-used", "/spec/privacy/0"]],
    ],
    [
      "a push to an app that is absent",
      { ...app({ presence: "absent" }), push: [{ bundleIdentifier: "a", payload: { aps: {} } }] },
      [["absent-but-used", "/spec/push/0"]],
    ],
    [
      "apps that differ in case",
      { applications: [{ bundleIdentifier: "a" }, { bundleIdentifier: "A" }] },
      [["looks-the-same", "/spec/applications/1"]],
    ],
    ["a photo that is added twice", { media: ["/a", "/a"] }, [["looks-the-same", "/spec/media/1"]]],
    [
      "a language that is set twice",
      {
        localization: { languages: ["de"] },
        preferences: [{ domain: "NSGlobalDomain", key: "AppleLanguages", value: ["en"] }],
      },
      [["said-twice", "/spec/preferences/0"]],
    ],
    [
      "a secret that is shown",
      { preferences: [{ domain: "a", key: "apiToken", value: "x" }] },
      [["unmarked-secret", "/spec/preferences/0"]],
    ],
  ])("is warned of: %s", (_what, spec, expected) => {
    expect(found(profileV1({ spec }))).toEqual(expected);
  });

  test("is warned of: a target that fits many devices", () => {
    expect(found(profileV1({ target: { deviceType: "iPhone 17" } }))).toEqual([["target-fits-many", "/target"]]);
  });

  test("is not warned of where it is well", () => {
    const spec = {
      power: "booted",
      ...app({
        sourcePath: "/a.app",
        running: true,
        launchArguments: ["x"],
        launchEnvironment: { TOKEN: "x" },
        sensitive: true,
      }),
      preferences: [
        { domain: "a", key: "token", value: "x", sensitive: true },
        { domain: "a", key: "hasToken", value: true },
      ],
      statusBar: { time: "09:41" },
    };
    expect(found(profileV1({ spec }))).toEqual([]);
    expect(found(profileV1Alpha1())).toEqual([]);
  });

  test("never repeats a value", () => {
    fc.assert(
      fc.property(anyProfile(), (profile) => {
        const text = JSON.stringify(lint(profile));
        for (const { value } of profile.spec.preferences) {
          if (typeof value === "string" && value.length > 12) expect(text).not.toContain(value);
        }
      }),
    );
  });
});

test("files that are not there, or not to be found from everywhere, are warned of", async () => {
  const spec = {
    ...app({ sourcePath: "build/A.app" }),
    media: ["/there.jpg", "/gone.jpg"],
    rootCertificates: ["/gone.pem"],
  };
  const warnings = await lintFiles(decodeProfile(profileV1({ spec })), async (path) => path === "/there.jpg");
  expect(warnings.map(({ code, pointer }) => [code, pointer])).toEqual([
    ["relative-path", "/spec/applications/0/sourcePath"],
    ["missing-file", "/spec/media/1"],
    ["missing-file", "/spec/rootCertificates/0"],
  ]);
});
