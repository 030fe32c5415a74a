import { z } from "zod";
import { DEVICE_STATES, DEVICE_TYPES, Device, DeviceApp, DevicePage } from "../backend/devices.ts";
import { sliceFields, sliceOf, sliced } from "./bounds.ts";
import { single } from "./declare.ts";
import { deviceId, page, waitSeconds } from "./inputs.ts";
import { pageOf } from "./own-devices.ts";
import { imageType } from "./image-type.ts";
import { DEFAULT_SIDE, pictureOf } from "./pictures.ts";
import { CompactState, compactState, matchingNodes } from "./ui-state.ts";
import { waitUntil } from "./waiting.ts";

/** A device that is terminated is only a memory; all others are listed unless states are asked for. */
const LIVING = DEVICE_STATES.filter((state) => state !== "terminated");

export const listDevices = single({
  name: "list_devices",
  title: "List cloud devices",
  description:
    "List the cloud phones of this account, a page at a time. Terminated devices are left out unless state asks for them.",
  input: z.strictObject({
    state: z.array(z.enum(DEVICE_STATES)).optional().describe("Only devices in these states."),
    type: z.enum(DEVICE_TYPES).optional(),
    name: z.string().optional().describe("Part of the name."),
    country: z.string().optional().describe("ISO country code."),
    page: page.optional(),
    pageSize: z.int().positive().optional().describe("Entries a page."),
  }),
  answer: DevicePage,
  effects: ["read"],
  async run({ state, ...filter }, { backend, within, devices }) {
    const states = state === undefined || state.length === 0 ? LIVING : state;
    const found = await backend.devices.listDevices({ ...filter, state: [...states] }, within);
    const all = found.items ?? [];
    if (devices === undefined) return { ...found, items: all };
    const items = all.filter(({ id }) => devices.has(id));
    return { items, pagination: pageOf(items, found.pagination) };
  },
});

export const getDevice = single({
  name: "get_device",
  title: "Show a cloud device",
  description: "One device: its state, type and what it is doing. It can be used when its state is ready.",
  input: z.strictObject({ deviceId }),
  answer: Device,
  effects: ["read"],
  run: (input, { backend, within }) => backend.devices.getDevice(input.deviceId, within),
});

export const getDeviceScreenshot = single({
  name: "get_device_screenshot",
  title: "Take a screenshot",
  description:
    "See the device's screen. The picture is scaled down; multiply its coordinates by scale before you tap. get_device_ui_state is cheaper where text is enough, and its coordinates need no scaling.",
  input: z.strictObject({
    deviceId,
    maxSide: z
      .int()
      .min(256)
      .max(4096)
      .optional()
      .describe(`Longest side of the picture in pixels, ${DEFAULT_SIDE} when left out. Bigger costs more tokens.`),
    hideOverlay: z.boolean().optional().describe("Without the numbered boxes of the overlay."),
  }),
  answer: z.object({
    deviceId: z.string(),
    width: z.int().describe("Of the screen, in pixels."),
    height: z.int(),
    pictureWidth: z.int(),
    pictureHeight: z.int(),
    scale: z.number().describe("Screen pixels for one pixel of the picture."),
    mimeType: z.string(),
    bytes: z.int().describe("Size of the picture."),
    original: z.string().optional().describe("Resource with the screenshot as it came."),
  }),
  effects: ["read"],
  async run(input, use) {
    const { hideOverlay } = input;
    const shot = await use.backend.devices.getDeviceScreenshot(input.deviceId, { hideOverlay }, use.within);
    const picture = await pictureOf(shot.bytes, input.maxSide);
    use.attach?.({ kind: "image", bytes: picture.bytes, mimeType: picture.mimeType });
    const mimeType = imageType(shot.bytes) ?? "application/octet-stream";
    const original = use.originals?.keep(use.subject, { bytes: shot.bytes, mimeType });
    if (original !== undefined) {
      use.attach?.({
        kind: "resource_link",
        uri: original,
        name: "screenshot",
        mimeType,
        description: "The screenshot at its full size.",
        size: shot.bytes.byteLength,
      });
    }
    return {
      deviceId: input.deviceId,
      width: picture.originalWidth,
      height: picture.originalHeight,
      pictureWidth: picture.width,
      pictureHeight: picture.height,
      scale: Number((picture.originalWidth / picture.width).toFixed(4)),
      mimeType: picture.mimeType,
      bytes: picture.bytes.byteLength,
      ...(original === undefined ? {} : { original }),
    };
  },
});

