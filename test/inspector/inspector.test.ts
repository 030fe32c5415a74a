import { spawn } from "node:child_process";
import { afterAll, describe, expect, test } from "vitest";
import { INSPECTOR, inspectorMissing } from "../../scripts/inspector.ts";
import { SIMLOCK, TestHome } from "../support/virtual-home.ts";

const missing = inspectorMissing();
if (missing !== undefined) {
  if (process.env["CI"] === "true") throw new Error(missing);
  console.warn(missing);
}

const mac = new TestHome();
afterAll(() => mac.close());

/** The Inspector hands its own environment on only in part: the home is named on the command line, so that the user's own is never touched. */
const server = [process.execPath, SIMLOCK, "--home", mac.path, "--virtual", "mcp"];

/** One request of the Inspector's CLI to a `simlock mcp` that it starts. */
function inspect(era: string, ...args: readonly string[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [INSPECTOR, "--cli", "--protocol-era", era, ...args, "--", ...server], {
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
        resolve(JSON.parse(stdout));
      } catch {
        reject(new Error(`the Inspector exited with ${code}: ${stdout}${stderr}`));
      }
    });
  });
}

describe.skipIf(missing !== undefined).each(["legacy", "modern"])("the Inspector's CLI in the %s era", (era) => {
  test("lists five tools", async () => {
    const listed = (await inspect(era, "--method", "tools/list")) as { tools: { name: string }[] };
    expect(listed.tools.map((tool) => tool.name)).toEqual([
      "list_devices",
      "lease_simulator",
      "release_simulator",
      "lease_status",
      "run_on_device",
    ]);
  });

  test("calls a tool, and gets the same facts in text and structured content", async () => {
    const answer = (await inspect(era, "--method", "tools/call", "--tool-name", "lease_status")) as {
      content: { text: string }[];
      structuredContent: unknown;
    };
    expect(answer.structuredContent).toEqual({ held: false });
    expect(JSON.parse(answer.content[0]?.text ?? "")).toEqual(answer.structuredContent);
  });
});
