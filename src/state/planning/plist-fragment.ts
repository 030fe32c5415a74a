import type { JsonValue } from "../types.ts";

/**
 * A value as a fragment of an XML property list, which `defaults write DOMAIN KEY '<array>…</array>'` takes as it is: the only way to keep the types
 * within an array and all digits of a real number (`-array` stores strings, `-float` 32 bits). What JSON has no form for is as a snapshot shows it:
 * `$data`, `$date`, `$integer`, `$real`. Null has no form and is left out.
 */
export function plistFragment(value: JsonValue): string {
  if (value === null) return "";
  switch (typeof value) {
    case "boolean":
      return value ? "<true/>" : "<false/>";
    case "number":
      return Number.isSafeInteger(value) ? `<integer>${value}</integer>` : `<real>${value}</real>`;
    case "string":
      return `<string>${escaped(value)}</string>`;
    default:
      return isList(value) ? `<array>${value.map(plistFragment).join("")}</array>` : dictionary(value);
  }
}

function dictionary(value: { readonly [key: string]: JsonValue }): string {
  const { $data: data, $date: date, $integer: integer, $real: real } = value;
  if (typeof integer === "string") return `<integer>${escaped(integer)}</integer>`;
  if (typeof real === "string") return `<real>${escaped(real)}</real>`;
  if (typeof data === "string") return `<data>${escaped(data)}</data>`;
  // Property lists know whole seconds only.
  if (typeof date === "string") return `<date>${escaped(date.replace(/\.\d+(?=Z$)/, ""))}</date>`;
  const entries = Object.entries(value).map(([key, each]) => `<key>${escaped(key)}</key>${plistFragment(each)}`);
  return `<dict>${entries.join("")}</dict>`;
}

function escaped(text: string): string {
  if (!/[&<>\r]/.test(text)) return text;
  // A reader of XML makes a line feed of a bare carriage return.
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\r", "&#13;");
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
