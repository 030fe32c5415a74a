import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import type { Context } from "./context.ts";

/** The daemon writes its secret just after it claimed its socket: a command that comes in between looks again. */
const LOOKS = 10;
const PAUSE_MS = 50;

/** What an admin command presents: `--token`, `SIMLOCK_ADMIN_TOKEN`, or the home's own secret. Undefined where there is none. */
export async function adminCredential(context: Context, looks = LOOKS): Promise<string | undefined> {
  if (context.token !== undefined) return context.token;
  for (let look = 1; ; look += 1) {
    const secret = await readFile(context.layout.adminToken, "utf8").then(
      (text) => text.trim(),
      () => "",
    );
    if (secret !== "") return secret;
    if (look >= looks) return undefined;
    await wait(PAUSE_MS);
  }
}
