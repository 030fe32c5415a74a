import type { Devices } from "./device.ts";
import { notFound } from "./problem.ts";
import type { Tasks } from "./task.ts";

/** Does on one device what a method of the action catalog says. Throws what a call of the API would be refused with. */
export function carryOut(
  method: string,
  params: Readonly<Record<string, unknown>>,
  deviceId: string,
  devices: Devices,
  tasks: Tasks,
): void {
  const text = (name: string) => String(params[name] ?? "");
  switch (method) {
    case "tasks.run":
      tasks.run({ deviceId, task: text("task") });
      return;
    case "agents.run":
      tasks.run({ deviceId, task: `What agent ${text("agentId")} does` });
      return;
    case "devices.reboot":
      devices.reboot(deviceId);
      return;
    case "apps.start": {
      const device = devices.ready(deviceId);
      const app = device.apps.get(text("packageName"));
      if (app === undefined) throw notFound("App", text("packageName"));
      device.phone.start(app.packageName);
    }
  }
}
