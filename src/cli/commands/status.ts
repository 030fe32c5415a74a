import { withClient } from "../connect.ts";
import type { Context } from "../context.ts";
import { write, writeJson } from "../io.ts";
import { paintFor } from "../render/paint.ts";
import { readyStatus } from "../ready-status.ts";
import { statusText } from "../render/status.ts";

export function status(context: Context): Promise<number> {
  return withClient(context, { launch: true }, async (client) => {
    const { stdout, env } = context.io;
    const answer = await readyStatus(client);
    if (context.json) await writeJson(stdout, answer);
    else await write(stdout, `${statusText(answer, Date.now(), paintFor(stdout, env))}\n`);
    return 0;
  });
}
