import { withClient } from "../connect.ts";
import type { Context } from "../context.ts";
import type { Invocation } from "../invocation.ts";
import { given } from "../given.ts";
import { writeJson } from "../io.ts";
import { meantLease } from "../leasing.ts";

export function renew(context: Context, invocation: Extract<Invocation, { command: "renew" }>): Promise<number> {
  return withClient(context, { launch: true }, async (client) => {
    const leaseId = await meantLease(context, client, invocation.lease);
    await writeJson(
      context.io.stdout,
      await client.call("lease.renew", { leaseId, ...given("ttlMs", invocation.ttlMs) }),
    );
    return 0;
  });
}
