import { expect, test } from "vitest";
import { PlatformCatalog } from "../../contract/index.ts";
import { catalogText } from "./catalog.ts";
import { plain } from "./paint.ts";

test("models by class, the default of each class and the narrower pairings told, aliases left to --json", () => {
  const catalog = PlatformCatalog.parse({
    platform: "ios",
    models: ["iPad Pro", "iPhone 17", "iPhone SE", "Odd One"],
    runtimes: ["26.0", "18.6"],
    defaultRuntime: "26.0",
    modelRuntimes: { "iPhone 17": ["26.0"], "iPad Pro": ["26.0", "18.6"], "iPhone SE": ["26.0", "18.6"] },
    modelAliases: { "iPhone SE": ["iPhone SE (3rd generation)"] },
    modelClasses: { "iPad Pro": "tablet", "iPhone 17": "phone", "iPhone SE": "phone" },
    classDefaults: { phone: "iPhone 17" },
  });
  expect(catalogText([catalog], plain)).toBe(
    `ios
  OS versions: 26.0 (default), 18.6
  phone:
    iPhone 17  the default phone; on 26.0
    iPhone SE
  tablet:
    iPad Pro
  other:
    Odd One`,
  );
});

test("nothing to lease is told with the next step", () => {
  expect(catalogText([], plain)).toContain("simlock doctor");
});

test("a platform with attached devices only names them, one with nothing says so", () => {
  const none = {
    platform: "android",
    models: [],
    runtimes: [],
    modelRuntimes: {},
    modelAliases: {},
    modelClasses: {},
    classDefaults: {},
  };
  const attached = {
    ...none,
    models: ["Pixel 8"],
    modelRuntimes: { "Pixel 8": ["15"] },
    modelClasses: { "Pixel 8": "phone" },
    attachedModels: ["Pixel 8"],
  };
  expect(catalogText([PlatformCatalog.parse(attached)], plain)).toBe(
    "android\n  phone:\n    Pixel 8  attached, enrolled; on 15",
  );
  expect(catalogText([PlatformCatalog.parse(none)], plain)).toContain("Nothing to lease. `simlock doctor`");
});
