import { z } from "zod";
import { domain, empty, get, json, patch, post, remove } from "../endpoint.ts";
import { given, number, numberFields, optionalText, page, paging, text, textFields, texts } from "../shapes.ts";

export const PROXY_TYPES = ["residential", "dedicated_residential", "mobile"] as const;
const type = z.enum(PROXY_TYPES);

/** `password` only when one is asked for or bought. Status: pending_payment, provisioning, active, cancelling, ended or error. */
export const ConnectProxy = z.object({
  id: z.string(),
  ...textFields("country", "createdAt", "host", "username", "password", "status", "type", "paymentUrl"),
  port: number,
});
export type ConnectProxy = z.infer<typeof ConnectProxy>;

export const ConnectUser = z.object({
  id: z.string(),
  ...textFields("username", "password", "proxyId", "createdAt"),
});

const Country = z.object({ code: z.string(), name: text, proxyTypes: texts });

const Connection = z.object({
  ...textFields("sessionId", "proxyId", "userId", "srcIp", "dstHost", "protocol", "country", "provider", "status"),
  dstPort: number,
  ...numberFields("bytesIn", "bytesOut", "totalBytes", "durationMs"),
  ...textFields("startedAt", "endedAt", "closeReason"),
});

const Ping = z.object({
  proxyId: text,
  /** Null when it could not be measured. */
  latency: z
    .object({
      ...numberFields("avgMs", "minMs", "maxMs", "jitterMs", "packetLoss", "samples"),
      ...textFields("target", "measuredAt"),
    })
    .nullish(),
});

const filters = {
  status: z.enum(["active", "closed"]).optional(),
  protocol: z.enum(["tcp", "udp", "unknown"]).optional(),
  country: optionalText,
  provider: optionalText,
  dstHost: optionalText,
  dstPort: z.int().optional(),
  sessionId: optionalText,
  startedAfter: optionalText,
  startedBefore: optionalText,
  endedAfter: optionalText,
  endedBefore: optionalText,
  closeReason: optionalText,
  order: z.enum(["asc", "desc"]).optional(),
  orderBy: z.enum(["startedAt", "endedAt", "bytesIn", "bytesOut", "totalBytes", "durationMs"]).optional(),
  ...paging,
};

export const connect = domain("connect", {
  countries: get("/connect/countries", {
    query: z.strictObject({ type: type.optional(), ...paging }),
    answer: json(page(Country)),
  }),
  list: get("/connect/proxies", {
    query: z.strictObject({ country: optionalText, ...paging }),
    answer: json(page(ConnectProxy)),
  }),
  get: get("/connect/proxies/{proxyId}", { answer: json(ConnectProxy) }),
  /** Buys a proxy. Older servers take an order without a type. */
  buy: post("/connect/proxies", {
    body: json(z.strictObject({ country: given, type: type.optional() })),
    answer: json(ConnectProxy),
    effects: ["write", "commerce"],
  }),
  cancel: remove("/connect/proxies/{proxyId}", { answer: empty, effects: ["destructive", "commerce"] }),
  ping: get("/connect/proxies/{proxyId}/ping", { answer: json(Ping) }),
  connections: get("/connect/proxies/{proxyId}/connections", {
    query: z.strictObject({ ...filters, userId: optionalText }),
    answer: json(page(Connection)),
  }),
  users: get("/connect/users", {
    query: z.strictObject({ proxyId: optionalText, ...paging }),
    answer: json(page(ConnectUser)),
  }),
  user: get("/connect/users/{userId}", { answer: json(ConnectUser) }),
  createUser: post("/connect/users", {
    body: json(z.strictObject({ username: optionalText, password: optionalText, proxyId: optionalText })),
    answer: json(ConnectUser),
  }),
  updateUser: patch("/connect/users/{userId}", {
    body: json(z.strictObject({ proxyId: z.string().nullable() })),
    answer: json(ConnectUser),
  }),
  removeUser: remove("/connect/users/{userId}", { answer: empty }),
  userConnections: get("/connect/users/{userId}/connections", {
    query: z.strictObject({ ...filters, proxyId: optionalText }),
    answer: json(page(Connection)),
  }),
});
