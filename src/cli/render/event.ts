import type { EventEnvelope } from "../../contract/index.ts";
import type { Paint } from "./paint.ts";
import { safe } from "./table.ts";

/** One event for a person: local time, name, and the plain values of its payload. */
export function eventLine(event: EventEnvelope, paint: Paint): string {
  const time = new Date(event.timestamp).toTimeString().slice(0, 8);
  const facts = Object.entries(event.payload).flatMap(([name, value]) =>
    typeof value === "object" ? [] : [`${name}=${safe(String(value))}`],
  );
  return `${paint("gray", time)} ${event.event.padEnd(24)} ${facts.join(" ")}`.trimEnd();
}
