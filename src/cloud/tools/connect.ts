import { z } from "zod";
import {
  CONNECT_PROXY_TYPES,
  ConnectLogin,
  ConnectProxy,
  ConnectProxyPage,
  ConnectUser,
  ConnectUserPage,
  ConnectionPage,
  CountryPage,
  Ping,
} from "../backend/connect.ts";
import { bundle } from "./declare.ts";
import { id, page, pageSize, text } from "./inputs.ts";

const FILTERS = [
  "status",
  "protocol",
  "country",
  "provider",
  "dstHost",
  "dstPort",
  "sessionId",
  "startedAfter",
  "startedBefore",
  "endedAfter",
  "endedBefore",
  "order",
  "orderBy",
  "page",
  "pageSize",
] as const;
const time = z.string().describe("ISO 8601.");

export const connect = bundle(
  {
    name: "connect",
    title: "Proxies for sale",
    description:
      "Proxies that the platform sells: what there is, what was bought, its users and its connections. buy_proxy spends money. A device uses a bought proxy by its id (configure_device operation=proxy_connect), so that its password is needed elsewhere only; get_proxy_login and get_user_login show it.",
    by: "operation",
    fields: {
      proxyId: id,
      userId: id,
      country: z.string().min(1).describe("Country code, from list_countries."),
      type: z.enum(CONNECT_PROXY_TYPES),
      page,
      pageSize,
      status: z.enum(["active", "closed"]),
      protocol: z.enum(["tcp", "udp", "unknown"]),
      provider: text,
      dstHost: text,
      sessionId: text,
      dstPort: z.int(),
      startedAfter: time,
      startedBefore: time,
      endedAfter: time,
      endedBefore: time,
      order: z.enum(["asc", "desc"]),
      orderBy: z.enum(["startedAt", "endedAt", "bytesIn", "bytesOut", "totalBytes", "durationMs"]),
    },
  },
  (operation) => ({
    list_countries: operation({
      effects: ["read"],
      may: ["type", "page", "pageSize"],
      answer: CountryPage,
      run: ({ type, page, pageSize }, { backend, within }) =>
        backend.connect.listCountries({ type, page, pageSize }, within),
    }),
    list_proxies: operation({
      effects: ["read"],
      may: ["country", "page", "pageSize"],
      answer: ConnectProxyPage,
      run: ({ country, page, pageSize }, { backend, within }) =>
        backend.connect.listConnectProxies({ country, page, pageSize }, within),
    }),
    get_proxy: operation({
      effects: ["read"],
      needs: ["proxyId"],
      answer: ConnectProxy,
      run: ({ proxyId }, { backend, within }) => backend.connect.getConnectProxy(proxyId, within),
    }),
    get_proxy_login: operation({
      effects: ["read"],
      reveals: true,
      tellsSecret: true,
      needs: ["proxyId"],
      answer: ConnectLogin,
      run: ({ proxyId }, { backend, within }) => backend.connect.getConnectProxy(proxyId, within),
    }),
    buy_proxy: operation({
      effects: ["write", "commerce"],
      billed: true,
      needs: ["country"],
      may: ["type"],
      answer: ConnectProxy,
      run: ({ country, type = "residential" }, { backend, within }) =>
        backend.connect.buyConnectProxy({ country, type }, within),
    }),
    cancel_proxy: operation({
      effects: ["destructive", "commerce"],
      needs: ["proxyId"],
      answer: z.object({ success: z.literal(true) }),
      async run({ proxyId }, { backend, within }) {
        await backend.connect.cancelConnectProxy(proxyId, within);
        return { success: true as const };
      },
    }),
    ping_proxy: operation({
      effects: ["read"],
      needs: ["proxyId"],
      answer: Ping,
      run: ({ proxyId }, { backend, within }) => backend.connect.pingConnectProxy(proxyId, within),
    }),
    list_connections: operation({
      effects: ["read"],
      needs: ["proxyId"],
      may: FILTERS,
      answer: ConnectionPage,
      run: ({ proxyId, ...input }, { backend, within }) =>
        backend.connect.listConnectProxyConnections(proxyId, picked(input, FILTERS), within),
    }),
    list_users: operation({
      effects: ["read"],
      may: ["proxyId", "page", "pageSize"],
      answer: ConnectUserPage,
      run: ({ proxyId, page, pageSize }, { backend, within }) =>
        backend.connect.listConnectUsers({ proxyId, page, pageSize }, within),
    }),
    get_user: operation({
      effects: ["read"],
      needs: ["userId"],
      answer: ConnectUser,
      run: ({ userId }, { backend, within }) => backend.connect.getConnectUser(userId, within),
    }),
    get_user_login: operation({
      effects: ["read"],
      reveals: true,
      tellsSecret: true,
      needs: ["userId"],
      answer: ConnectLogin.omit({ host: true, port: true }),
      run: ({ userId }, { backend, within }) => backend.connect.getConnectUser(userId, within),
    }),
    list_user_connections: operation({
      effects: ["read"],
      needs: ["userId"],
      may: FILTERS,
      answer: ConnectionPage,
      run: ({ userId, ...input }, { backend, within }) =>
        backend.connect.listConnectUserConnections(userId, picked(input, FILTERS), within),
    }),
  }),
);

/** The filters alone: the input also holds the operation. */
function picked<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.filter((key) => key in from).map((key) => [key, from[key]])) as Pick<T, K>;
}
