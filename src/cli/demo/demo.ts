import { setTimeout as wait } from "node:timers/promises";
import { SimlockError, toSimlockError } from "../../contract/index.ts";
import { createVirtualMac } from "../../virtual/index.ts";
import { connect } from "../connect.ts";
import type { Context } from "../context.ts";
import { Stopped } from "../leasing.ts";
import { annaAndBen, carol } from "./scenes.ts";
import { Stage } from "./stage.ts";
import { Story } from "./story.ts";

const LIMIT_MS = 120_000;
const SETTLE_LIMIT_MS = 30_000;

/**
 * The main job before your eyes: agents lease, run, are refused, wait and give back, each a real MCP client on `simlock mcp`. Everything lives in one
 * temporary folder; at the end, however it comes, nothing of it runs and nothing of it is left, and that is checked.
 */
export async function demo(context: Context): Promise<number> {
  const story = new Story(context.io);
  const stopped = new Stopped({ parent: true });
  const stage = await Stage.set(context);
  const over = AbortSignal.any([stopped.signal, AbortSignal.timeout(LIMIT_MS)]);
  let exitCode = 0;
  const playing = play(stage, story);
  try {
    await Promise.race([playing, endOf(over)]);
  } catch (thrown) {
    exitCode = stopped.by === undefined ? 1 : stopped.exitCode;
    const why = stopped.by === undefined ? `The demo failed: ${textOf(thrown)}` : "Interrupted. Cleaning up.";
    await story.line(`\n${why}`).catch(() => {});
  }
  await stage.close();
  // What was under way when it was interrupted comes to its end first: a daemon that is just starting could not be found.
  await Promise.race([playing.catch(() => {}), wait(SETTLE_LIMIT_MS, undefined, { ref: false })]);
  const left = await stage.clear();
  stopped.dispose();
  if (left.length > 0) {
    await story.line(`\nLeft behind: ${left.join(", ")}.`);
    return 1;
  }
  if (exitCode === 0) {
    await story.line(`\nDone in ${story.seconds} s. Checked: no process of it runs, and ${stage.folder} is gone.`);
  }
  return exitCode;
}

async function play(stage: Stage, story: Story): Promise<void> {
  await story.line("Three agents and room for two simulators, on a simulated Mac. Nothing of yours is touched.");
  const { context } = stage;
  await story.step(
    "A daemon starts in a temporary home.",
    async () => {
      createVirtualMac(context.layout.virtualMac);
      const client = await connect(context, { launch: true });
      try {
        return await client.call("status.get", {});
      } finally {
        await client.close();
      }
    },
    ({ daemon, host }) =>
      `It runs as process ${daemon.pid}, on ${host.os} ${host.osVersion} with ${host.cpus} cores, all simulated.`,
  );
  const both = await annaAndBen(stage, story);
  await carol(stage, story, both);
}

function endOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () =>
      reject(new SimlockError("CANCELLED", `It took longer than ${LIMIT_MS / 1000} s.`)),
    );
  });
}

function textOf(thrown: unknown): string {
  if (thrown instanceof SimlockError) return toSimlockError(thrown).message;
  return thrown instanceof Error ? thrown.message : String(thrown);
}
