/** What the default device set holds when it is first used: some simulators of each platform, as after a fresh Xcode. */
export const FRESH_DEVICES: readonly (readonly [name: string, runtime: string])[] = [
  ["iPhone 15", "iOS 17.5"],
  ["iPhone 16 Pro", "iOS 18.5"],
  ["iPhone SE (3rd generation)", "iOS 18.5"],
  ["iPhone 17 Pro", "iOS 26.1"],
  ["iPhone 17 Pro Max", "iOS 26.1"],
  ["iPhone Air", "iOS 26.1"],
  ["iPhone 17", "iOS 26.1"],
  ["iPad Pro 11-inch (M5)", "iOS 26.1"],
  ["iPad (A16)", "iOS 26.1"],
  ["Apple TV 4K (3rd generation)", "tvOS 26.1"],
  ["Apple Watch Series 11 (46mm)", "watchOS 26.1"],
  ["Apple Vision Pro", "visionOS 26.1"],
];
