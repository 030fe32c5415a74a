const ENTRY = /^\[([^\]]+)\]: \[(.*)$/;

/**
 * Reads what `getprop` prints: `[name]: [value]`. A value may span lines, be empty, or hold brackets; it ends where the next entry begins.
 * Pure.
 */
export function parseProperties(text: string): Map<string, string> {
  const properties = new Map<string, string>();
  let name: string | undefined;
  let value: string[] = [];
  const finish = (): void => {
    if (name !== undefined) properties.set(name, value.join("\n").trimEnd().replace(/\]$/, ""));
  };
  for (const line of text.split(/\r?\n/)) {
    const [, entry, first] = ENTRY.exec(line) ?? [];
    if (entry !== undefined && first !== undefined) {
      finish();
      name = entry;
      value = [first];
    } else if (name !== undefined) {
      value.push(line);
    }
  }
  finish();
  return properties;
}
