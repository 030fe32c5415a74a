import type { ServerContext } from "@modelcontextprotocol/server";
import type { ToolProgress } from "../tool/index.ts";

/** Progress to a client that sent a token, until it cancels the call. Its value always rises. */
export function progressOf(context: ServerContext): ((report: ToolProgress) => void) | undefined {
  const progressToken = context.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let last = -1;
  return (report) => {
    if (context.mcpReq.signal.aborted) return;
    last = report.progress > last ? report.progress : last + 1;
    // Past its total the total means nothing more.
    const total = report.total === undefined || last > report.total ? {} : { total: report.total };
    context.mcpReq
      .notify({
        method: "notifications/progress",
        params: { progressToken, progress: last, ...total, message: report.message },
      })
      .catch(() => {});
  };
}
