import { writeFileSync } from "node:fs";
import { parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { appleJson } from "../formats/apple-json.ts";
import { listingJson } from "../listing-json.ts";
import { listingText } from "../listing-text.ts";
import { SECTIONS } from "../listing.ts";
import type { Section, Term } from "../listing.ts";

/** `list [-j] [-v] [devices|devicetypes|runtimes|pairs]… [term]`. Several sections may be named, as `list -j devicetypes runtimes` is in use. */
export async function list(call: Call, args: readonly string[]): Promise<void> {
  const parsed = parseArguments("list", args, {
    flags: ["-j --json", "-v --verbose", "-e --no-escape-slashes"],
    values: ["--json-output"],
  });
  const split = parsed.operands.findIndex((word) => !isSection(word));
  const named = (split < 0 ? parsed.operands : parsed.operands.slice(0, split)).filter(isSection);
  const sections = named.length === 0 ? SECTIONS : SECTIONS.filter((section) => named.includes(section));
  const term = termOf(split < 0 ? [] : parsed.operands.slice(split));
  await call.takeTime("list");

  const file = parsed.value("--json-output");
  if (file === undefined && !parsed.has("-j")) {
    call.out(listingText(call, sections, term));
    return;
  }
  const text = `${appleJson(listingJson(call, sections, term), { escapeSlashes: !parsed.has("-e") })}\n`;
  if (file === undefined) call.out(text);
  else writeFileSync(file, text);
}

function isSection(word: string): word is Section {
  return SECTIONS.some((section) => section === word);
}

function termOf(words: readonly string[]): Term {
  const term = words.join(" ").toLowerCase();
  if (term === "") return () => true;
  if (term === "available") return (entry) => entry.available;
  if (term === "booted") return (entry) => entry.state === "Booted";
  return (entry) => entry.texts.some((text) => text.toLowerCase().includes(term));
}
