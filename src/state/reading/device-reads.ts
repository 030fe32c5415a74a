import type { PlistDictionary } from "../../plist/index.ts";
import type { InventoryDevice, ObservedApplication, ObservedPrivacy, ObservedState, ReadRequest } from "../types.ts";
import { withVersions } from "./app-versions.ts";
import { applicationsOf, runningApplications } from "./applications.ts";
import { attempt } from "./command.ts";
import type { Commands, Reading } from "./command.ts";
import { domainOf, GLOBAL_DOMAIN, isGlobal, saysMissing } from "./preferences.ts";
import { privacyOf } from "./privacy.ts";
import { statusBarOf } from "./status-bar.ts";
import type { ReadStatusBar } from "./status-bar.ts";

/** Every part of a running device as it was read. */
export interface DeviceReads {
  readonly applications: Reading<readonly ObservedApplication[]>;
  readonly running: Reading<ReadonlySet<string>>;
  readonly statusBar: Reading<ReadStatusBar>;
  readonly appearance: Reading<NonNullable<ObservedState["appearance"]>>;
  /** Undefined where the device has no such option. */
  readonly increaseContrast: Reading<boolean | undefined>;
  readonly contentSize: Reading<string | undefined>;
  readonly global: Reading<PlistDictionary>;
  /** By the name that was asked for. */
  readonly domains: ReadonlyMap<string, Reading<PlistDictionary>>;
  readonly pasteboard: Reading<string> | undefined;
  readonly privacy: Reading<readonly ObservedPrivacy[]>;
}

/** Milliseconds. A listing of apps takes long on a device that has just booted. */
const LIMITS = { listapps: 60_000, short: 30_000 } as const;

/** Reads all parts side by side. What can't be read is a reading that says why; a failure that lies before simctl is thrown. */
export async function readDevice(
  commands: Commands,
  device: InventoryDevice,
  request: ReadRequest,
  signal: AbortSignal,
): Promise<DeviceReads> {
  const { udid } = device;
  const short = <T>(
    args: readonly string[],
    read: (output: string) => T,
    accept?: (stderr: string) => T | undefined,
  ): Promise<Reading<T>> => commands.ask(args, signal, LIMITS.short, read, accept);
  const domain = (name: string) =>
    short(["spawn", udid, "defaults", "export", name, "-"], domainOf, (stderr) =>
      saysMissing(stderr) ? {} : undefined,
    );
  const global = domain(GLOBAL_DOMAIN);
  const names = [...new Set(request.domains)];
  const [applications, running, statusBar, appearance, increaseContrast, contentSize, globalRead, domains, pasteboard] =
    await Promise.all([
      applicationsRead(commands, udid, signal),
      short(["spawn", udid, "launchctl", "list"], runningApplications),
      short(["status_bar", udid, "list"], statusBarOf),
      short(["ui", udid, "appearance"], appearanceOf),
      short(["ui", udid, "increase_contrast"], contrastOf),
      short(["ui", udid, "content_size"], contentSizeOf),
      global,
      Promise.all(names.map(async (name) => [name, await (isGlobal(name) ? global : domain(name))] as const)),
      request.pasteboard === true ? short(["pbpaste", udid], (output) => output) : undefined,
    ]);
  return {
    applications,
    running,
    statusBar,
    appearance,
    increaseContrast,
    contentSize,
    global: globalRead,
    domains: new Map(domains),
    pasteboard,
    privacy: await privacyRead(device, request.privacyOf, signal),
  };
}

/** `--json` is new: where it is refused, or prints nothing that can be read, the plain listing is asked for. */
async function applicationsRead(
  commands: Commands,
  udid: string,
  signal: AbortSignal,
): Promise<Reading<readonly ObservedApplication[]>> {
  const read = async (output: string) => withVersions(await applicationsOf(output));
  const asJson = await commands.ask(["listapps", "--json", udid], signal, LIMITS.listapps, read);
  if (asJson.ok || asJson.because !== undefined) return asJson;
  return commands.ask(["listapps", udid], signal, LIMITS.listapps, read);
}

/** Needs no command, and no running device. */
export function privacyRead(
  device: InventoryDevice,
  apps: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<Reading<readonly ObservedPrivacy[]>> {
  return attempt(signal, async () => {
    if (device.dataPath === undefined) throw new Error("simctl does not say where the device's data is");
    return privacyOf(device.dataPath, apps);
  });
}

function appearanceOf(output: string): NonNullable<ObservedState["appearance"]> {
  const word = output.trim();
  if (word === "light" || word === "dark" || word === "unsupported") return word;
  return "unknown";
}

function contrastOf(output: string): boolean | undefined {
  const word = output.trim();
  if (word === "enabled" || word === "disabled") return word === "enabled";
  if (word === "unsupported") return undefined;
  throw new Error("simctl names no state of the increased contrast");
}

function contentSizeOf(output: string): string | undefined {
  const word = output.trim();
  if (word === "unsupported") return undefined;
  if (/^[a-z]+(-[a-z]+)*$/.test(word) && word !== "unknown") return word;
  throw new Error("simctl names no content size");
}
