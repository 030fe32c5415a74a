import { instructionsText } from "../../mcp/index.ts";
import type { Context } from "../context.ts";
import { write, writeJson } from "../io.ts";

export async function instructions(context: Context): Promise<number> {
  const text = instructionsText.endsWith("\n") ? instructionsText : `${instructionsText}\n`;
  if (context.json) await writeJson(context.io.stdout, { instructions: text });
  else await write(context.io.stdout, text);
  return 0;
}
