import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

/**
 * The address that a limit counts by. Behind `hops` proxies of ours it is the entry of X-Forwarded-For that the outermost of them wrote: each
 * adds one at the end, and what stands before them anybody can have made up. An IPv6 address counts by its network, since one
 * client has 2^64 of them.
 */
export function clientAddress(
  headers: IncomingHttpHeaders,
  peer: string | undefined,
  hops: number,
): string | undefined {
  const address = (hops > 0 ? forwarded(headers, hops) : undefined) ?? peer;
  return address === undefined ? undefined : network(address);
}

function forwarded(headers: IncomingHttpHeaders, hops: number): string | undefined {
  const list =
    joined(headers["x-forwarded-for"])
      ?.split(",")
      .map((entry) => bare(entry.trim())) ?? [];
  const entry = list.at(-Math.min(hops, list.length));
  if (entry !== undefined && isIP(entry) !== 0) return entry;
  const real = bare(joined(headers["x-real-ip"])?.trim() ?? "");
  return isIP(real) === 0 ? undefined : real;
}

/** Some proxies write the port along: `1.2.3.4:567`, `[::1]:567`. */
function bare(entry: string): string {
  return /^\[([0-9a-f:.]+)\](?::\d+)?$/i.exec(entry)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(entry)?.[1] ?? entry;
}

function network(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (isIP(address) !== 6) return address;
  const [head = "", tail = ""] = (address.split("%")[0] ?? "").toLowerCase().split("::");
  const front = groupsOf(head);
  const back = groupsOf(tail);
  const groups = [...front, ...Array<string>(Math.max(0, 8 - front.length - back.length)).fill("0"), ...back];
  return `${groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}

const groupsOf = (part: string): string[] => (part === "" ? [] : part.split(":"));
const joined = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(",") : value;
