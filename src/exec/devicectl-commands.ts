import type { DevicectlCommand, DevicectlForm, DevicectlOption } from "./devicectl-forms.ts";
import type { RefusalReason } from "./types.ts";

// The commands of devicectl in Xcode 15 to 27, by their words. Nobody here could run devicectl: sources are public help texts and bug reports.
// Commands marked `27` are new there.

const one = (...names: readonly string[]): DevicectlOption => ({ names, value: "one" });
const flag = (...names: readonly string[]): DevicectlOption => ({ names });
const writes = (...names: readonly string[]): DevicectlOption => ({ names, value: "one", access: "write" });

/** Known to every command, and between its words. */
export const OUTPUT_OPTIONS: readonly DevicectlOption[] = [
  flag("-v", "--verbose"),
  flag("-q", "--quiet"),
  one("-t", "--timeout"),
  { ...writes("-j", "--json-output"), streams: ["-", "/dev/stdout", "/dev/fd/1"] },
  writes("-l", "--log-output"),
];

const FILTERS: readonly DevicectlOption[] = [
  one("-s", "--search"),
  one("--filter"),
  one("--sort-by"),
  { names: ["--columns"], value: "list" },
  flag("--hide-default-columns"),
  flag("--hide-headers"),
];

const DOMAIN = [one("--domain-type"), one("--domain-identifier")];
const COPY = [one("-u", "--user"), ...DOMAIN, one("-r", "--remove-existing-content")];
const PID = one("-p", "--pid");
const SESSION = one("--session-timeout");
const CAPTURE = [writes("--destination"), one("--display-unique-id"), one("--codec"), one("--mask-policy")];
const PASTEBOARD = [
  { names: ["--file"], value: "one", access: "read" } as const,
  one("--type"),
  one("--item"),
  one("--device-pasteboard"),
  SESSION,
];
const NOTIFICATION = [{ names: ["--name"], value: "list" } as const, SESSION];

const device = (form: DevicectlForm = {}): DevicectlCommand => ({ kind: "device", form });
const open = (form: DevicectlForm = {}): DevicectlCommand => ({ kind: "open", form });
const refused = (reason: RefusalReason, why: string, hint: string): DevicectlCommand => ({
  kind: "refused",
  reason,
  why,
  hint,
});

const lifecycle = (does: string) =>
  refused("lifecycle", `it ${does}, and the iPhone is its owner's.`, "Release the lease when you are done.");
const hostWide = (does: string) => refused("host-wide", `it ${does}.`, "There is no form of it for one lease.");
const CLIPBOARD = refused(
  "host-wide",
  "it moves between the iPhone and the Mac's own clipboard.",
  "Use `device pasteboard copy` and `device pasteboard paste`.",
);
const PAIRS = refused("other-device", "it acts on a pair of devices.", "List them with `device pairings list`.");
const SIMULATE: DevicectlForm = {
  options: [
    { names: ["--route-file"], value: "one", access: "read" },
    { names: ["--waypoints"], value: "list" },
    one("--latitude"),
    one("--longitude"),
  ],
  family: true,
};
const SETTING: DevicectlForm = { family: true };

