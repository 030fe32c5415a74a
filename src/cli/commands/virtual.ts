import { startVirtualMobilerun } from "../../virtual/index.ts";
import type { Context } from "../context.ts";
import type { Invocation } from "../invocation.ts";
import { writeJson } from "../io.ts";
import { Stopped } from "../leasing.ts";

/** The stand-in for the Mobilerun API, until a signal comes or whoever started it has ended. */
export async function virtualMobilerun(
  { io }: Context,
  { port }: Extract<Invocation, { command: "virtual mobilerun" }>,
): Promise<number> {
  const stopped = new Stopped({ parent: true });
  const platform = await startVirtualMobilerun({ port });
  try {
    await writeJson(io.stdout, { url: platform.url });
    await stopped.promise;
    return 0;
  } finally {
    stopped.dispose();
    await platform.close();
  }
}
