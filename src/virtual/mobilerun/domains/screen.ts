import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import type { Devices } from "../device.ts";
import { bytes, type Handlers } from "../handler.ts";
import { BROWSER, SCREEN, type Phone } from "../phone/phone.ts";
import { screenshot } from "../phone/picture.ts";
import { uiState } from "../phone/ui-tree.ts";
import { Problem } from "../problem.ts";

export function screenHandlers(account: Account, devices: Devices): Handlers<typeof endpoints.screen> {
  const phoneOf = (path: { readonly deviceId: string }) => devices.ready(path.deviceId).phone;
  return {
    screenshot: ({ path, query }) => bytes("image/png", screenshot(phoneOf(path), query.hideOverlay === true)),
    uiState: ({ path, query }) => uiState(phoneOf(path), query.filter === true),
    time: ({ path }) => {
      devices.ready(path.deviceId);
      return account.now();
    },
    tap({ path, body }) {
      onScreen(body.x, body.y);
      phoneOf(path).tap(body.x, body.y);
    },
    swipe({ path, body }) {
      onScreen(body.startX, body.startY);
      onScreen(body.endX, body.endY);
      phoneOf(path).swipe(body.startY, body.endY);
    },
    type: ({ path, body }) => written(phoneOf(path).write(body.text, body.clear === true)),
    pressKey: ({ path, body }) => phoneOf(path).key(body.key),
    clearText: ({ path }) => written(phoneOf(path).clear()),
    globalAction({ path, body }) {
      const phone = phoneOf(path);
      if (body.action < 1 || body.action > 15) throw new Problem(400, `No global action ${body.action}`);
      if (body.action === 1) phone.back();
      if (body.action === 2 || body.action === 3) phone.home();
    },
    overlay: ({ path }) => ({ $schema: "https://virtual.test/schemas/Overlay.json", visible: phoneOf(path).overlay }),
    setOverlay({ path, body }) {
      phoneOf(path).overlay = body.visible;
    },
    executeScript: ({ path, body }) => ({ result: evaluated(phoneOf(path), body.script) }),
  };
}

function onScreen(x: number, y: number): void {
  if (x >= SCREEN.width || y >= SCREEN.height) throw new Problem(400, `${x},${y} is outside of the screen`);
}

function written(done: boolean): void {
  if (!done) throw new Problem(409, "Nothing that can be written in has the focus");
}

/** The browser knows its address, its title and JSON; a script of anything else fails, as one with an error would. */
function evaluated(phone: Phone, script: string): unknown {
  if (phone.app !== BROWSER) throw new Problem(409, "No browser is in front");
  if (script === "location.href" || script === "document.URL") return phone.url;
  if (script === "document.title") return URL.parse(phone.url)?.host ?? "";
  try {
    return JSON.parse(script);
  } catch {
    throw new Problem(400, "The script failed");
  }
}
