import { z } from "zod";
import { number, numberFields, page, text, textFields, texts, type Paging, type Within } from "./fields.ts";

export const CONNECT_PROXY_TYPES = ["residential", "dedicated_residential", "mobile"] as const;
export type ConnectProxyType = (typeof CONNECT_PROXY_TYPES)[number];

export const ConnectProxy = z.object({
  id: z.string(),
  ...textFields("country", "createdAt", "host", "username", "status", "type", "paymentUrl"),
  port: number,
});
export const ConnectUser = z.object({ id: z.string(), ...textFields("username", "proxyId", "createdAt") });
/** What one needs to use a proxy elsewhere. A device takes a proxy by its id and needs none of it. */
export const ConnectLogin = z.object({ id: z.string(), ...textFields("host", "username", "password"), port: number });
export const Country = z.object({ code: z.string(), name: text, proxyTypes: texts });
export const Ping = z.object({
  proxyId: text,
  latency: z
    .object({
      ...numberFields("avgMs", "minMs", "maxMs", "jitterMs", "packetLoss", "samples"),
      ...textFields("target", "measuredAt"),
    })
    .nullish(),
});
export const Connection = z.object({
  ...textFields("sessionId", "proxyId", "srcIp", "dstHost", "protocol", "country", "provider", "status"),
  dstPort: number,
  ...numberFields("bytesIn", "bytesOut", "totalBytes", "durationMs"),
  ...textFields("startedAt", "endedAt", "closeReason"),
});
export const [CountryPage, ConnectProxyPage, ConnectUserPage, ConnectionPage] = [
  page(Country),
  page(ConnectProxy),
  page(ConnectUser),
  page(Connection),
];

export interface ConnectionFilter extends Paging {
  readonly status?: "active" | "closed" | undefined;
  readonly protocol?: "tcp" | "udp" | "unknown" | undefined;
  readonly country?: string | undefined;
  readonly provider?: string | undefined;
  readonly dstHost?: string | undefined;
  readonly dstPort?: number | undefined;
  readonly sessionId?: string | undefined;
  readonly startedAfter?: string | undefined;
  readonly startedBefore?: string | undefined;
  readonly endedAfter?: string | undefined;
  readonly endedBefore?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
  readonly orderBy?: "startedAt" | "endedAt" | "bytesIn" | "bytesOut" | "totalBytes" | "durationMs" | undefined;
}
type Of<T extends z.ZodType> = Promise<z.input<T>>;
type WithLogin = z.input<typeof ConnectProxy> & { password?: string | null | undefined };

export interface ConnectBackend {
  listCountries(filter: Paging & { type?: ConnectProxyType | undefined }, within?: Within): Of<typeof CountryPage>;
  listConnectProxies(filter: Paging & { country?: string | undefined }, within?: Within): Of<typeof ConnectProxyPage>;
  getConnectProxy(proxyId: string, within?: Within): Promise<WithLogin>;
  buyConnectProxy(order: { country: string; type: ConnectProxyType }, within?: Within): Promise<WithLogin>;
  cancelConnectProxy(proxyId: string, within?: Within): Promise<void>;
  pingConnectProxy(proxyId: string, within?: Within): Of<typeof Ping>;
  listConnectProxyConnections(proxyId: string, filter: ConnectionFilter, within?: Within): Of<typeof ConnectionPage>;
  listConnectUsers(filter: Paging & { proxyId?: string | undefined }, within?: Within): Of<typeof ConnectUserPage>;
  getConnectUser(
    userId: string,
    within?: Within,
  ): Promise<z.input<typeof ConnectUser> & { password?: string | null | undefined }>;
  listConnectUserConnections(userId: string, filter: ConnectionFilter, within?: Within): Of<typeof ConnectionPage>;
}
