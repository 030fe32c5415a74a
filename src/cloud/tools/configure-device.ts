import { z } from "zod";
import { Language, Location, Overlay, ProxyStatus, Time, Timezone } from "../backend/device-control.ts";
import { bundle } from "./declare.ts";
import { deviceId, flag, id, packageName, port, text } from "./inputs.ts";

const ok = z.object({ status: z.literal("ok"), operation: z.string(), deviceId: z.string() });
const done = (operation: string, device: string) => ({ status: "ok" as const, operation, deviceId: device });

const SOCKS5 = ["socks5Host", "socks5Port", "socks5User", "socks5Password"] as const;
const CONNECT = ["connectProxyId", "connectCountry"] as const;

export const configureDevice = bundle(
  {
    name: "configure_device",
    title: "Configure a device",
    description:
      "Read and set a device's language, time zone, location, overlay, proxy and kiosk mode. proxy_connect takes exactly one of proxyName (a stored proxy), smartIp, a SOCKS5 address, or a bought proxy by connectProxyId or connectCountry.",
    by: "operation",
    fields: {
      deviceId,
      locale: z
        .string()
        .regex(/^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-[A-Za-z]{2})?$/)
        .describe("As in de, pt-BR or zh-Hant-TW."),
      restart: flag,
      timezone: z.string().min(1).describe("IANA name, from platform_catalog catalog=timezones."),
      latitude: z.number().min(-90).max(90),
      longitude: z.number().min(-180).max(180),
      visible: flag,
      proxyName: z.string().min(1),
      smartIp: flag,
      socks5Host: z.string().min(1),
      socks5Port: port,
      socks5User: text,
      socks5Password: text,
      connectProxyId: id,
      connectCountry: z.string().min(1),
      packageName,
    },
  },
  (operation) => ({
    get_language: operation({
      effects: ["read"],
      needs: ["deviceId"],
      answer: Language,
      run: ({ deviceId: device }, { backend, within }) => backend.deviceControl.getLanguage(device, within),
    }),
    set_language: operation({
      effects: ["write"],
      needs: ["deviceId", "locale"],
      may: ["restart"],
      answer: ok,
      async run({ deviceId: device, locale, restart }, { backend, within }) {
        await backend.deviceControl.setLanguage(device, { locale, restart }, within);
        return done("set_language", device);
      },
    }),
    get_timezone: operation({
      effects: ["read"],
      needs: ["deviceId"],
      answer: Timezone,
      run: ({ deviceId: device }, { backend, within }) => backend.deviceControl.getTimezone(device, within),
    }),
    set_timezone: operation({
      effects: ["write"],
      needs: ["deviceId", "timezone"],
      answer: ok,
      async run({ deviceId: device, timezone }, { backend, within }) {
        await backend.deviceControl.setTimezone(device, timezone, within);
        return done("set_timezone", device);
      },
    }),
    get_location: operation({
      effects: ["read"],
      needs: ["deviceId"],
      answer: Location,
      run: ({ deviceId: device }, { backend, within }) => backend.deviceControl.getLocation(device, within),
    }),
    set_location: operation({
      effects: ["write"],
      needs: ["deviceId", "latitude", "longitude"],
      answer: ok,
      async run({ deviceId: device, latitude, longitude }, { backend, within }) {
        await backend.deviceControl.setLocation(device, { latitude, longitude }, within);
        return done("set_location", device);
      },
    }),
    reset_location: operation({
      effects: ["write"],
      needs: ["deviceId"],
      answer: ok,
      async run({ deviceId: device }, { backend, within }) {
        await backend.deviceControl.resetLocation(device, within);
        return done("reset_location", device);
      },
    }),
    get_time: operation({
      effects: ["read"],
      needs: ["deviceId"],
      answer: Time,
      run: ({ deviceId: device }, { backend, within }) => backend.deviceControl.getTime(device, within),
    }),
    get_overlay: operation({
      effects: ["read"],
      needs: ["deviceId"],
      answer: Overlay,
      run: ({ deviceId: device }, { backend, within }) => backend.deviceControl.getOverlay(device, within),
    }),
    set_overlay: operation({
      effects: ["write"],
      needs: ["deviceId", "visible"],
      answer: ok,
      async run({ deviceId: device, visible }, { backend, within }) {
        await backend.deviceControl.setOverlay(device, visible, within);
        return done("set_overlay", device);
      },
    }),
    // The device dials the proxy; a smart IP and a bought proxy cost money.
    proxy_connect: operation({
      effects: ["write"],
      billed: true,
      dials: true,
      needs: ["deviceId"],
      may: ["proxyName", "smartIp", ...SOCKS5, ...CONNECT],
      check: wrongProxy,
      answer: ok,
      async run({ deviceId: device, proxyName: name, smartIp, ...rest }, { backend, within }) {
        const { socks5Host: host, socks5Port, socks5User: user, socks5Password: password } = rest;
        const { connectProxyId, connectCountry: country } = rest;
        const socks5 =
          host !== undefined && socks5Port !== undefined ? { host, port: socks5Port, user, password } : undefined;
        const connect = (connectProxyId ?? country) ? { id: connectProxyId, country } : undefined;
        await backend.deviceControl.connectProxy(device, { name, smartIp, socks5, connect }, within);
        return done("proxy_connect", device);
      },
    }),
    proxy_disconnect: operation({
      effects: ["write"],
      needs: ["deviceId"],
      answer: ok,
      async run({ deviceId: device }, { backend, within }) {
        await backend.deviceControl.disconnectProxy(device, within);
        return done("proxy_disconnect", device);
      },
    }),
    get_proxy_status: operation({
      effects: ["read"],
      needs: ["deviceId"],
      answer: ProxyStatus,
      run: ({ deviceId: device }, { backend, within }) => backend.deviceControl.getProxyStatus(device, within),
    }),
    enter_kiosk: operation({
      effects: ["write"],
      needs: ["deviceId", "packageName"],
      answer: ok,
      async run({ deviceId: device, packageName: app }, { backend, within }) {
        await backend.deviceControl.enterKiosk(device, app, within);
        return done("enter_kiosk", device);
      },
    }),
    leave_kiosk: operation({
      effects: ["write"],
      needs: ["deviceId"],
      answer: ok,
      async run({ deviceId: device }, { backend, within }) {
        await backend.deviceControl.leaveKiosk(device, within);
        return done("leave_kiosk", device);
      },
    }),
  }),
);

type ProxyInput = Partial<Record<(typeof SOCKS5)[number] | (typeof CONNECT)[number] | "proxyName", unknown>> & {
  readonly smartIp?: boolean | undefined;
};

/** Half an address, or nothing to connect to, would be taken by the platform without a word. */
function wrongProxy(input: ProxyInput): string | undefined {
  const socks5 = SOCKS5.filter((field) => input[field] !== undefined);
  const connect = CONNECT.filter((field) => input[field] !== undefined);
  if (socks5.length > 0 && (input.socks5Host === undefined || input.socks5Port === undefined)) {
    return "a SOCKS5 proxy requires socks5Host and socks5Port";
  }
  if (connect.length > 1) return "give connectProxyId or connectCountry, not both";
  const ways = [input.proxyName !== undefined, input.smartIp === true, socks5.length > 0, connect.length > 0];
  return ways.filter(Boolean).length === 1
    ? undefined
    : "requires exactly one of proxyName, smartIp=true, socks5Host with socks5Port, connectProxyId, connectCountry";
}
