import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "@modelcontextprotocol/client";
import { createManualClock } from "../../src/virtual/mobilerun/clock.ts";
import { startVirtualMobilerun, type VirtualMobilerun } from "../../src/virtual/index.ts";
import type { Heard } from "../../src/mcp/peer.fixture.ts";
import { accountWithEverything } from "../support/cloud-account.ts";
import { auditOf, CloudTest, type CloudServer, type Era } from "../support/cloud-server.ts";
import { until } from "../support/until.ts";

/** Official clients, the spawned server, and the Mobilerun API of this machine over real HTTP. */

const cloud = new CloudTest();
const clock = createManualClock();
let platform: VirtualMobilerun;
let server: CloudServer;
beforeAll(async () => {
  platform = await startVirtualMobilerun({ clock });
  cloud.also(() => platform.close());
  server = await cloud.http({ MOBILERUN_BASE_URL: platform.url, MCP_POLICY_PROFILE: "full", ...UNLIMITED });
});
afterAll(() => cloud.close());

const UNLIMITED = { MCP_RATE_LIMIT_PER_KEY_PER_MIN: "100000", MCP_RATE_LIMIT_PER_IP_PER_MIN: "100000" };
const TRANSPORTS = ["stdio", "http"] as const;
const ERAS = ["2026-07-28", "2025-11-25"] as const;
const PLACES = TRANSPORTS.flatMap((transport) => ERAS.map((era) => [transport, era] as const));

interface Connected {
  readonly client: Client;
  readonly asked: readonly string[];
  readonly errors: Heard;
  /** What came on standard output and was not of the protocol. */
  readonly noise: readonly unknown[];
}

async function connected(transport: (typeof TRANSPORTS)[number], era: Era, key: string): Promise<Connected> {
  if (transport === "http") {
    return { ...(await cloud.httpClient(era, server.url, key)), errors: server.errors, noise: [] };
  }
  return cloud.stdioClient(era, {
    MOBILERUN_BASE_URL: platform.url,
    MCP_POLICY_PROFILE: "full",
    MOBILERUN_CLOUD_API_KEY: key,
  });
}

describe.each(PLACES)("%s, %s", (transport, era) => {
  test("every tool and every operation answers, the same in text and as structured content", async () => {
    const key = `dr_sk_${transport}_${era}`;
    const { client, errors, noise } = await connected(transport, era, key);
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(34);
    let made = 0;
    const before = auditOf(errors).length;
    const call = async (name: string, input: Record<string, unknown>) => {
      made += 1;
      // Held against the output schema that was listed, by the client.
      return client.callTool({ name, arguments: input });
    };
    const must = async (name: string, input: Record<string, unknown>) => {
      const { isError, content, structuredContent } = await call(name, input);
      if (isError === true) throw new Error(`${name} ${JSON.stringify(input)}: ${JSON.stringify(content)}`);
      return structuredContent as Record<string, unknown>;
    };
    const { calls, deviceId } = await accountWithEverything(must, {
      url: platform.url,
      key,
      pass: (ms) => clock.advance(ms),
    });
    const wrong: string[] = [];
    for (const { label, tool, input } of calls) {
      const { isError, content, structuredContent } = await call(tool, await input());
      const [first] = content;
      const text = first?.type === "text" ? first.text : "";
      if (isError === true) wrong.push(`${label}: ${text}`);
      else if (JSON.stringify(structuredContent) !== text) wrong.push(`${label}: text and structured content differ`);
    }
    expect(wrong).toEqual([]);
    expect(new Set(calls.map(({ tool }) => tool)).size).toBe(34);
    expect(noise).toEqual([]);

    await until(() => auditOf(errors).length - before >= made);
    const audit = auditOf(errors).slice(before);
    expect(audit).toHaveLength(made);
    expect(new Set(audit.map(({ outcome }) => outcome))).toEqual(new Set(["ok"]));
    const said = JSON.stringify(errors.lines);
    for (const secret of ["typed-by-user", key, deviceId, "hooks.test"]) expect(said).not.toContain(secret);
  });
});
