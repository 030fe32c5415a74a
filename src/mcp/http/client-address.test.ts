import { expect, test } from "vitest";
import { clientAddress } from "./client-address.ts";

const from = (forwarded: string | undefined, hops: number, more: Record<string, string> = {}) =>
  clientAddress({ ...(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }), ...more }, "10.0.0.1", hops);

test("without a proxy of ours only the peer counts", () => {
  expect(from("203.0.113.1", 0)).toBe("10.0.0.1");
  expect(clientAddress({}, undefined, 0)).toBeUndefined();
});

test("behind proxies the entry counts that the outermost of them wrote", () => {
  expect(from("6.6.6.6, 203.0.113.1", 1)).toBe("203.0.113.1");
  expect(from("6.6.6.6, 203.0.113.1, 10.0.0.2", 2)).toBe("203.0.113.1");
  expect(from("203.0.113.1", 2)).toBe("203.0.113.1");
  expect(from("203.0.113.1:4711", 1)).toBe("203.0.113.1");
});

test("what is no address falls back to X-Real-IP, then to the peer", () => {
  expect(from("unknown", 1, { "x-real-ip": "203.0.113.9" })).toBe("203.0.113.9");
  expect(from(undefined, 1, { "x-real-ip": "nonsense" })).toBe("10.0.0.1");
  expect(from("", 1)).toBe("10.0.0.1");
});

test("an IPv6 client counts by its network, and IPv4 inside IPv6 is IPv4", () => {
  expect(from("2001:DB8:0:1::5", 1)).toBe("2001:db8:0:1::/64");
  expect(from("2001:db8:0:1:aaaa:bbbb:cccc:dddd", 1)).toBe("2001:db8:0:1::/64");
  expect(from("[2001:db8::1]:443", 1)).toBe("2001:db8:0:0::/64");
  expect(from("::1", 1)).toBe("0:0:0:0::/64");
  expect(from("::ffff:203.0.113.1", 1)).toBe("203.0.113.1");
});
