import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import type { Handlers } from "../handler.ts";
import { Problem, notFound } from "../problem.ts";

interface Order {
  readonly protocol: "socks5" | "wireguard";
  readonly name: string;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly config?: string | undefined;
}

export function proxyHandlers(account: Account): Handlers<typeof endpoints.proxies> {
  const all = new Map<string, Order>();
  const find = (id: string) => {
    const proxy = all.get(id);
    if (proxy === undefined) throw notFound("Proxy", id);
    return proxy;
  };
  const put = (proxyId: string, order: Order, message: string) => {
    const proxy = checked(order);
    all.set(proxyId, proxy);
    return { data: { proxyId, ...proxy }, message, success: true };
  };
  return {
    list: ({ query }) => ({
      data: [...all]
        .filter(([, { protocol }]) => query.protocol === undefined || protocol === query.protocol)
        .map(([proxyId, proxy]) => ({ proxyId, ...proxy })),
    }),
    get: ({ path }) => ({ data: { proxyId: path.proxyId, ...find(path.proxyId) } }),
    create: ({ body }) => put(account.mint("prx"), body, "created"),
    update({ path, body }) {
      find(path.proxyId);
      return put(path.proxyId, body, "updated");
    },
    remove({ path }) {
      const proxy = find(path.proxyId);
      all.delete(path.proxyId);
      return { data: { proxyId: path.proxyId, ...proxy }, message: "deleted", success: true };
    },
    // Nothing is dialled: the answer is the same for every host.
    lookup: () => ({
      ip: "198.51.100.7",
      isMobile: false,
      latitude: 52.5,
      longitude: 13.4,
      city: "Berlin",
      region: "Berlin",
      country: "Germany",
      countryCode: "DE",
      timezone: "Europe/Berlin",
      carrier: { mcc: "262", mnc: "99", name: "NordTel" },
    }),
  };
}

function checked({ protocol, name, host, port, user, password, config }: Order): Order {
  if (protocol === "wireguard") {
    if (config === undefined) throw new Problem(422, "wireguard needs config");
    return { protocol, name, config };
  }
  if (host === undefined || port === undefined || user === undefined || password === undefined) {
    throw new Problem(422, "socks5 needs host, port, user and password");
  }
  return { protocol, name, host, port, user, password };
}
