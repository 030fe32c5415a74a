import { BadAnswer } from "./read-answer.ts";
import type { StreamedEvent } from "./call-types.ts";

/**
 * Server-sent events as the WHATWG describes them, without what a browser does beside it (ids and reconnection). One event has a size limit;
 * a half event at the end is dropped, as the standard asks.
 */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
  maxEventBytes: number,
): AsyncGenerator<StreamedEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  let event = "";
  let data: string[] = [];
  let size = 0;
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    // A lone CR at the end may be the first half of a CRLF: it waits for the next chunk.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      size += line.length;
      if (line === "") {
        if (data.length > 0) yield { event: event === "" ? "message" : event, data: parsed(data.join("\n")) };
        [event, data, size] = ["", [], 0];
        continue;
      }
      const [, field = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === "event") event = value;
      if (field === "data") data.push(value);
    }
    if (size + rest.length > maxEventBytes) throw new BadAnswer(`sent an event of more than ${maxEventBytes} bytes`);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
