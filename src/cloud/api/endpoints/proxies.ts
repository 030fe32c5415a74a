import { z } from "zod";
import { domain, get, json, post, put, remove } from "../endpoint.ts";
import { data, flag, given, list, number, numberFields, optionalText, textFields, written } from "../shapes.ts";

/** `password` and a WireGuard `config`, which holds a private key, are secrets. */
export const ProxyConfig = z.object({
  proxyId: z.string(),
  ...textFields("protocol", "name", "host"),
  port: number,
  ...textFields("user", "password", "config"),
});
export type ProxyConfig = z.infer<typeof ProxyConfig>;

const port = z.int().min(1).max(65_535);

/** socks5: host, port, user and password; wireguard: config. */
const NewProxy = z.strictObject({
  protocol: z.enum(["socks5", "wireguard"]),
  name: given,
  host: optionalText,
  port: port.optional(),
  user: optionalText,
  password: optionalText,
  config: optionalText,
});

const Exit = z.object({
  ...textFields("ip", "city", "region", "country", "countryCode", "timezone"),
  isMobile: flag,
  ...numberFields("latitude", "longitude"),
  carrier: z.object(textFields("mcc", "mnc", "name")).nullish(),
});

export const proxies = domain("proxies", {
  list: get("/proxies", {
    query: z.strictObject({ protocol: z.enum(["socks5", "wireguard"]).optional() }),
    answer: json(data(list(ProxyConfig))),
  }),
  get: get("/proxies/{proxyId}", { answer: json(data(ProxyConfig)) }),
  create: post("/proxies", { body: json(NewProxy), answer: json(written(ProxyConfig)) }),
  /** Replaces the whole of it. */
  update: put("/proxies/{proxyId}", { body: json(NewProxy), answer: json(written(ProxyConfig)) }),
  remove: remove("/proxies/{proxyId}", { answer: json(written(ProxyConfig.nullish())) }),
  /** Where a proxy comes out. The API dials the host that is given: sent once. */
  lookup: post("/proxies/lookup", {
    body: json(
      z.strictObject({ socks5: z.strictObject({ host: given, port, user: optionalText, password: optionalText }) }),
    ),
    answer: json(Exit),
    effects: ["read"],
  }),
});
