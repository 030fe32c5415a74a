import { SimlockError } from "../contract/index.ts";

/** A platform of Apple's simulators, as runtimes name it. */
export type ApplePlatform = "iOS" | "watchOS" | "tvOS" | "xrOS";

/** What a driver needs of a state: whether commands reach the device. */
export type RunState = "running" | "stopped" | "transitioning";

export interface RuntimeName {
  /** Undefined for a platform that we don't know: its raw id is kept. */
  readonly platform: ApplePlatform | undefined;
  readonly version: string;
}

/** One device of `simctl list -j devices`. What older Xcodes leave out is undefined. */
export interface SimDevice {
  readonly udid: string;
  readonly name: string;
  /** simctl's own word: Booted, Shutdown, Booting, Shutting Down, Creating, … */
  readonly state: string;
  readonly runState: RunState;
  /** The key it is listed under: a runtime identifier, or `iOS 12.1` before Xcode 10.2. */
  readonly runtime: string;
  readonly deviceType: string | undefined;
  readonly dataPath: string | undefined;
  /** Why it can't be used, where simctl says that it can't. */
  readonly unavailable: string | undefined;
}

export interface DeviceType {
  readonly id: string;
  readonly name: string;
  readonly family: string | undefined;
  readonly modelIdentifier: string | undefined;
  readonly minRuntime: number;
  readonly maxRuntime: number;
}

export interface Runtime {
  readonly id: string;
  /** As people say it: `iOS 26.1`. */
  readonly name: string;
  readonly version: string;
  readonly platform: ApplePlatform | undefined;
  readonly unavailable: string | undefined;
  /** Device types it says it can run; undefined where an older Xcode does not say. */
  readonly supports: ReadonlySet<string> | undefined;
}