export const DEVICECTL_COMMANDS: Readonly<Record<string, DevicectlCommand>> = {
  "device appResize observe": device({ flags: ["L"] }), // 27
  "device appResize set": device({ options: [one("--preferred-size"), one("--corner-radius")] }), // 27
  "device appResize start": device({ flags: ["L"] }), // 27
  "device capture screen-record": device({
    options: [...CAPTURE, one("--duration")],
    writesUnless: "--destination",
    flags: ["I", "L"],
    endsWith: "--duration",
  }), // 27
  "device capture screenshot": device({ options: CAPTURE, writesUnless: "--destination" }), // 27
  "device copy from": device({ options: [one("--source"), writes("--destination"), ...COPY] }),
  "device copy to": device({
    options: [{ names: ["--source"], value: "list", access: "read" }, one("--destination"), ...COPY],
  }),
  "device info appIcon": device({
    options: [
      writes("--destination"),
      one("--app-bundle-id"),
      one("--app-path"),
      one("--allow-placeholder"),
      one("--width"),
      one("--height"),
      one("--scale"),
    ],
    writesUnless: "--destination",
  }), // 27
  "device info appResize": device(), // 27
  "device info appearance": device(), // 27
  "device info apps": device({
    options: [
      one("--bundle-id"),
      ...FILTERS,
      flag("--include-all-apps"),
      flag("--include-app-clips"),
      flag("--include-default-apps"),
      flag("--include-hidden-apps"),
      flag("--include-internal-apps"),
      flag("--include-removable-apps"),
    ],
  }),
  "device info audio": device(), // 27
  "device info authListing": device(),
  "device info ddiServices": device(),
  "device info details": device({ options: [one("--show")] }),
  "device info displays": device(),
  "device info files": device({
    options: [one("--username"), ...DOMAIN, one("--subdirectory"), flag("-r", "--recurse", "--no-recurse"), ...FILTERS],
  }),
  "device info lockState": device(),
  "device info mountpoint": refused(
    "host-path",
    "it mounts the iPhone's files on the Mac.",
    "Copy what you need with `device copy from`.",
  ), // 27
  "device info processes": device({ options: FILTERS }),
  "device install app": device({ options: FILTERS, needs: ["PATH"], operands: 1, reads: true }),
  "device notification observe": device({ options: NOTIFICATION, flags: ["L"] }),
  "device notification post": device({ options: NOTIFICATION }),
  "device orientation get": device(),
  "device orientation rotate": device({ operands: 1 }),
  "device orientation set": device({ operands: 1 }),
  "device pairings list": device(), // 27
  "device pairings pair": PAIRS, // 27
  "device pairings set-active": PAIRS, // 27
  "device pairings unpair": PAIRS, // 27
  "device pasteboard copy": device({ options: PASTEBOARD, operands: 1 }), // 27
  "device pasteboard info": device({ options: PASTEBOARD }), // 27
  "device pasteboard monitor": device({ options: PASTEBOARD, flags: ["L"] }), // 27
  "device pasteboard paste": device({ options: PASTEBOARD, operands: 1 }), // 27
  "device pasteboard sync-with-host": CLIPBOARD, // 27
  "device pasteboard transfer from": CLIPBOARD, // 27
  "device pasteboard transfer to": CLIPBOARD, // 27
  "device process awaitTermination": device({ options: [PID], flags: ["L"] }),
  "device process launch": device({
    options: [
      one("-u", "--user"),
      one("-e", "--environment-variables"),
      one("--working-directory"),
      one("--arch"),
      one("--payload-url"),
      one("--display"),
      one("--launch-persistent-identifier"),
      flag("--activate", "--no-activate"),
      flag("--console"),
      flag("--start-stopped"),
      flag("--terminate-existing"),
    ],
    needs: ["BUNDLE_ID"],
    rest: true,
    longWith: "--console",
  }),
  "device process openURL": device({ options: [one("--display")], needs: ["URL"], operands: 1 }), // 27
  "device process resume": device({ options: [PID] }),
  "device process sendMemoryWarning": device({ options: [PID] }),
  "device process signal": device({ options: [PID, one("-s", "--signal")] }),
  "device process suspend": device({ options: [PID] }),
  "device process terminate": device({ options: [PID, flag("--kill")] }),
  "device profile install": lifecycle("installs a profile that outlives the lease"), // 27
  "device profile list": device({ options: [one("--type")] }), // 27
  "device profile remove": lifecycle("removes a profile for good"), // 27
  "device profile validate": open({ options: [one("--type")], needs: ["PATH"], operands: 64, reads: true }), // 27
  "device reboot": lifecycle("restarts the iPhone"),
  "device rename": lifecycle("renames the iPhone, and a name can be another one's id"), // 27
  "device settings appearance": device(SETTING), // 27
  "device settings audio": device(SETTING), // 27
  "device settings biometrics": device(SETTING), // 27
  "device settings reset": lifecycle("erases the iPhone"), // 27
  "device simulate biometrics": device(SIMULATE), // 27
  "device simulate location": device(SIMULATE),
  "device simulate statusBar": device(SIMULATE),
  "device sysdiagnose": device({
    options: [writes("--destination")],
    writesUnless: "--destination",
    flags: ["L"],
  }),
  "device uninstall app": device({ needs: ["BUNDLE_ID"], operands: 1 }),
  diagnose: hostWide("gathers logs of the whole Mac and of every device"),
  "list audioDevices": hostWide("lists what belongs to the Mac"), // 27
  "list devices": refused(
    "other-device",
    "it shows the names and serials of everybody's devices.",
    "Use `device info details` for the leased iPhone.",
  ),
  "list plugins": hostWide("lists what belongs to the Mac"), // 27
  "list preferredDDI": open({ options: [one("--platform")] }),
  manage: hostWide("pairs, unpairs or changes what all devices of this Mac share"),
};
