/** One device as an adb server lists it. */
export interface ListedDevice {
  readonly serial: string;
  /** adb's own word, kept as it is: `device`, `offline`, `unauthorized`, `no permissions`, … or one that we never heard of. */
  readonly state: string;
  /** What adb says behind the state: why there are no permissions. */
  readonly message: string | undefined;
  /** Numbered anew by each server; absent before adb 1.0.40 and in the short list. */
  readonly transportId: number | undefined;
  /** `product`, `model`, `device`, `usb`, …: only as adb prints them, with every odd character made an underscore. */
  readonly fields: ReadonlyMap<string, string>;
}

const FIELD = /^([a-z][a-z0-9_]*):(\S*)$/;
const NO_PERMISSIONS = /^(.*?)\s+(no permissions)(?:\s+(.*))?$/;
/** What the client prints around the list: its header, the start of a server, a quarrel about versions. */
const NOISE = /^(List of devices attached\b|\* |adb server |adb: |WARNING: |error: )/;

/**
 * Reads the list of `adb devices`, with or without `-l`, and of `host:devices`, `host:devices-l` and the track services. A line that can't be
 * read is left out and the others stand. Pure.
 */
export function parseDeviceList(text: string): ListedDevice[] {
  const devices: ListedDevice[] = [];
  for (const line of text.split(/\r?\n/)) {
    const device = parseLine(line.trimEnd());
    if (device !== undefined) devices.push(device);
  }
  return devices;
}

/**
 * Serials hold blanks and brackets (`adb-4c75-lL2h (2)._adb-tls-connect._tcp`, adb's mDNS names), and the long form pads them to 22 columns,
 * which leaves a single blank behind a longer one (append_transport in adb's transport.cpp). So a line is read from its end: fields, then the
 * state, then what is left.
 */
function parseLine(line: string): ListedDevice | undefined {
  if (line === "" || NOISE.test(line)) return undefined;
  const { head, fields } = cutFields(line);
  const parts = splitHead(head);
  if (parts === undefined || parts.serial === "" || parts.state === "") return undefined;
  const number = fields.get("transport_id");
  return {
    ...parts,
    transportId: number !== undefined && /^[0-9]{1,15}$/.test(number) ? Number(number) : undefined,
    fields,
  };
}

/** Takes `key:value` words off the end. The first word is the serial whatever it looks like, and the second the state. */
function cutFields(line: string): { head: string; fields: Map<string, string> } {
  const fields = new Map<string, string>();
  let head = line;
  for (;;) {
    const at = head.search(/\s\S+$/);
    if (at <= 0) break;
    const match = FIELD.exec(head.slice(at + 1));
    const [, key, value] = match ?? [];
    if (key === undefined || value === undefined) break;
    if (!fields.has(key)) fields.set(key, value);
    head = head.slice(0, at).trimEnd();
  }
  return { head, fields };
}

function splitHead(head: string): Pick<ListedDevice, "serial" | "state" | "message"> | undefined {
  const denied = NO_PERMISSIONS.exec(head);
  if (denied !== null) {
    const [, serial = "", state = "", message] = denied;
    return { serial: serial.trim(), state, message };
  }
  const cut = lastMatch(head, /\t/g) ?? lastMatch(head, / {2,}/g) ?? lastMatch(head, /\s/g);
  if (cut === undefined) return undefined;
  return { serial: head.slice(0, cut).trim(), state: head.slice(cut).trim(), message: undefined };
}

function lastMatch(text: string, pattern: RegExp): number | undefined {
  let at: number | undefined;
  for (const match of text.matchAll(pattern)) at = match.index;
  return at;
}
