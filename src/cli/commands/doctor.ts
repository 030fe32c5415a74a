import { confirm } from "../confirm.ts";
import { withClient } from "../connect.ts";
import type { Context } from "../context.ts";
import type { Invocation } from "../invocation.ts";
import { write, writeJson } from "../io.ts";
import { doctorText } from "../render/doctor.ts";
import { paintFor } from "../render/paint.ts";

export async function doctor(
  context: Context,
  invocation: Extract<Invocation, { command: "doctor" }>,
): Promise<number> {
  const { fix, purgeOrphans, yes } = invocation;
  if (purgeOrphans)
    await confirm(context, { yes, question: "Remove for good the devices that we made and no longer know?" });
  return withClient(context, { launch: true, admin: fix || purgeOrphans }, async (client) => {
    const { stdout, env } = context.io;
    const report = await client.call("doctor.run", {
      ...(fix ? { fix: true } : {}),
      ...(purgeOrphans ? { purgeOrphans: true } : {}),
    });
    if (context.json) await writeJson(stdout, report);
    else await write(stdout, `${doctorText(report, paintFor(stdout, env))}\n`);
    return 0;
  });
}
