import { z } from "zod";
import { flag, number, numberFields, textFields, written, type Within } from "./fields.ts";

/** Without the password and without a WireGuard configuration, which holds a private key: they go in and never out. */
export const ProxyConfig = z.object({
  proxyId: z.string(),
  ...textFields("protocol", "name", "host"),
  port: number,
  ...textFields("user"),
});
export const ProxyWritten = written(ProxyConfig.nullish());
export const ProxyExit = z.object({
  ...textFields("ip", "city", "region", "country", "countryCode", "timezone"),
  isMobile: flag,
  ...numberFields("latitude", "longitude"),
  carrier: z.object(textFields("mcc", "mnc", "name")).nullish(),
});

export type NewProxy =
  | { readonly protocol: "socks5"; name: string; host: string; port: number; user: string; password: string }
  | { readonly protocol: "wireguard"; name: string; config: string };
type Written = Promise<z.input<typeof ProxyWritten>>;

export interface ProxiesBackend {
  listProxies(
    filter: { protocol?: "socks5" | "wireguard" | undefined },
    within?: Within,
  ): Promise<{ data: z.input<typeof ProxyConfig>[] | null }>;
  getProxy(proxyId: string, within?: Within): Promise<{ data: z.input<typeof ProxyConfig> }>;
  createProxy(proxy: NewProxy, within?: Within): Written;
  updateProxy(proxyId: string, proxy: NewProxy, within?: Within): Written;
  deleteProxy(proxyId: string, within?: Within): Written;
  /** Dials the host. */
  lookupProxy(
    proxy: { host: string; port: number; user?: string | undefined; password?: string | undefined },
    within?: Within,
  ): Promise<z.input<typeof ProxyExit>>;
}