/** What was read, and the text in front of it that was not part of it. */
interface Parsed {
  readonly root: Readonly<Record<string, unknown>>;
  readonly noise: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** How many places of a noisy output may be tried as the beginning of the object. */
const MAX_STARTS = 200;

/**
 * The JSON object in a tool's output. First-launch messages of Xcode can stand in front of it (appium/WebDriverAgent#165), with braces of their
 * own. Throws `TOOL_FAILED` when there is no object with `key`: an unreadable listing is never an empty one.
 */
export function parseOutput(output: string, key: string): Parsed {
  const end = output.lastIndexOf("}");
  let start = output.indexOf("{");
  for (let tries = 0; start !== -1 && start < end && tries < MAX_STARTS; tries += 1) {
    const root = parseObject(output.slice(start, end + 1));
    if (root !== undefined && Object.hasOwn(root, key)) {
      const noise = output.slice(0, start).trim();
      return { root, noise: noise === "" ? undefined : noise };
    }
    start = output.indexOf("{", start + 1);
  }
  throw malformed(`its output has no object with "${key}"`, output);
}

function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function malformed(why: string, output: string): SimlockError {
  return new SimlockError("TOOL_FAILED", `simctl answered with a listing that can't be read: ${why}.`, {
    hint: "Run `xcrun simctl list -j` yourself and compare; `simlock doctor` checks the Xcode installation.",
    details: { output: output.slice(0, 300) },
  });
}

/** Available by one rule: the boolean (once a "YES" or "NO") first, then the text, else it is. Answers why it is not. */
function unavailability(fields: Fields): string | undefined {
  const flag = fields["isAvailable"];
  const text = textOf(fields["availability"]);
  const reason = textOf(fields["availabilityError"]) ?? text?.replace(/^\(|\)$/g, "") ?? "unavailable";
  if (flag === true || flag === "YES") return undefined;
  if (flag === false || flag === "NO") return reason;
  return text !== undefined && /unavailable/i.test(text) ? reason : undefined;
}

const RUNTIME_PREFIX = "com.apple.CoreSimulator.SimRuntime.";

function platformOf(name: string): ApplePlatform | undefined {
  if (name === "iOS" || name === "watchOS" || name === "tvOS" || name === "xrOS") return name;
  return name === "visionOS" ? "xrOS" : undefined;
}

/** The platform and version in a runtime's identifier or its older display name: `…SimRuntime.iOS-12-1` and `iOS 12.1` are one. */
export function runtimeName(key: string): RuntimeName {
  const name = key.startsWith(RUNTIME_PREFIX) ? key.slice(RUNTIME_PREFIX.length) : key;
  const [, platform = "", version = ""] = /^([A-Za-z]+)[- ](\d+(?:[-.]\d+)*)$/.exec(name) ?? [];
  return { platform: platformOf(platform), version: version === "" ? key : version.replaceAll("-", ".") };
}

export function runStateOf(state: string): RunState {
  return state === "Booted" ? "running" : state === "Shutdown" ? "stopped" : "transitioning";
}

/** The devices of `simctl list -j devices`, in its order. An entry without a UDID or a name is none that a command could reach. */
export function parseDevices(output: string): { readonly devices: readonly SimDevice[]; readonly noise?: string } {
  const { root, noise } = parseOutput(output, "devices");
  const devices = devicesOf(root, output);
  return noise === undefined ? { devices } : { devices, noise };
}

function devicesOf(root: Fields, output: string): readonly SimDevice[] {
  const groups = root["devices"];
  if (!isObject(groups)) throw malformed('"devices" is not an object', output);
  const devices: SimDevice[] = [];
  for (const [runtime, entries] of Object.entries(groups)) {
    if (!Array.isArray(entries)) throw malformed(`the devices of ${runtime} are not a list`, output);
    for (const entry of entries) {
      const device = isObject(entry) ? deviceOf(entry, runtime) : undefined;
      if (device !== undefined) devices.push(device);
    }
  }
  return devices;
}

function deviceOf(fields: Fields, runtime: string): SimDevice | undefined {
  const udid = textOf(fields["udid"]);
  const name = textOf(fields["name"]);
  if (udid === undefined || name === undefined) return undefined;
  const state = textOf(fields["state"]) ?? "Unknown";
  return {
    udid,
    name,
    state,
    runState: runStateOf(state),
    runtime,
    deviceType: textOf(fields["deviceTypeIdentifier"]),
    dataPath: textOf(fields["dataPath"]),
    unavailable: unavailability(fields),
  };
}

/** The kinds of `simctl list -j devicetypes runtimes`. No runtimes is a fresh Xcode; no device types is a broken answer. */
export function parseKinds(output: string): {
  readonly deviceTypes: readonly DeviceType[];
  readonly runtimes: readonly Runtime[];
  readonly noise?: string;
} {
  const { root, noise } = parseOutput(output, "devicetypes");
  const kinds = kindsOf(root, output);
  return noise === undefined ? kinds : { ...kinds, noise };
}

/** All of `simctl list -j` at once: its devices and its kinds, as the two readers above answer them. */
export function parseListing(output: string): {
  readonly devices: readonly SimDevice[];
  readonly deviceTypes: readonly DeviceType[];
  readonly runtimes: readonly Runtime[];
  readonly noise?: string;
} {
  const { root, noise } = parseOutput(output, "devices");
  const listing = { devices: devicesOf(root, output), ...kindsOf(root, output) };
  return noise === undefined ? listing : { ...listing, noise };
}

function kindsOf(
  root: Fields,
  output: string,
): { readonly deviceTypes: readonly DeviceType[]; readonly runtimes: readonly Runtime[] } {
  const types = root["devicetypes"];
  const runtimes = root["runtimes"] ?? [];
  if (!Array.isArray(types) || !Array.isArray(runtimes)) throw malformed("its lists are not lists", output);
  const deviceTypes = types.filter(isObject).flatMap(deviceTypeOf);
  if (deviceTypes.length === 0) throw malformed("it names no device types", output);
  return { deviceTypes, runtimes: runtimes.filter(isObject).flatMap(runtimeOf) };
}

function deviceTypeOf(fields: Fields): readonly DeviceType[] {
  const id = textOf(fields["identifier"]);
  const name = textOf(fields["name"]);
  if (id === undefined || name === undefined) return [];
  const bound = (key: string, otherwise: number) => {
    const value = fields[key];
    return typeof value === "number" ? value : otherwise;
  };
  return [
    {
      id,
      name,
      family: textOf(fields["productFamily"]),
      modelIdentifier: textOf(fields["modelIdentifier"]),
      minRuntime: bound("minRuntimeVersion", 0),
      maxRuntime: bound("maxRuntimeVersion", Number.POSITIVE_INFINITY),
    },
  ];
}

function runtimeOf(fields: Fields): readonly Runtime[] {
  const id = textOf(fields["identifier"]);
  if (id === undefined) return [];
  const named = runtimeName(id);
  const supported = fields["supportedDeviceTypes"];
  return [
    {
      id,
      name: textOf(fields["name"]) ?? (named.platform === undefined ? id : `${named.platform} ${named.version}`),
      version: textOf(fields["version"]) ?? named.version,
      platform: platformOf(textOf(fields["platform"]) ?? "") ?? named.platform,
      unavailable: unavailability(fields),
      supports: Array.isArray(supported)
        ? new Set(supported.filter(isObject).flatMap((type) => textOf(type["identifier"]) ?? []))
        : undefined,
    },
  ];
}
