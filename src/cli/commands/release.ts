import { confirm } from "../confirm.ts";
import { withClient } from "../connect.ts";
import type { Context } from "../context.ts";
import type { Invocation } from "../invocation.ts";
import { writeJson } from "../io.ts";
import { meantLease } from "../leasing.ts";

/** Gives one lease back; with the admin secret somebody else's (`--force`), or all. */
export async function release(
  context: Context,
  invocation: Extract<Invocation, { command: "release" }>,
): Promise<number> {
  const { all, force, yes } = invocation;
  if (all) {
    await confirm(context, { yes, question: "End every lease on this machine, whoever holds it?" });
    return withClient(context, { launch: true, admin: true }, async (client) => {
      await writeJson(context.io.stdout, await client.call("lease.release-all", {}));
      return 0;
    });
  }
  return withClient(context, { launch: true, admin: force }, async (client) => {
    const leaseId = await meantLease(context, client, invocation.lease);
    await writeJson(
      context.io.stdout,
      await client.call("lease.release", { leaseId, ...(force ? { force: true } : {}) }),
    );
    return 0;
  });
}