export const getDeviceUiState = single({
  name: "get_device_ui_state",
  title: "Read the screen",
  description:
    "Read the elements on the screen as compact nodes: xy is the point to tap, t text, d description, id, c class, f flags. With waitSeconds it waits until an element matches the filter. Password fields show no text.",
  input: z.strictObject({
    deviceId,
    contains: z.string().min(1).optional().describe("Only elements whose text, description or id holds this."),
    resourceId: z.string().min(1).optional().describe("Only elements with this id, in full or after its last slash."),
    includeAll: z.boolean().optional().describe("Also layout containers that say and do nothing."),
    offset: z.int().min(0).optional().describe("nextOffset of the answer before."),
    waitSeconds: waitSeconds.optional(),
  }),
  answer: CompactState,
  effects: ["read"],
  async run({ deviceId: device, offset = 0, waitSeconds: seconds = 0, ...filter }, use) {
    const read = () => use.backend.devices.getDeviceUiState(device, use.within);
    let last = await read();
    if (seconds > 0 && matchingNodes(last, filter).length === 0) {
      await waitUntil(use, {
        seconds,
        everyMs: 1000,
        message: () => "Waiting for an element that matches.",
        async look() {
          last = await read();
          return matchingNodes(last, filter).length > 0 ? true : undefined;
        },
      });
    }
    return compactState(device, last, filter, offset);
  },
});

export const listAppsOnDevice = single({
  name: "list_apps_on_device",
  title: "List apps on a device",
  description: "The apps installed on a device with their versions.",
  input: z.strictObject({
    deviceId,
    includeSystemApps: z.boolean().optional(),
    includeProtectedApps: z.boolean().optional(),
    ...sliceFields,
  }),
  answer: sliced(DeviceApp),
  effects: ["read"],
  async run({ deviceId: device, includeSystemApps, includeProtectedApps, ...slice }, { backend, within }) {
    const apps = await backend.devices.listAppsOnDevice(device, { includeSystemApps, includeProtectedApps }, within);
    return sliceOf(apps, slice);
  },
});

export const createDevice = single({
  name: "create_device",
  title: "Provision a device",
  description:
    "Provision a new cloud phone. It is billed from now on until terminate_device. It starts in the state creating: wait for ready with manage_device operation=wait_ready.",
  input: z.strictObject({
    deviceType: z.enum(DEVICE_TYPES).optional(),
    name: z.string().max(64).optional(),
    country: z
      .string()
      .regex(/^[A-Za-z]{2}$/)
      .optional()
      .describe("ISO country code, two letters."),
  }),
  answer: Device,
  effects: ["write", "commerce"],
  billed: true,
  anyDevice: true,
  run: ({ country, ...device }, { backend, within }) =>
    backend.devices.createDevice({ ...device, country: country?.toUpperCase() }, within),
});

export const terminateDevice = single({
  name: "terminate_device",
  title: "Terminate a device",
  description: "End a device for good, with all that is on it. This cannot be undone.",
  input: z.strictObject({ deviceId }),
  answer: z.object({ status: z.literal("termination_requested"), deviceId: z.string() }),
  effects: ["destructive", "commerce"],
  async run(input, { backend, within }) {
    await backend.devices.terminateDevice(input.deviceId, within);
    return { status: "termination_requested" as const, deviceId: input.deviceId };
  },
});

export const deviceTools = [
  listDevices,
  getDevice,
  getDeviceScreenshot,
  getDeviceUiState,
  listAppsOnDevice,
  createDevice,
  terminateDevice,
];
