import { readXmlPlist } from "../../plist/index.ts";
import type { PlistValue } from "../../plist/index.ts";
import { RUNTIME, snapshot as snapshotOf, UDID } from "../planning/profile.fixture.ts";
import type { DeviceReader, Inventory, JsonValue, RunSimctl, SimctlResult, SimctlRun, Snapshot } from "../types.ts";

/** A simulator that is a few maps: what simctl does to one, as far as plans go, without a process. */
interface Model {
  name: string;
  power: "booted" | "shutdown";
  apps: Map<string, { source: string; running: boolean }>;
  preferences: Map<string, Map<string, JsonValue>>;
  statusBar: Record<string, string | number>;
  ui: Record<string, string>;
  privacy: Map<string, string>;
  pasteboard: string;
  location: string | undefined;
  events: string[];
}

const fresh = (name: string): Model => ({
  name,
  power: "shutdown",
  apps: new Map(),
  preferences: new Map(),
  statusBar: {},
  ui: { appearance: "light", increase_contrast: "disabled", content_size: "large" },
  privacy: new Map(),
  pasteboard: "",
  location: undefined,
  events: [],
});

const ok = (stdout = ""): SimctlResult => ({ exitCode: 0, stdout, stderr: "" });
const fail = (exitCode: number, stderr: string): SimctlResult => ({ exitCode, stdout: "", stderr });
const SERVICES = ["photos", "camera", "contacts"];

export interface ModelMac {
  readonly run: RunSimctl;
  readonly reader: DeviceReader;
  /** Every command that ran, joined by blanks. */
  readonly log: string[];
  readonly device: Model;
  model(udid: string): Model | undefined;
  /** Called before each command that changes something; it may throw, or answer in the tool's place. */
  before: (run: SimctlRun, count: number) => SimctlResult | undefined;
  /** Called after it took effect. */
  after: (run: SimctlRun, count: number) => void;
}

export function modelMac(start: Partial<Model> = {}): ModelMac {
  const devices = new Map<string, Model>([[UDID, { ...fresh("phone"), ...start }]]);
  const log: string[] = [];
  let made = 0;
  const mac: ModelMac = {
    log,
    device: devices.get(UDID) ?? fresh("phone"),
    model: (udid) => devices.get(udid),
    before: () => undefined,
    after: () => {},
    async run(call) {
      log.push(call.args.join(" "));
      const count = log.length;
      const instead = mac.before(call, count);
      if (instead !== undefined) return instead;
      const result = apply(devices, call, () => `0A1B2C3D-0000-4000-8000-0000000B${String(++made).padStart(4, "0")}`);
      mac.after(call, count);
      return result;
    },
    reader: {
      inventory: async () => inventoryOf(devices),
      snapshot: async ({ udid, domains = [] }) => {
        const device = devices.get(udid);
        if (device === undefined) throw new Error(`no device ${udid}`);
        return seen(udid, device, domains);
      },
    },
  };
  return mac;
}

function inventoryOf(devices: ReadonlyMap<string, Model>): Inventory {
  return {
    generatedAt: "2026-08-18T00:00:00Z",
    runtimes: [{ identifier: RUNTIME, name: "iOS 26.1", version: "26.1", isAvailable: true }],
    devices: [...devices].map(([udid, { name, power }]) => ({
      udid,
      name,
      state: power === "booted" ? "Booted" : "Shutdown",
      runtimeIdentifier: RUNTIME,
      isAvailable: true,
    })),
  };
}

function seen(udid: string, device: Model, domains: readonly string[]): Snapshot {
  const on = device.power === "booted";
  const global = device.preferences.get("NSGlobalDomain");
  const localization = Object.fromEntries(
    Object.entries({
      languages: "AppleLanguages",
      locale: "AppleLocale",
      timeZone: "AppleTimeZone",
      use24HourClock: "AppleICUForce24HourTime",
    }).flatMap(([field, key]) => (global?.has(key) === true ? [[field, global.get(key)]] : [])),
  );
  const privacy = [...device.privacy].map(([id, access]) => {
    const [service = "", bundleIdentifier = ""] = id.split(" ");
    return { service, bundleIdentifier, access: access as "granted" | "denied" };
  });
  return snapshotOf(device.power, {
    device: { udid, name: device.name },
    capabilities: { applications: { readable: on } },
    state: {
      applications: on
        ? [...device.apps].map(([bundleIdentifier, { running }]) => ({ bundleIdentifier, running, type: "User" }))
        : [],
      privacy,
      privacyServices: SERVICES,
      statusBar: device.statusBar,
      ...(on
        ? {
            preferences: domains.flatMap((domain) =>
              [...(device.preferences.get(domain) ?? [])].map(([key, value]) => ({ domain, key, value })),
            ),
            preferenceDomains: domains,
            appearance: device.ui["appearance"] === "dark" ? "dark" : "light",
            increaseContrast: device.ui["increase_contrast"] === "enabled",
            contentSize: device.ui["content_size"] ?? "large",
            localization,
            pasteboard: device.pasteboard,
          }
        : {}),
    },
  });
}

