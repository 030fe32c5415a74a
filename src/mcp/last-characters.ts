/** The last `limit` characters, in JavaScript string length. Half a character at the cut is dropped. */
export function lastCharacters(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const start = text.length - limit;
  const code = text.charCodeAt(start);
  return text.slice(code >= 0xdc00 && code <= 0xdfff ? start + 1 : start);
}
