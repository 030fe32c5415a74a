import { setTimeout as sleep } from "node:timers/promises";
import { appsOf } from "../apps/containers.ts";
import type { Call } from "../call.ts";
import type { Device } from "../device.ts";
import { failure } from "../failure.ts";
import { paceOf } from "../pace.ts";
import { sessionOf } from "../session.ts";
import { runningDevice, typeOf } from "../selection.ts";
import { CONTENT_SIZES } from "../verbs/ui.ts";
import type { Canvas } from "./canvas.ts";
import { render } from "./scene.ts";
import type { Scene } from "./scene.ts";

/** What a booted device shows now. */
function sceneOf(call: Call, device: Device): Scene {
  const { width, height } = typeOf(device);
  const session = sessionOf(device);
  const named = [...appsOf(call, device)].map(([bundleId, facts]) => ({
    bundleId,
    name: String(facts["CFBundleDisplayName"] ?? bundleId),
  }));
  const front = session.foreground;
  const now = new Date();
  return {
    width,
    height,
    appearance: device.settings.appearance,
    increaseContrast: device.settings.increaseContrast,
    contentSize: CONTENT_SIZES.findIndex((size) => size === device.settings.contentSize),
    statusBar: session.statusBar,
    clock: `${now.getHours()}:${String(now.getMinutes()).padStart(2, "0")}`,
    app:
      front === undefined
        ? undefined
        : (named.find((app) => app.bundleId === front) ?? { bundleId: front, name: front }),
    icons: named,
    content: session.content,
    banner: session.banner,
  };
}

export function screenOf(call: Call, device: Device): Canvas {
  return render(sceneOf(call, device));
}

/** A screen that is off keeps its callers waiting, for a minute on a Mac, and then fails. */
export async function requireDisplay(call: Call, udid: string): Promise<void> {
  if (sessionOf(runningDevice(call.set, udid)).display) return;
  await sleep(paceOf(call.control, "screen timeout"));
  throw failure("timedOut");
}
