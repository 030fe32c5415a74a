import { expect, test } from "vitest";
import { applicationsOf, runningApplications } from "./applications.ts";

const PLIST = String.raw`{
    "com.acme.odd" =     {
        ApplicationType = User;
        Bundle = "file:///Users/a/Library/Odd%20%7B%7D%3B.app/";
        CFBundleDisplayName = "Odd; { } = \"q\" \\ caf\U00e9 \U65e5\n";
        CFBundleIdentifier = "com.acme.odd";
        CFBundleVersion = 42;
        GroupContainers =         {
            "group.com.acme" = "file:///tmp/group/";
        };
        Path = "/Users/a/Library/Odd {};.app";
        SBAppTags =         (
        );
    };
    "com.apple.Maps" =     {
        ApplicationType = System;
        Path = /Applications/Maps.app;
    };
}
`;

const EXPECTED = [
  {
    bundleIdentifier: "com.acme.odd",
    bundlePath: "/Users/a/Library/Odd {};.app",
    build: "42",
    type: "User",
  },
  { bundleIdentifier: "com.apple.Maps", bundlePath: "/Applications/Maps.app", type: "System" },
];

test("the old property list is read, whatever stands in its strings", async () => {
  expect(await applicationsOf(PLIST)).toEqual(EXPECTED);
});

test("JSON and XML are read to the same", async () => {
  const json = {
    "com.apple.Maps": { ApplicationType: "System", Path: "/Applications/Maps.app" },
    "com.acme.odd": {
      ApplicationType: "User",
      Bundle: "file:///Users/a/Library/Odd%20%7B%7D%3B.app/",
      CFBundleIdentifier: "com.acme.odd",
      CFBundleVersion: "42",
    },
  };
  expect(await applicationsOf(JSON.stringify(json))).toEqual(EXPECTED);
  expect(await applicationsOf(JSON.stringify({ apps: json }))).toEqual(EXPECTED);
  const xml = `<?xml version="1.0"?><plist version="1.0"><dict><key>com.acme.odd</key><dict>
    <key>ApplicationType</key><string>User</string><key>Bundle</key><string>file:///Users/a/Library/Odd%20%7B%7D%3B.app/</string>
    <key>CFBundleVersion</key><string>42</string></dict><key>com.apple.Maps</key><dict>
    <key>ApplicationType</key><string>System</string><key>Path</key><string>/Applications/Maps.app</string></dict></dict></plist>`;
  expect(await applicationsOf(xml)).toEqual(EXPECTED);
});

test("a device without apps has none", async () => {
  expect(await applicationsOf("{\n}\n")).toEqual([]);
  expect(await applicationsOf("{}")).toEqual([]);
});

test.each([
  ["nothing", ""],
  ["a list", "[]"],
  ["words", "Unable to lookup in current state: Shutdown"],
  ["half a list", '{ "com.acme.demo" = { Path = "/a";'],
])("what is no listing is refused, never taken for an empty one: %s", async (_, output) => {
  await expect(applicationsOf(output)).rejects.toThrow(Error);
});

test("an app runs when its job has a process id", () => {
  const output = [
    "PID\tStatus\tLabel",
    "41\t0\tcom.apple.SpringBoard",
    "4242\t0\tUIKitApplication:com.acme.demo[5c1f][rb-legacy]",
    "-\t9\tUIKitApplication:com.acme.ended[77aa][rb-legacy]",
    "4243\t-15\tUIKitApplication:com.acme.other[0001]",
    "4244\t0\tUIKitApplication-no:com.acme.not[0001]",
  ].join("\n");
  expect([...runningApplications(output)]).toEqual(["com.acme.demo", "com.acme.other"]);
  expect([...runningApplications("PID\tStatus\tLabel\n")]).toEqual([]);
  expect(() => runningApplications("")).toThrow("no jobs");
  expect(() => runningApplications("Could not connect to launchd\n")).toThrow("no jobs");
});
