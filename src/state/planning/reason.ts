import type { JsonValue } from "../types.ts";
import type { Act } from "./operations.ts";

/** Why an operation is in a plan, for a reader. Never a value that may be a secret. */
export function reasonOf(act: Act): string {
  const word = (name: string): string => text(act.arguments[name]);
  switch (act.action) {
    case "createDevice":
      return `Make the device ${word("name")}: none fits the target.`;
    case "installApplication":
      return `Install ${word("bundleIdentifier")}.`;
    case "uninstallApplication":
      return `Remove ${word("bundleIdentifier")} and its data.`;
    case "launchApplication":
      return `Launch ${word("bundleIdentifier")}.`;
    case "terminateApplication":
      return `End ${word("bundleIdentifier")}.`;
    case "setPreference":
      return act.arguments["value"] === null
        ? `Delete the preference ${word("key")} of ${word("domain")}.`
        : `Set the preference ${word("key")} of ${word("domain")}.`;
    case "setStatusBar":
      return "Override the status bar.";
    case "setAppearance":
      return `Make the appearance ${word("appearance")}.`;
    case "setIncreaseContrast":
      return `Turn increased contrast ${act.arguments["increaseContrast"] === true ? "on" : "off"}.`;
    case "setContentSize":
      return `Make the text size ${word("contentSize")}.`;
    case "setLocalization":
      return "Set language and region, and restart the home screen.";
    case "setPrivacy":
      return `Make ${word("bundleIdentifier")}'s access to ${word("service")} ${word("access")}.`;
    case "setLocation":
      return "Simulate the location.";
    case "setPasteboard":
      return "Put text on the pasteboard.";
    case "addMedia":
      return `Add ${word("path")} to the photo library.`;
    case "addRootCertificate":
      return `Trust the certificate ${word("path")}.`;
    case "sendPush":
      return `Send a push notification to ${word("bundleIdentifier")}.`;
    case "openURL":
      return "Open a URL.";
    case "erase":
      return "Erase all content and settings.";
    case "boot":
      return "Boot the device.";
    case "shutdown":
      return "Shut the device down.";
  }
}

function text(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
