import { spawn } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { INSPECTOR, inspectorMissing } from "../../scripts/inspector.ts";
import { cloudTools } from "../../src/cloud/index.ts";
import { CloudTest } from "../support/cloud-server.ts";
import { SIMLOCK, TestHome } from "../support/virtual-home.ts";

const missing = inspectorMissing();
if (missing !== undefined) {
  if (process.env["CI"] === "true") throw new Error(missing);
  console.warn(missing);
}

const mac = new TestHome();
const cloud = new CloudTest();
let phones: readonly string[];
beforeAll(async () => {
  if (missing !== undefined) return;
  const { url } = await cloud.http({ SIMLOCK_VIRTUAL: "1" });
  phones = ["--transport", "http", "--server-url", url, "--header", "Authorization: Bearer dr_sk_inspector"];
});
afterAll(async () => {
  await cloud.close();
  mac.close();
});

/** The Inspector hands its own environment on only in part: the home is named on the command line, so that the user's own is never touched. */
const LEASES = ["--", process.execPath, SIMLOCK, "--home", mac.path, "--virtual", "mcp"];

/** One request of the Inspector's CLI to a server that it starts or that has this address. */
function inspect(era: string, target: readonly string[], ...args: readonly string[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [INSPECTOR, "--cli", "--protocol-era", era, ...args, ...target], {
      env: mac.env,
      cwd: mac.work,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", reject);
    child.on("close", (code) => {
      try {
        if (code !== 0) throw new Error("it failed");
        resolve(JSON.parse(stdout));
      } catch {
        reject(new Error(`the Inspector exited with ${code}: ${stdout}${stderr}`));
      }
    });
  });
}

interface Answer {
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent: Record<string, unknown>;
}

describe.skipIf(missing !== undefined).each(["legacy", "modern"])(
  "the Inspector's CLI in the %s era, on stdio",
  (era) => {
    test("lists five tools", async () => {
      const listed = (await inspect(era, LEASES, "--method", "tools/list", "--strict")) as {
        tools: { name: string }[];
      };
      expect(listed.tools.map((tool) => tool.name)).toEqual([
        "list_devices",
        "lease_simulator",
        "release_simulator",
        "lease_status",
        "run_on_device",
      ]);
    });

    test("calls a tool, and gets the same facts in text and structured content", async () => {
      const answer = (await inspect(era, LEASES, "--method", "tools/call", "--tool-name", "lease_status")) as Answer;
      expect(answer.structuredContent).toEqual({ held: false });
      expect(JSON.parse(answer.content[0]?.text ?? "")).toEqual(answer.structuredContent);
    });
  },
);

describe.skipIf(missing !== undefined).each(["legacy", "modern"])(
  "the Inspector's CLI in the %s era, over HTTP",
  (era) => {
    test("lists the cloud tools", async () => {
      const listed = (await inspect(era, phones, "--method", "tools/list", "--strict")) as {
        tools: { name: string }[];
      };
      expect(listed.tools.map(({ name }) => name)).toEqual(
        cloudTools.map(({ name }) => name).filter((name) => name !== "create_device" && name !== "terminate_device"),
      );
    });

    test("calls one, and gets the same facts in text and structured content", async () => {
      const call = ["--method", "tools/call", "--tool-name", "platform_catalog", "--tool-arg", "catalog=models"];
      const answer = (await inspect(era, phones, ...call)) as Answer;
      expect(answer.structuredContent["data"]).not.toHaveLength(0);
      expect(JSON.parse(answer.content[0]?.text ?? "")).toEqual(answer.structuredContent);
    });
  },
);
