import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SimlockError } from "../../contract/index.ts";
import { HTTP_ENVIRONMENT, readHttpEnvironment } from "./environment.ts";

function problemOf(env: Readonly<Record<string, string>>): string {
  try {
    readHttpEnvironment(env);
  } catch (error) {
    if (error instanceof SimlockError && error.code === "CONFIG_INVALID") return error.message;
    throw error;
  }
  return "";
}

test("without anything set the defaults hold, and only this machine is served", () => {
  expect(readHttpEnvironment({})).toMatchObject({
    PORT: 8080,
    MCP_HOST: "127.0.0.1",
    MOBILERUN_BASE_URL: "https://api.mobilerun.ai/v1",
    MCP_POLICY_PROFILE: "no-commerce",
    MCP_RESOURCE_URL: "http://localhost:8080",
    MCP_BODY_LIMIT_BYTES: 1_048_576,
    MCP_REQUEST_TIMEOUT_MS: 60_000,
    MCP_RATE_LIMIT_PER_KEY_PER_MIN: 60,
    MCP_RATE_LIMIT_PER_IP_PER_MIN: 120,
    MCP_TRUST_PROXY: false,
  });
  expect(readHttpEnvironment({})).not.toHaveProperty("MCP_AUTH_SERVER_URL");
});

test("false is false, and a word that is neither is refused", () => {
  expect(readHttpEnvironment({ MCP_TRUST_PROXY: "false" }).MCP_TRUST_PROXY).toBe(false);
  expect(readHttpEnvironment({ MCP_TRUST_PROXY: "true" }).MCP_TRUST_PROXY).toBe(true);
  expect(readHttpEnvironment({ MCP_TRUST_PROXY: "2" }).MCP_TRUST_PROXY).toBe(2);
  expect(readHttpEnvironment({ MCP_METRICS: "false" }).MCP_METRICS).toBe(false);
  expect(problemOf({ MCP_TRUST_PROXY: "yes" })).toContain("MCP_TRUST_PROXY");
  expect(problemOf({ MCP_METRICS: "0" })).toContain("MCP_METRICS");
});

test("all that is wrong is said at once", () => {
  const problem = problemOf({
    PORT: "http",
    MCP_BODY_LIMIT_BYTES: "0",
    MCP_REQUEST_TIMEOUT_MS: "1.5",
    MCP_AUTH_SERVER_URL: "",
    MCP_RESOURCE_URL: "ftp://x",
    MCP_POLICY_PROFILE: "all",
    LOG_LEVEL: "trace",
  });
  for (const name of [
    "PORT",
    "MCP_BODY_LIMIT_BYTES",
    "MCP_REQUEST_TIMEOUT_MS",
    "MCP_AUTH_SERVER_URL",
    "MCP_RESOURCE_URL",
    "MCP_POLICY_PROFILE",
    "LOG_LEVEL",
  ]) {
    expect(problem).toContain(name);
  }
});

test("lists of names are read without blanks and in lower case", () => {
  expect(readHttpEnvironment({ MCP_ALLOWED_HOSTS: " Phones.Example ,,b " }).MCP_ALLOWED_HOSTS).toEqual([
    "phones.example",
    "b",
  ]);
});

test("the manual's table names every variable", () => {
  const manual = readFileSync(join(import.meta.dirname, "../../../docs/http.md"), "utf8");
  for (const name of Object.keys(HTTP_ENVIRONMENT.shape)) expect(manual).toContain(`| \`${name}\``);
});
