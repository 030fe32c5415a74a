import type { CallToolResult } from "@modelcontextprotocol/server";
import { failureText, type Attachment, type Failure, type ToolOutcome } from "../tool/index.ts";

/** How a failure is written for the model: `[code] message`, or as JSON. */
export type FailureStyle = "text" | "json";

type Content = CallToolResult["content"][number];

/** Success: structured content and the same JSON as text, then what the tool attached. Failure: `isError` and its text. */
export function renderOutcome(outcome: ToolOutcome, failures: FailureStyle): CallToolResult {
  if (outcome.kind !== "ok") {
    return { content: [{ type: "text", text: failureTextIn(failures, outcome.failure) }], isError: true };
  }
  const { structured, attachments } = outcome;
  return {
    content: [{ type: "text", text: JSON.stringify(structured) }, ...attachments.map(attached)],
    structuredContent: structured,
  };
}

function failureTextIn(style: FailureStyle, failure: Failure): string {
  if (style === "text") return failureText(failure);
  // As the SDK says it where it judges arguments itself: clients know that.
  return failure.code === "invalid_input" ? `Input validation error: ${failure.message}` : JSON.stringify(failure);
}

function attached(attachment: Attachment): Content {
  if (attachment.kind === "image") {
    const { bytes, mimeType } = attachment;
    return { type: "image", data: Buffer.from(bytes).toString("base64"), mimeType };
  }
  const { kind: _kind, ...link } = attachment;
  return { type: "resource_link", ...link };
}
