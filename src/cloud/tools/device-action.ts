import { z } from "zod";
import { BackendError } from "../backend/errors.ts";
import type { UiNode } from "../backend/devices.ts";
import { bundle } from "./declare.ts";
import { deviceId, flag, packageName, waitSeconds } from "./inputs.ts";
import { centreOf, CompactNode, compactNode, matchingNodes } from "./ui-state.ts";
import type { Use } from "./use.ts";
import { waitUntil } from "./waiting.ts";

const coordinate = z.number().min(0);
const ok = z.object({ status: z.literal("ok"), operation: z.string(), deviceId: z.string() });
const done = (operation: string, device: string) => ({ status: "ok" as const, operation, deviceId: device });
const MAX_CANDIDATES = 10;

export const deviceAction = bundle(
  {
    name: "device_action",
    title: "Act on a device",
    description:
      "Tap, swipe, type, press keys, open a deep link or run a script in the browser. tap_element taps the element that contains or resourceId finds, without coordinates. Global actions: 1 back, 2 home, 3 recents, 4 notifications, 5 quick settings.",
    by: "operation",
    fields: {
      deviceId,
      displayId: z.int().min(0),
      x: coordinate.describe("Device pixels, as xy of get_device_ui_state. So are the other coordinates."),
      y: coordinate,
      startX: coordinate,
      startY: coordinate,
      endX: coordinate,
      endY: coordinate,
      duration: z.int().positive().max(60_000).describe("Milliseconds."),
      stealth: flag,
      text: z.string().describe("What keyboard_write types."),
      clear: flag.describe("Empty the field first."),
      errorRate: z.number().describe("Typing errors to make; -1 leaves it to the platform."),
      wpm: z.number().min(0).describe("Words a minute; 0 leaves it to the platform."),
      key: z.int().describe("Android key code."),
      action: z.int().describe("Global action of Android's accessibility service."),
      contains: z.string().min(1).describe("Part of the element's text, description or id."),
      resourceId: z.string().min(1).describe("The element's id, in full or after its last slash."),
      index: z.int().min(0).describe("Which of several elements that match, from 0."),
      waitSeconds,
      deepLink: z.string().min(1).max(4096),
      packageName,
      script: z.string().min(1).max(65_536).describe("One expression; the browser in front evaluates it."),
    },
  },
  (operation) => ({
    tap: operation({
      effects: ["write"],
      needs: ["deviceId", "x", "y"],
      may: ["stealth", "displayId"],
      answer: ok,
      async run({ deviceId: device, x, y, stealth, displayId }, { backend, within }) {
        await backend.deviceControl.tap(device, { x, y, stealth, displayId }, within);
        return done("tap", device);
      },
    }),
    tap_element: operation({
      effects: ["write"],
      needs: ["deviceId"],
      may: ["contains", "resourceId", "index", "waitSeconds", "stealth", "displayId"],
      someOf: ["contains", "resourceId"],
      answer: ok.extend({ tapped: CompactNode }),
      async run({ deviceId: device, stealth, displayId, ...which }, use) {
        const node = await findElement(device, which, use);
        const [x, y] = centreOf(node) ?? [0, 0];
        await use.backend.deviceControl.tap(device, { x, y, stealth, displayId }, use.within);
        return { ...done("tap_element", device), tapped: compactNode(node) };
      },
    }),
    swipe: operation({
      effects: ["write"],
      needs: ["deviceId", "startX", "startY", "endX", "endY", "duration"],
      may: ["stealth", "displayId"],
      answer: ok,
      async run({ deviceId: device, startX, startY, endX, endY, duration, stealth, displayId }, { backend, within }) {
        const swipe = { startX, startY, endX, endY, duration, stealth, displayId };
        await backend.deviceControl.swipe(device, swipe, within);
        return done("swipe", device);
      },
    }),
    keyboard_write: operation({
      effects: ["write"],
      needs: ["deviceId", "text"],
      may: ["clear", "errorRate", "wpm", "stealth", "displayId"],
      answer: ok,
      async run({ deviceId: device, text, clear, errorRate, wpm, stealth, displayId }, { backend, within }) {
        const typing = { text, clear, errorRate, wpm, stealth, displayId };
        await backend.deviceControl.keyboardWrite(device, typing, within);
        return done("keyboard_write", device);
      },
    }),
    keyboard_key: operation({
      effects: ["write"],
      needs: ["deviceId", "key"],
      may: ["displayId"],
      answer: ok,
      async run({ deviceId: device, key, displayId }, { backend, within }) {
        await backend.deviceControl.keyboardKey(device, { key, displayId }, within);
        return done("keyboard_key", device);
      },
    }),
    keyboard_clear: operation({
      effects: ["write"],
      needs: ["deviceId"],
      may: ["displayId"],
      answer: ok,
      async run({ deviceId: device, displayId }, { backend, within }) {
        await backend.deviceControl.keyboardClear(device, { displayId }, within);
        return done("keyboard_clear", device);
      },
    }),
    global_action: operation({
      effects: ["write"],
      needs: ["deviceId", "action"],
      may: ["displayId"],
      answer: ok,
      async run({ deviceId: device, action, displayId }, { backend, within }) {
        await backend.deviceControl.globalAction(device, { action, displayId }, within);
        return done("global_action", device);
      },
    }),
    open_deep_link: operation({
      effects: ["write"],
      needs: ["deviceId", "deepLink"],
      may: ["packageName", "displayId"],
      answer: ok,
      async run({ deviceId: device, deepLink, packageName: app, displayId }, { backend, within }) {
        await backend.deviceControl.openDeepLink(device, { deepLink, packageName: app, displayId }, within);
        return done("open_deep_link", device);
      },
    }),
    // A script can read whatever the page holds, cookies and tokens too.
    execute_script: operation({
      effects: ["write"],
      reveals: true,
      needs: ["deviceId", "script"],
      may: ["displayId"],
      answer: ok.extend({ result: z.unknown() }),
      async run({ deviceId: device, script, displayId }, { backend, within }) {
        const { result } = await backend.deviceControl.executeScript(device, { script, displayId }, within);
        return { ...done("execute_script", device), result: result ?? null };
      },
    }),
  }),
);

