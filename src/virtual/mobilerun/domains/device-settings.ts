import type { endpoints } from "../../../cloud/index.ts";
import { defaultSettings, type Devices, type Settings } from "../device.ts";
import type { Handlers, Received } from "../handler.ts";
import { Problem } from "../problem.ts";

export function deviceSettingHandlers(devices: Devices): Handlers<typeof endpoints.deviceSettings> {
  const settingsOf = (path: { readonly deviceId: string }) => devices.ready(path.deviceId).settings;
  return {
    language: ({ path }) => ({ locale: settingsOf(path).locale }),
    setLanguage({ path, body }) {
      settingsOf(path).locale = body.locale;
    },
    timezone: ({ path }) => ({ timezone: settingsOf(path).timezone }),
    setTimezone({ path, body }) {
      if (!Intl.supportedValuesOf("timeZone").includes(body.timezone) && body.timezone !== "UTC") {
        throw new Problem(400, `No time zone ${body.timezone}`);
      }
      settingsOf(path).timezone = body.timezone;
    },
    location({ path }) {
      const { latitude, longitude } = settingsOf(path);
      return { latitude, longitude };
    },
    setLocation: ({ path, body }) => void Object.assign(settingsOf(path), body),
    resetLocation({ path }) {
      const { latitude, longitude } = defaultSettings();
      Object.assign(settingsOf(path), { latitude, longitude });
    },
    proxy: ({ path }) => ({ $schema: "https://virtual.test/schemas/Proxy.json", ...settingsOf(path).proxy }),
    connectProxy({ path, body }) {
      settingsOf(path).proxy = proxyOf(body);
    },
    disconnectProxy({ path }) {
      settingsOf(path).proxy = { connected: false, name: null, protocol: null };
    },
  };
}

/** The connection that somebody asked for. */
export function proxyOf(asked: Received<(typeof endpoints.deviceSettings)["connectProxy"]>["body"]): Settings["proxy"] {
  const way = asked.socks5 ?? asked.name ?? asked.connect ?? (asked.smartIp === true ? true : undefined);
  if (way === undefined) throw new Problem(400, "Give one of name, smartIp, socks5 and connect");
  return { connected: true, name: asked.name ?? null, protocol: "socks5" };
}
