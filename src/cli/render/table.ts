import { stripVTControlCharacters } from "node:util";
import type { Paint } from "./paint.ts";

/**
 * Rows under headings, each column as wide as its widest cell; the last is not padded. Cells may carry colours, which do not count as width.
 */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], paint: Paint): string[] {
  const widths = headings.map((heading, at) =>
    Math.max(heading.length, ...rows.map((row) => visible(row[at] ?? "").length)),
  );
  const line = (cells: readonly string[]) =>
    `  ${cells.map((cell, at) => (at === cells.length - 1 ? cell : cell + " ".repeat((widths[at] ?? 0) - visible(cell).length))).join("  ")}`.trimEnd();
  return [paint("gray", line(headings)), ...rows.map(line)];
}

function visible(cell: string): string {
  return stripVTControlCharacters(cell);
}

/** Text that came from a device or another caller: characters that could move the cursor or turn the line round are shown as "?". */
export function safe(text: string): string {
  // C0 and C1 controls, and the bidirectional overrides and isolates (U+202A-E, U+2066-9).
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "?");
}
