import { expect, test } from "vitest";
import { DEFAULT_CONFIG } from "../contract/index.ts";
import { loadConfig, parseConfig } from "./config-file.ts";

const invalid = (message: string) =>
  expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(message) });

test("a missing file is all defaults", () => {
  expect(loadConfig("/nonexistent/config.json")).toEqual({ config: DEFAULT_CONFIG, unknownKeys: [] });
});

test("values go over the defaults, and keys that nobody knows are told of with their path", () => {
  const { config, unknownKeys } = parseConfig(
    "c",
    '\uFEFF{"lease": {"defaultTtlMs": 5000, "detachedTtlMs": 1}, "warm": {}, "ios": {"defaultModels": {"phone": "iPhone 17"}}}',
  );
  expect(config.lease).toEqual({ ...DEFAULT_CONFIG.lease, defaultTtlMs: 5000 });
  expect(unknownKeys).toEqual(["lease.detachedTtlMs", "warm"]);
});

test.each([
  ["{", "not JSON"],
  ["[]", "the file"],
  ['{"lease": {"defaultTtlMs": "5"}}', "lease.defaultTtlMs"],
  ['{"exec": {"hostCode": "maybe"}}', "exec.hostCode"],
  ['{"lease": {"defaultTtlMs": 2000, "maxTtlMs": 1000}}', "lease.maxTtlMs"],
  ['{"ios": {"deviceSet": "devices"}}', "ios.deviceSet"],
  ['{"exec": {"writableRoots": ["/a", "b"]}}', "exec.writableRoots.1"],
])("%s is refused, naming %s", (text, path) => {
  expect(() => parseConfig("c", text)).toThrow(invalid(path));
});