function apply(devices: Map<string, Model>, { args, stdin }: SimctlRun, mint: () => string): SimctlResult {
  const [verb = "", ...words] = args;
  if (verb === "create" || verb === "clone") {
    const udid = mint();
    const source = devices.get(words[0] ?? "");
    const name = (verb === "create" ? words[0] : words[1]) ?? "";
    devices.set(udid, source === undefined || verb === "create" ? fresh(name) : { ...structuredClone(source), name });
    return ok(`${udid}\n`);
  }
  const options = words.filter((word) => word === "--terminate-running-process");
  const [udid = "", ...rest] = words.slice(options.length);
  const device = devices.get(udid);
  if (device === undefined) return fail(164, `Invalid device: ${udid}`);
  const state = device.power === "booted" ? "Booted" : "Shutdown";
  if (verb === "boot") {
    if (device.power === "booted") return fail(149, "Unable to boot device in current state: Booted");
    device.power = "booted";
    return ok();
  }
  if (verb === "bootstatus") {
    device.power = "booted";
    return ok();
  }
  if (verb === "delete") return devices.delete(udid) ? ok() : fail(1, "gone");
  if (verb === "erase") {
    if (device.power === "booted") return fail(149, "Unable to erase contents and settings in current state: Booted");
    Object.assign(device, { ...fresh(device.name), events: device.events });
    return ok();
  }
  if (device.power === "shutdown") return fail(149, `Unable to ${verb} device in current state: ${state}`);
  return online(device, verb, rest, stdin);
}

function online(device: Model, verb: string, rest: readonly string[], stdin: string | undefined): SimctlResult {
  const [first = "", second = "", third = "", fourth = ""] = rest;
  const found = device.apps.get(first);
  switch (verb) {
    case "shutdown":
      device.power = "shutdown";
      device.statusBar = {};
      device.location = undefined;
      for (const each of device.apps.values()) each.running = false;
      return ok();
    case "install": {
      const id = /([^/]+)\.app$/.exec(first)?.[1] ?? first;
      device.apps.set(id, { source: first, running: false });
      return ok();
    }
    case "uninstall":
      device.apps.delete(first);
      return ok();
    case "launch":
      if (found === undefined) return fail(4, "NotFound");
      found.running = true;
      return ok(`${first}: 1\n`);
    case "terminate":
      if (found?.running !== true) return fail(3, "found nothing to terminate");
      found.running = false;
      return ok();
    case "privacy": {
      const id = `${second} ${third}`;
      if (first === "reset") device.privacy.delete(id);
      else device.privacy.set(id, first === "grant" ? "granted" : "denied");
      const app = device.apps.get(third);
      if (app !== undefined) app.running = false;
      return ok();
    }
    case "ui":
      device.ui[first] = second;
      return ok();
    case "pbcopy":
      device.pasteboard = stdin ?? "";
      return ok();
    case "location":
      device.location = rest.join(" ");
      return ok();
    case "status_bar": {
      if (first === "clear") device.statusBar = {};
      for (let at = 1; at < rest.length; at += 2) {
        const text = rest[at + 1] ?? "";
        device.statusBar[(rest[at] ?? "").slice(2)] = /Bars|Level/.test(rest[at] ?? "") ? Number(text) : text;
      }
      return ok();
    }
    case "spawn":
      if (first === "launchctl") {
        for (const each of device.apps.values()) each.running = false;
        return ok();
      }
      return defaults(device, second, third, fourth, rest.slice(4));
    default:
      device.events.push(`${verb} ${rest.join(" ")}${stdin ?? ""}`);
      return ok();
  }
}

function defaults(device: Model, action: string, domain: string, key: string, value: readonly string[]): SimctlResult {
  const values = device.preferences.get(domain) ?? new Map<string, JsonValue>();
  device.preferences.set(domain, values);
  if (action === "delete") return values.delete(key) ? ok() : fail(1, "Defaults have not been changed.");
  const [type = "", text = ""] = value;
  if (type === "-bool") values.set(key, text === "true");
  else if (type === "-int") values.set(key, Number(text));
  else if (type === "-string") values.set(key, text);
  else values.set(key, plain(readXmlPlist(`<plist>${type}</plist>`)));
  return ok();
}

function plain(value: PlistValue): JsonValue {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map((each: PlistValue) => plain(each));
  return value as JsonValue;
}
