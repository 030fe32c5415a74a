import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeXmlPlist } from "../plist/index.ts";

export interface SampleApp {
  readonly bundleId: string;
  readonly name: string;
  readonly version?: string;
  readonly urlSchemes?: readonly string[];
}

/** Makes `<folder>/<name>.app`, a bundle that `install` takes: an Info.plist and an executable that nothing runs. Returns its path. */
export function makeSampleApp(folder: string, app: SampleApp): string {
  const path = join(folder, `${app.name}.app`);
  mkdirSync(path, { recursive: true });
  const version = app.version ?? "1.0";
  writeFileSync(
    join(path, "Info.plist"),
    writeXmlPlist({
      CFBundleDevelopmentRegion: "en",
      CFBundleDisplayName: app.name,
      CFBundleExecutable: app.name,
      CFBundleIdentifier: app.bundleId,
      CFBundleInfoDictionaryVersion: "6.0",
      CFBundleName: app.name,
      CFBundlePackageType: "APPL",
      CFBundleShortVersionString: version,
      CFBundleSupportedPlatforms: ["iPhoneSimulator"],
      CFBundleVersion: version,
      DTPlatformName: "iphonesimulator",
      LSRequiresIPhoneOS: true,
      MinimumOSVersion: "17.0",
      ...(app.urlSchemes === undefined
        ? {}
        : { CFBundleURLTypes: [{ CFBundleURLName: app.bundleId, CFBundleURLSchemes: app.urlSchemes }] }),
    }),
  );
  writeFileSync(
    join(path, app.name),
    "#!/bin/sh\n# The virtual Mac simulates an app's process; it never runs this.\nexit 0\n",
    {
      mode: 0o755,
    },
  );
  return path;
}
