/** The apps that a system brings, by platform: those that scripts look for. Bundle id, display name, folder, executable. */
type SystemApp = readonly [bundleId: string, displayName: string, executable: string];

const IOS: readonly SystemApp[] = [
  ["com.apple.DocumentsApp", "Files", "Files"],
  ["com.apple.Fitness", "Fitness", "Fitness"],
  ["com.apple.Health", "Health", "Health"],
  ["com.apple.Maps", "Maps", "Maps"],
  ["com.apple.MobileAddressBook", "Contacts", "Contacts"],
  ["com.apple.MobileSMS", "Messages", "MobileSMS"],
  ["com.apple.Passbook", "Wallet", "Passbook"],
  ["com.apple.Preferences", "Settings", "Preferences"],
  ["com.apple.mobilecal", "Calendar", "MobileCal"],
  ["com.apple.mobilesafari", "Safari", "MobileSafari"],
  ["com.apple.mobileslideshow", "Photos", "MobileSlideShow"],
  ["com.apple.news", "News", "News"],
  ["com.apple.reminders", "Reminders", "Reminders"],
  ["com.apple.shortcuts", "Shortcuts", "Shortcuts"],
];

const OTHERS: Readonly<Record<string, readonly SystemApp[]>> = {
  watchOS: [["com.apple.NanoSettings", "Settings", "NanoSettings"]],
  tvOS: [["com.apple.TVSettings", "Settings", "TVSettings"]],
  visionOS: [
    ["com.apple.Preferences", "Settings", "Preferences"],
    ["com.apple.mobilesafari", "Safari", "MobileSafari"],
  ],
};

export function systemApps(platform: string): readonly SystemApp[] {
  return platform === "iOS" ? IOS : (OTHERS[platform] ?? []);
}

/** The shell of the system: it runs as long as the device does, and is in front when no app is. */
export const SPRINGBOARD = "com.apple.springboard";