interface Wanted {
  readonly contains?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly index?: number | undefined;
  readonly waitSeconds?: number | undefined;
}

/** The one element that matches, or the one chosen by its index. Nothing is tapped on a guess. */
async function findElement(device: string, wanted: Wanted, use: Use): Promise<UiNode> {
  const { contains, resourceId, index, waitSeconds: seconds = 0 } = wanted;
  const filter = { contains, resourceId };
  const needed = (index ?? 0) + 1;
  let found: readonly UiNode[] = [];
  await waitUntil(use, {
    seconds,
    everyMs: 1000,
    message: () => "Waiting for the element.",
    async look() {
      const state = await use.backend.devices.getDeviceUiState(device, use.within);
      found = matchingNodes(state, filter).filter(
        (node) => centreOf(node) !== undefined && node.isVisibleToUser !== false,
      );
      return found.length >= needed ? true : undefined;
    },
  });
  const chosen = index !== undefined || found.length === 1 ? found[index ?? 0] : undefined;
  if (chosen !== undefined) return chosen;
  if (found.length === 0 || index !== undefined) {
    throw new BackendError("not_found", `${found.length} elements on the screen match; none was tapped.`, {
      hint: "Read the screen with get_device_ui_state.",
    });
  }
  const candidates = found.slice(0, MAX_CANDIDATES).map((node, at) => ({ index: at, ...compactNode(node) }));
  throw new BackendError("conflict", `${found.length} elements match; none was tapped. ${JSON.stringify(candidates)}`, {
    hint: "Choose one with index, or use a narrower filter.",
    details: { candidates },
  });
}
