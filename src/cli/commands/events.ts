import type { EventEnvelope } from "../../contract/index.ts";
import { connect } from "../connect.ts";
import type { Context } from "../context.ts";
import { given } from "../given.ts";
import type { Invocation } from "../invocation.ts";
import { writeJson, writeLine } from "../io.ts";
import { Stopped } from "../leasing.ts";
import { eventLine } from "../render/event.ts";
import { paintFor } from "../render/paint.ts";
import { SimlockError } from "../../contract/index.ts";

/** Past events, and with `--follow` those to come. It subscribes before it reads the past, so that none falls between the two. */
export async function events(
  context: Context,
  invocation: Extract<Invocation, { command: "events" }>,
): Promise<number> {
  const { follow, sinceMs } = invocation;
  const { stdout, env } = context.io;
  const client = await connect(context, { launch: true, admin: true });
  const stopped = new Stopped({ parent: false });
  const lost = new Promise<"lost">((resolve) => client.onConnectionLost(() => resolve("lost")));
  const paint = paintFor(stdout, env);
  const lines = context.json || stdout.isTTY !== true;
  let last = 0;
  const print = async (event: EventEnvelope) => {
    if (event.seq <= last) return;
    last = event.seq;
    await (lines ? writeJson(stdout, event) : writeLine(stdout, eventLine(event, paint)));
  };
  // One after another, and what has not been printed is bounded: who reads too slowly is told, and can go on from where it stopped.
  let queue: Promise<void> = Promise.resolve();
  let queued = 0;
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  try {
    const ready = Promise.withResolvers<void>();
    if (follow) {
      client.onEvent(({ event }) => {
        queued += 1;
        if (queued > MOST_QUEUED)
          failed.reject(new SimlockError("DAEMON_CONNECTION_LOST", "Events come faster than they are read."));
        queue = queue
          .then(() => ready.promise)
          .then(() => print(event))
          .then(() => void (queued -= 1));
        queue.catch((error: unknown) => failed.reject(error));
      });
      await client.call("events.subscribe", {});
    }
    if (!follow || sinceMs !== undefined) {
      const sinceTs = sinceMs === undefined ? undefined : Date.now() - sinceMs;
      for (let more = true; more && stopped.by === undefined;) {
        const page = await client.call("events.replay", {
          ...given("sinceTs", sinceTs),
          ...(last === 0 ? {} : { afterSeq: last }),
          limit: PAGE,
        });
        for (const event of page.events) await print(event);
        more = page.more && page.events.length > 0;
      }
    }
    ready.resolve();
    if (!follow) return 0;
    const end = await Promise.race([stopped.promise, lost, failed.promise]);
    if (end === "lost") throw new SimlockError("DAEMON_CONNECTION_LOST", "The daemon ended the connection.");
    return 0;
  } finally {
    stopped.dispose();
    await client.close();
  }
}

const PAGE = 1000;
const MOST_QUEUED = 10_000;
