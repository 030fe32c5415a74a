import { createCloudApi, endpoints, type CloudApi } from "../../cloud/index.ts";
import { createManualClock } from "./clock.ts";
import { startVirtualMobilerun } from "./index.ts";
import type { VirtualMobilerunOptions } from "./options.ts";

export const KEY = "dr_sk_virtual_test";

/** A virtual cloud whose time stands still, and a client of it. */
export async function virtualCloud(options: VirtualMobilerunOptions = {}) {
  const clock = createManualClock();
  const cloud = await startVirtualMobilerun({ clock, ...options });
  const client = (key: string) => createCloudApi({ baseUrl: cloud.url, key, wait: async () => undefined });
  return { ...cloud, clock, client, api: client(KEY), [Symbol.asyncDispose]: () => cloud.close() };
}

/** A device that is ready. */
export async function readyDevice(cloud: { api: CloudApi; clock: { advance(ms: number): void } }) {
  const device = await cloud.api.call(endpoints.devices.create, {
    query: { deviceType: "android_cloud_phone", country: "DE" },
    body: { name: "bench" },
  });
  cloud.clock.advance(10_000);
  return { deviceId: device.id };
}
