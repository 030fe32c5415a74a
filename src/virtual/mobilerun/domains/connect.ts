import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import type { Handlers } from "../handler.ts";
import { paged } from "../paging.ts";
import { Problem, notFound } from "../problem.ts";
import { without } from "../without.ts";

const COUNTRIES = [
  { code: "de", name: "Germany", proxyTypes: ["residential", "dedicated_residential", "mobile"] },
  { code: "us", name: "United States", proxyTypes: ["residential", "mobile"] },
  { code: "br", name: "Brazil", proxyTypes: ["residential"] },
];
/** A proxy bought here has to be paid first; payment comes by itself after a while. */
const UNPAID = "br";
const PAYMENT_MS = 5000;
const PROVISION_MS = 2000;
const CANCEL_MS = 2000;

interface Proxy {
  readonly id: string;
  readonly country: string;
  readonly createdAt: string;
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  status: string;
  readonly type: string;
  paymentUrl: string | null;
}
interface User {
  readonly id: string;
  readonly username: string;
  readonly password: string;
  readonly proxyId: string | null;
  readonly createdAt: string;
}

export function connectHandlers(account: Account): Handlers<typeof endpoints.connect> {
  const proxies = new Map<string, Proxy>();
  const users = new Map<string, User>();
  const proxyOf = (id: string) => {
    const proxy = proxies.get(id);
    if (proxy === undefined) throw notFound("Proxy", id);
    return proxy;
  };
  const userOf = (id: string) => {
    const user = users.get(id);
    if (user === undefined) throw notFound("User", id);
    return user;
  };
  const provision = (proxy: Proxy) => {
    proxy.status = "provisioning";
    proxy.paymentUrl = null;
    account.clock.after(PROVISION_MS, () => {
      if (proxy.status === "provisioning") proxy.status = "active";
    });
  };
  /** One connection was made through each proxy. */
  const connection = (proxy: Proxy, user: User | undefined) => ({
    sessionId: `ses-${proxy.id}`,
    proxyId: proxy.id,
    userId: user?.id ?? null,
    srcIp: "203.0.113.5",
    dstHost: "example.test",
    dstPort: 443,
    protocol: "tcp",
    country: proxy.country.toUpperCase(),
    provider: "p1",
    status: "closed",
    bytesIn: 1200,
    bytesOut: 300,
    totalBytes: 1500,
    durationMs: 900,
    startedAt: proxy.createdAt,
    endedAt: proxy.createdAt,
    closeReason: "eof",
  });

  return {
    countries({ query }) {
      const { type } = query;
      return paged(
        COUNTRIES.filter(({ proxyTypes }) => type === undefined || proxyTypes.includes(type)),
        query,
      );
    },
    list({ query }) {
      const found = [...proxies.values()].filter(
        ({ country }) => query.country === undefined || country === query.country,
      );
      const page = paged(found, query);
      return { ...page, items: page.items.map((item) => without(item, "password", "paymentUrl")) };
    },
    get: ({ path }) => proxyOf(path.proxyId),
    buy({ body }) {
      const country = COUNTRIES.find(({ code }) => code === body.country.toLowerCase());
      const type = body.type ?? "residential";
      if (country === undefined) throw new Problem(422, `No proxies in ${body.country}`);
      if (!country.proxyTypes.includes(type)) throw new Problem(422, `No ${type} proxies in ${body.country}`);
      const id = account.mint("cpx");
      const unpaid = country.code === UNPAID;
      const proxy: Proxy = {
        id,
        country: country.code,
        createdAt: account.now(),
        host: "gw.virtual.test",
        port: 9000,
        username: `u-${id}`,
        password: `p-${id}`,
        status: "pending_payment",
        type,
        paymentUrl: unpaid ? `https://pay.virtual.test/${id}` : null,
      };
      proxies.set(id, proxy);
      if (!unpaid) provision(proxy);
      else account.clock.after(PAYMENT_MS, () => proxy.status === "pending_payment" && provision(proxy));
      return { ...proxy };
    },
    cancel({ path }) {
      const proxy = proxyOf(path.proxyId);
      if (proxy.status === "cancelling" || proxy.status === "ended")
        throw new Problem(409, `Proxy ${proxy.id} is ${proxy.status}`);
      proxy.status = "cancelling";
      account.clock.after(CANCEL_MS, () => {
        proxy.status = "ended";
      });
    },
    ping({ path }) {
      const { id, status } = proxyOf(path.proxyId);
      if (status !== "active") return { proxyId: id, latency: null };
      const latency = { avgMs: 81, minMs: 70, maxMs: 99, jitterMs: 29, packetLoss: 0, samples: 5 };
      return { proxyId: id, latency: { ...latency, target: "1.1.1.1:443", measuredAt: account.now() } };
    },
    connections({ path, query }) {
      const proxy = proxyOf(path.proxyId);
      const user = [...users.values()].find(({ proxyId }) => proxyId === proxy.id);
      return paged(matching([connection(proxy, user)], query), query);
    },
    users({ query }) {
      const found = [...users.values()].filter(
        ({ proxyId }) => query.proxyId === undefined || proxyId === query.proxyId,
      );
      const page = paged(found, query);
      return { ...page, items: page.items.map((item) => without(item, "password")) };
    },
    user: ({ path }) => userOf(path.userId),
    createUser({ body }) {
      if (body.proxyId !== undefined) proxyOf(body.proxyId);
      const id = account.mint("cus");
      const { username = `u-${id}`, password = `p-${id}`, proxyId = null } = body;
      const user: User = { id, username, password, proxyId, createdAt: account.now() };
      users.set(id, user);
      return user;
    },
    updateUser({ path, body }) {
      if (body.proxyId !== null) proxyOf(body.proxyId);
      const user = { ...userOf(path.userId), proxyId: body.proxyId };
      users.set(user.id, user);
      return user;
    },
    removeUser: ({ path }) => void users.delete(userOf(path.userId).id),
    userConnections({ path, query }) {
      const user = userOf(path.userId);
      const proxy = user.proxyId === null ? undefined : proxies.get(user.proxyId);
      return paged(proxy === undefined ? [] : matching([connection(proxy, user)], query), query);
    },
  };
}

/** Filters that are fields of a connection are held against it. */
function matching<T extends object>(connections: readonly T[], query: object): readonly T[] {
  const wanted = Object.entries(query);
  return connections.filter((connection) =>
    wanted.every(
      ([name, value]) =>
        !(name in connection) || value === undefined || (connection as Record<string, unknown>)[name] === value,
    ),
  );
}
