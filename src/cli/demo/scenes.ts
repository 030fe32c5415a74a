import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { LeaseGrant } from "../../contract/index.ts";
import { makeSampleApp, screenSize } from "../../virtual/index.ts";
import { Refused, type Agent } from "./agent.ts";
import type { Stage } from "./stage.ts";
import type { Story } from "./story.ts";

const MODEL = "iPhone 17";
const HELLO = { bundleId: "com.example.hello", name: "Hello" };
const SECRET = { bundleId: "com.example.secret", name: "Secret" };

interface Holder {
  readonly agent: Agent;
  readonly grant: LeaseGrant;
}

/** Two agents ask for the same model and get two devices; one works on hers and is kept from the other's. */
export async function annaAndBen(stage: Stage, story: Story): Promise<{ anna: Holder; ben: Holder }> {
  const [annaAgent, benAgent] = await story.step(
    "Two agents, Anna and Ben, each start `simlock mcp` and speak MCP with it.",
    () => Promise.all([stage.enter("anna", "2026-07-28"), stage.enter("ben", "2025-11-25")]),
    ([a, b]) => `Anna speaks ${a.protocol}, Ben ${b.protocol}.`,
  );
  const [anna, ben] = await story.step(
    `Both ask for an ${MODEL} at the same time.`,
    () => Promise.all([lease(annaAgent), lease(benAgent)]),
    ([a, b]) => {
      if (udidOf(a) === udidOf(b)) throw new Error("both were granted the same simulator");
      return `Each has one of her or his own: Anna ${short(a)}, Ben ${short(b)}.`;
    },
  );
  await annaWorks(stage, story, anna);
  await story.step(
    "Anna tries to end an app on Ben's simulator.",
    () => refusal(anna.agent, ["terminate", udidOf(ben), SECRET.bundleId]),
    (refused) => `Refused with ${refused.code}: ${refused.message}`,
  );
  return { anna, ben };
}

async function annaWorks(stage: Stage, story: Story, { agent }: Holder): Promise<void> {
  const app = makeSampleApp(stage.work, HELLO);
  await story.step(
    `Anna installs ${HELLO.name}.app and launches it. She never says on which device.`,
    async () => {
      await agent.run("simctl", "install", app);
      return (await agent.run("simctl", "launch", HELLO.bundleId)).trim();
    },
    (launched) => `simctl says "${launched}".`,
  );
  const picture = join(stage.work, "anna.png");
  await story.step(
    "Anna takes a screenshot.",
    async () => {
      await agent.run("simctl", "io", "screenshot", picture);
      return sizeOfPng(await readFile(picture));
    },
    ({ width, height, bytes }) => {
      const screen = screenSize(MODEL);
      if (width !== screen?.width || height !== screen.height)
        throw new Error(`the picture has ${width}x${height} pixels`);
      return `A PNG of ${width} by ${height} pixels, ${Math.ceil(bytes / 1024)} KiB.`;
    },
  );
}

/** A third agent waits its turn, and gets what was released, clean. */
export async function carol(stage: Stage, story: Story, { anna, ben }: { anna: Holder; ben: Holder }): Promise<void> {
  await story.step(
    `Ben installs ${SECRET.name}.app on his.`,
    () => ben.agent.run("simctl", "install", makeSampleApp(stage.work, SECRET)),
    () => "Installed.",
  );
  const carolAgent = await stage.enter("carol", "2026-07-28");
  const queued = Promise.withResolvers<string>();
  const asked = lease(carolAgent, (message) => queued.resolve(message));
  // Where it fails, the step that waits for the grant tells.
  asked.catch((error: unknown) => queued.reject(error));
  await story.step(
    `Carol asks for an ${MODEL} too. Both are taken, so she waits.`,
    () => queued.promise,
    (message) => `She is told: "${message}".`,
  );
  const granted = await story.step(
    "Ben gives his back. It is erased, and goes to Carol.",
    async () => {
      await ben.agent.call("release_simulator", { leaseId: ben.grant.lease.id });
      return asked;
    },
    (holder) => {
      if (udidOf(holder) !== udidOf(ben)) throw new Error("Carol was granted another simulator");
      return `Carol has ${short(holder)}, the one that was Ben's.`;
    },
  );
  await story.step(
    "Carol looks for what Ben left on it.",
    () => carolAgent.run("simctl", "listapps"),
    (apps) => {
      if (apps.includes(SECRET.bundleId)) throw new Error(`${SECRET.name} is still installed`);
      return `${SECRET.name}.app is not there.`;
    },
  );
  await story.step(
    "Anna and Carol give theirs back.",
    () =>
      Promise.all(
        [anna, granted].map(({ agent, grant }) => agent.call("release_simulator", { leaseId: grant.lease.id })),
      ),
    () => "Nobody holds anything.",
  );
}

async function lease(agent: Agent, told?: (message: string) => void): Promise<Holder> {
  return {
    agent,
    grant: LeaseGrant.parse(await agent.call("lease_simulator", { platform: "ios", model: MODEL }, told)),
  };
}

async function refusal(agent: Agent, args: string[]): Promise<Refused> {
  try {
    await agent.run("simctl", ...args);
  } catch (thrown) {
    if (thrown instanceof Refused) return thrown;
    throw thrown;
  }
  throw new Error("it was not refused");
}

const udidOf = ({ grant }: Holder): string => grant.device.driverDeviceId;
const short = (holder: Holder): string => `${udidOf(holder).slice(0, 8)}…`;

/** Width and height stand in a PNG's first chunk, IHDR, behind the eight bytes of its signature. */
function sizeOfPng(bytes: Buffer): { width: number; height: number; bytes: number } {
  if (bytes.subarray(1, 4).toString("latin1") !== "PNG") throw new Error("the screenshot is not a PNG");
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), bytes: bytes.length };
}
