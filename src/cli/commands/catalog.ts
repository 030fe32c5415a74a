import { withClient } from "../connect.ts";
import type { Context } from "../context.ts";
import { given } from "../given.ts";
import type { Invocation } from "../invocation.ts";
import { write, writeJson } from "../io.ts";
import { catalogText } from "../render/catalog.ts";
import { paintFor } from "../render/paint.ts";

export function catalog(context: Context, invocation: Extract<Invocation, { command: "catalog" }>): Promise<number> {
  return withClient(context, { launch: true }, async (client) => {
    const { stdout, env } = context.io;
    const answer = await client.call("catalog.get", {
      ...given("platform", invocation.platform),
      ...(invocation.refresh ? { refresh: true } : {}),
    });
    if (context.json) await writeJson(stdout, answer);
    else await write(stdout, `${catalogText(answer.platforms, paintFor(stdout, env))}\n`);
    return 0;
  });
}
