/** One forward (of the server, by device) or reverse (of one device). */
export interface Forward {
  readonly serial: string;
  readonly local: string;
  readonly remote: string;
}

const LINE =
  /^(.*?)\s((?:tcp|vsock|local|localabstract|localreserved|localfilesystem|dev|dev-raw|jdwp|acceptfd):\S*) (.+)$/;

/**
 * Reads `SERIAL LOCAL REMOTE` lines. A serial may hold blanks and REMOTE may be any service (`shell:ls -l`), so the first word that has the
 * shape of a LOCAL parts them. Pure.
 */
export function parseForwards(text: string): Forward[] {
  const forwards: Forward[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, serial, local, remote] = LINE.exec(line) ?? [];
    if (serial !== undefined && local !== undefined && remote !== undefined) forwards.push({ serial, local, remote });
  }
  return forwards;
}

/** LOCAL to serial. Pure. */
export function forwardMap(forwards: readonly Forward[]): ReadonlyMap<string, string> {
  return new Map(forwards.map(({ local, serial }) => [local, serial]));
}
