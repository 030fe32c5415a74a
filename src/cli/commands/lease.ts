import { toSimlockError, type LeaseGrant } from "../../contract/index.ts";
import { connect } from "../connect.ts";
import type { Context } from "../context.ts";
import { Hold, type Lost } from "../hold.ts";
import type { Invocation } from "../invocation.ts";
import { write, writeJson } from "../io.ts";
import { leaseFor, reportLost, sayer, Stopped } from "../leasing.ts";
import { exportLines } from "../render/export-env.ts";
import { leaseEnvironment } from "../lease-environment.ts";

/** Leases a device. Detached: prints the grant and ends. Else it stays, renews, and gives the lease back when it is told to end. */
export async function lease(context: Context, invocation: Extract<Invocation, { command: "lease" }>): Promise<number> {
  const { detach, exportEnv } = invocation;
  const stopped = new Stopped({ parent: !detach });
  try {
    const client = await connect(context, { launch: true });
    const print = (grant: LeaseGrant) =>
      exportEnv
        ? write(context.io.stdout, exportLines(leaseEnvironment(context, grant)))
        : writeJson(context.io.stdout, { ...grant, role: client.role });
    // A holder that is killed can give nothing back: bound to this process, its lease ends with it all the same.
    const ask = detach ? invocation.ask : { bindPid: process.pid, ...invocation.ask };
    let grant: LeaseGrant;
    try {
      grant = await leaseFor(context, client, ask, stopped);
    } catch (thrown) {
      await client.close();
      if (stopped.by !== undefined && toSimlockError(thrown).code === "CANCELLED") return stopped.exitCode;
      throw thrown;
    }
    if (detach) {
      await client.close();
      await print(grant);
      return 0;
    }
    const hold = new Hold(client, grant, {
      reconnect: () => connect(context, { launch: false }),
      say: sayer(context),
    });
    await print(grant).catch(async (thrown: unknown) => {
      // Nobody can have read which lease this is.
      await hold.release();
      throw thrown;
    });
    const end = await Promise.race([hold.lost, stopped.promise]);
    if (end !== "stopped") return await ended(context, hold, end);
    await hold.release();
    return 0;
  } finally {
    stopped.dispose();
  }
}

async function ended(context: Context, hold: Hold, lost: Lost): Promise<number> {
  await hold.abandon();
  return reportLost(context, lost);
}
