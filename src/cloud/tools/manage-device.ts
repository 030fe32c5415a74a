import { z } from "zod";
import { Capabilities, Fingerprint, Recording } from "../backend/device-control.ts";
import { Device } from "../backend/devices.ts";
import { BackendError, hasCode } from "../backend/errors.ts";
import { sliceFields, sliceOf, sliced } from "./bounds.ts";
import { bundle } from "./declare.ts";
import { deviceId, id, waitSeconds } from "./inputs.ts";
import type { Use } from "./use.ts";
import { unlessAsked, waitUntil } from "./waiting.ts";

const READY_WAIT_S = 240;

const requested = z.object({ status: z.string(), deviceId: z.string() });
const ok = z.object({ status: z.literal("ok"), operation: z.string(), deviceId: z.string() });

export const manageDevice = bundle(
  {
    name: "manage_device",
    title: "Manage a device",
    description:
      "Reboot, factory-reset, rename, park or resume a device, wait until it is ready, see what it can do, count devices, and record its screen. Parking stops billing by the minute.",
    by: "operation",
    fields: {
      deviceId,
      name: z.string().max(64),
      waitSeconds,
      recordingId: id,
      retentionDays: z.int().positive(),
      types: z.array(z.string()),
      ...sliceFields,
    },
  },
  (operation) => ({
    reboot: operation({
      effects: ["write"],
      needs: ["deviceId"],
      answer: requested,
      async run({ deviceId: device }, { backend, within }) {
        await backend.deviceControl.rebootDevice(device, within);
        return { status: "reboot_requested", deviceId: device };
      },
    }),
    reset: operation({
      effects: ["destructive"],
      needs: ["deviceId"],
      answer: requested,
      async run({ deviceId: device }, { backend, within }) {
        await backend.deviceControl.resetDevice(device, within);
        return { status: "reset_requested", deviceId: device };
      },
    }),
    rename: operation({
      effects: ["write"],
      needs: ["deviceId", "name"],
      answer: Device,
      async run({ deviceId: device, name }, { backend, within }) {
        await backend.deviceControl.renameDevice(device, name, within);
        return backend.devices.getDevice(device, within);
      },
    }),
    wait_ready: operation({
      effects: ["read"],
      needs: ["deviceId"],
      may: ["waitSeconds"],
      answer: Device,
      run: ({ deviceId: device, waitSeconds: asked }, use) =>
        untilReady(device, unlessAsked(asked, READY_WAIT_S, use), use),
    }),
    get_capabilities: operation({
      effects: ["read"],
      needs: ["deviceId"],
      answer: Capabilities,
      run: ({ deviceId: device }, { backend, within }) => backend.deviceControl.getDeviceCapabilities(device, within),
    }),
    // IMEI, IMSI, phone number: what identifies a device and its owner is no everyday read.
    get_fingerprint: operation({
      effects: ["read"],
      reveals: true,
      needs: ["deviceId"],
      answer: Fingerprint,
      run: ({ deviceId: device }, { backend, within }) => backend.deviceControl.getDeviceFingerprint(device, within),
    }),
    // A count needs no device; one that is given anyway has always been passed over.
    count: operation({
      effects: ["read"],
      may: ["deviceId"],
      answer: z.object({}).catchall(z.number()),
      async run(_, { backend, within, devices }) {
        if (devices !== undefined) {
          throw new BackendError(
            "forbidden",
            "This credential may use only some devices, and these are counts of all.",
            {
              hint: "See list_devices.",
            },
          );
        }
        return onlyNumbers(await backend.deviceControl.countDevices(within));
      },
    }),
    park: operation({
      effects: ["write", "commerce"],
      needs: ["deviceId"],
      answer: requested,
      async run({ deviceId: device }, { backend, within }) {
        await backend.deviceControl.parkDevice(device, within);
        return { status: "park_requested", deviceId: device };
      },
    }),
    resume: operation({
      effects: ["write", "commerce"],
      billed: true,
      needs: ["deviceId"],
      answer: requested,
      async run({ deviceId: device }, { backend, within }) {
        await backend.deviceControl.resumeDevice(device, within);
        return { status: "resume_requested", deviceId: device };
      },
    }),
    list_recordings: operation({
      effects: ["read"],
      needs: ["deviceId"],
      may: ["offset", "limit"],
      answer: sliced(Recording),
      run: async ({ deviceId: device, offset, limit }, { backend, within }) =>
        sliceOf(await backend.deviceControl.listRecordings(device, within), { offset, limit }),
    }),
    get_recording: operation({
      effects: ["read"],
      needs: ["deviceId", "recordingId"],
      answer: Recording,
      run: ({ deviceId: device, recordingId }, { backend, within }) =>
        backend.deviceControl.getRecording(device, recordingId, within),
    }),
    start_recording: operation({
      effects: ["write"],
      needs: ["deviceId"],
      may: ["name", "retentionDays", "types"],
      answer: Recording,
      run: ({ deviceId: device, name, retentionDays, types }, { backend, within }) =>
        backend.deviceControl.startRecording(device, { name, retentionDays, types }, within),
    }),
    stop_recording: operation({
      effects: ["write"],
      needs: ["deviceId", "recordingId"],
      answer: Recording,
      run: ({ deviceId: device, recordingId }, { backend, within }) =>
        backend.deviceControl.stopRecording(device, recordingId, within),
    }),
    delete_recording: operation({
      effects: ["destructive"],
      needs: ["deviceId", "recordingId"],
      answer: ok,
      async run({ deviceId: device, recordingId }, { backend, within }) {
        await backend.deviceControl.deleteRecording(device, recordingId, within);
        return { status: "ok" as const, operation: "delete_recording", deviceId: device };
      },
    }),
  }),
);

/** The longest that one request of a wait is held open. */
const HELD_MS = 20_000;

/**
 * The platform holds a request until the device is ready. It is asked for a short while at a time: so progress can be told in between, and a
 * limit of the platform's own is no failure while time is left.
 */
async function untilReady(device: string, seconds: number, use: Use): Promise<z.input<typeof Device>> {
  let last: z.input<typeof Device> | undefined;
  const started = use.clock.now();
  const ready = await waitUntil(use, {
    seconds,
    everyMs: 1000,
    message: () => `Device ${device} is ${last?.state ?? "not ready"}.`,
    async look(leftMs) {
      try {
        const timeoutMs = Math.max(1000, Math.min(HELD_MS, leftMs));
        await use.backend.deviceControl.waitDeviceReady(device, { ...use.within, timeoutMs });
      } catch (thrown) {
        if (!hasCode(thrown, "timeout", "conflict")) throw thrown;
      }
      last = await use.backend.devices.getDevice(device, use.within);
      if (last.state === "terminated" || last.state === "stopped") {
        throw new BackendError("conflict", `Device ${device} is ${last.state} and will not become ready.`, {
          hint: last.state === "stopped" ? "Resume it with manage_device operation=resume." : "Create a new device.",
        });
      }
      return last.state === "ready" ? last : undefined;
    },
  });
  if (ready !== undefined) return ready;
  const waited = Math.round((use.clock.now() - started) / 1000);
  throw new BackendError("timeout", `Device ${device} is ${last?.state ?? "not ready"} after ${waited} s.`, {
    hint: "Call wait_ready again to go on waiting.",
  });
}

function onlyNumbers(counts: Readonly<Record<string, unknown>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
  );
}
