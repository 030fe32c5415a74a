import type { Context } from "../context.ts";
import { writeLine } from "../io.ts";
import { VERSION } from "../version.ts";

export async function version(context: Context): Promise<number> {
  await writeLine(context.io.stdout, VERSION);
  return 0;
}
