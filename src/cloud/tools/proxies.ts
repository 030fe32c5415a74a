import { z } from "zod";
import { data } from "../backend/fields.ts";
import { ProxyConfig, ProxyExit, ProxyWritten, type NewProxy } from "../backend/proxies.ts";
import { sliceFields, sliceOf } from "./bounds.ts";
import { bundle } from "./declare.ts";
import { id, port } from "./inputs.ts";

const given = z.string().min(1);
const FIELDS = { socks5: ["host", "port", "user", "password"], wireguard: ["config"] } as const;
const MAY = ["host", "port", "user", "password", "config"] as const;

export const proxies = bundle(
  {
    name: "proxies",
    title: "Stored proxies",
    description:
      "Proxy configurations that devices can use by name. protocol=socks5 takes host, port, user and password; protocol=wireguard takes config. Passwords and configurations go in and are never shown. update replaces the whole of it.",
    by: "operation",
    fields: {
      proxyId: id,
      protocol: z.enum(["socks5", "wireguard"]),
      name: given,
      host: given,
      port,
      user: given,
      password: given,
      config: given.max(65_536).describe("A WireGuard configuration."),
      lookupUser: given,
      lookupPassword: given,
      ...sliceFields,
    },
  },
  (operation) => ({
    list: operation({
      effects: ["read"],
      may: ["protocol", "offset", "limit"],
      answer: z.object({
        data: z.array(ProxyConfig),
        total: z.int(),
        offset: z.int(),
        hasMore: z.boolean(),
        nextOffset: z.int().optional(),
      }),
      async run({ protocol, offset, limit }, { backend, within }) {
        const all = await backend.proxies.listProxies({ protocol }, within);
        const { items, ...rest } = sliceOf(all.data, { offset, limit });
        return { ...rest, data: items };
      },
    }),
    get: operation({
      effects: ["read"],
      needs: ["proxyId"],
      answer: data(ProxyConfig),
      run: ({ proxyId }, { backend, within }) => backend.proxies.getProxy(proxyId, within),
    }),
    create: operation({
      effects: ["write"],
      needs: ["protocol", "name"],
      may: MAY,
      check: wrongProxy,
      answer: ProxyWritten,
      run: (input, { backend, within }) => backend.proxies.createProxy(proxyOf(input), within),
    }),
    update: operation({
      effects: ["destructive"],
      needs: ["proxyId", "protocol", "name"],
      may: MAY,
      check: wrongProxy,
      answer: ProxyWritten,
      run: (input, { backend, within }) => backend.proxies.updateProxy(input.proxyId, proxyOf(input), within),
    }),
    delete: operation({
      effects: ["destructive"],
      needs: ["proxyId"],
      answer: ProxyWritten.partial(),
      run: ({ proxyId }, { backend, within }) => backend.proxies.deleteProxy(proxyId, within),
    }),
    lookup: operation({
      effects: ["read"],
      dials: true,
      needs: ["host", "port"],
      may: ["lookupUser", "lookupPassword"],
      answer: ProxyExit,
      run: ({ host, port: at, lookupUser: user, lookupPassword: password }, { backend, within }) =>
        backend.proxies.lookupProxy({ host, port: at, user, password }, within),
    }),
  }),
);

interface ProxyInput {
  readonly protocol: "socks5" | "wireguard";
  readonly name: string;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly config?: string | undefined;
}

function wrongProxy(input: ProxyInput): string | undefined {
  const needed: readonly (typeof MAY)[number][] = FIELDS[input.protocol];
  const missing = needed.filter((field) => input[field] === undefined);
  if (missing.length > 0) return `protocol=${input.protocol} requires ${missing.join(", ")}`;
  const foreign = MAY.filter((field) => input[field] !== undefined && !needed.includes(field));
  if (foreign.length === 0) return undefined;
  return `field ${foreign.join(", ")} is not valid for protocol=${input.protocol}; allowed fields: ${needed.join(", ")}`;
}

/** Checked before: each protocol has all of its own fields. */
function proxyOf({
  protocol,
  name,
  host = "",
  port: at = 0,
  user = "",
  password = "",
  config = "",
}: ProxyInput): NewProxy {
  return protocol === "socks5" ? { protocol, name, host, port: at, user, password } : { protocol, name, config };
}
