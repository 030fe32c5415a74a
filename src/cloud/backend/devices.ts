import { z } from "zod";
import { flag, number, page, stamps, textFields, type PageMeta, type Paging, type Within } from "./fields.ts";

export const DEVICE_STATES = [
  "creating",
  "assigned",
  "ready",
  "rebooting",
  "migrating",
  "resetting",
  "stopped",
  "terminated",
  "maintenance",
  "unknown",
] as const;
export type DeviceState = (typeof DEVICE_STATES)[number];

/** The names in use, then the older ones that mean the same. */
export const DEVICE_TYPES = [
  "android_cloud_phone",
  "android_physical_phone",
  "ios_stealth_phone",
  "android_emulator",
  "dedicated_premium_device",
  "dedicated_physical_device",
  "dedicated_ios_device",
  "dedicated_emulated_device",
] as const;
export type DeviceType = (typeof DEVICE_TYPES)[number];

/** Without the token that opens its stream, and without whose it is. */
export const Device = z.object({
  id: z.string(),
  ...textFields("name", "state", "stateMessage", "type", "providerId", "streamUrl", "activeTaskId"),
  taskCount: number,
  ...textFields("assignedAt", "terminatesAt", "billingStrategy"),
  ...stamps,
});
export type Device = z.input<typeof Device>;
export const DevicePage = page(Device);

export const DeviceApp = z.object({
  packageName: z.string(),
  ...textFields("label", "versionName"),
  versionCode: number,
  isSystemApp: flag,
});
export type DeviceApp = z.input<typeof DeviceApp>;

/** A node of the accessibility tree. */
export interface UiNode {
  readonly className?: string | null | undefined;
  readonly resourceId?: string | null | undefined;
  readonly text?: string | null | undefined;
  readonly contentDescription?: string | null | undefined;
  readonly boundsInScreen?:
    Partial<Record<"left" | "top" | "right" | "bottom", number | null | undefined>> | null | undefined;
  readonly isCheckable?: boolean | null | undefined;
  readonly isChecked?: boolean | null | undefined;
  readonly isClickable?: boolean | null | undefined;
  readonly isEnabled?: boolean | null | undefined;
  readonly isFocused?: boolean | null | undefined;
  readonly isLongClickable?: boolean | null | undefined;
  readonly isPassword?: boolean | null | undefined;
  readonly isScrollable?: boolean | null | undefined;
  readonly isSelected?: boolean | null | undefined;
  readonly isVisibleToUser?: boolean | null | undefined;
  readonly children?: readonly UiNode[] | null | undefined;
}

export interface UiState {
  /** Missing when the device could not read its screen. */
  readonly a11y_tree?: UiNode | undefined;
  readonly phone_state?:
    | {
        readonly currentApp?: string | null | undefined;
        readonly activityName?: string | null | undefined;
        readonly keyboardVisible?: boolean | null | undefined;
        readonly isEditable?: boolean | null | undefined;
        readonly focusedElement?:
          | {
              readonly className?: string | null | undefined;
              readonly resourceId?: string | null | undefined;
              readonly text?: string | null | undefined;
            }
          | null
          | undefined;
      }
    | null
    | undefined;
  readonly device_context?:
    | {
        readonly screen_bounds?:
          | { readonly width?: number | null | undefined; readonly height?: number | null | undefined }
          | null
          | undefined;
      }
    | null
    | undefined;
}

export interface Bytes {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

export interface DeviceFilter extends Paging {
  readonly state?: DeviceState[] | undefined;
  readonly type?: DeviceType | undefined;
  readonly name?: string | undefined;
  readonly country?: string | undefined;
}

export interface NewDevice {
  readonly deviceType?: DeviceType | undefined;
  readonly name?: string | undefined;
  /** ISO 3166, upper case. */
  readonly country?: string | undefined;
}

export interface DevicesBackend {
  listDevices(filter: DeviceFilter, within?: Within): Promise<{ items: Device[] | null; pagination: PageMeta }>;
  getDevice(deviceId: string, within?: Within): Promise<Device>;
  getDeviceScreenshot(
    deviceId: string,
    options?: { hideOverlay?: boolean | undefined },
    within?: Within,
  ): Promise<Bytes>;
  getDeviceUiState(deviceId: string, within?: Within): Promise<UiState>;
  listAppsOnDevice(
    deviceId: string,
    options: { includeSystemApps?: boolean | undefined; includeProtectedApps?: boolean | undefined },
    within?: Within,
  ): Promise<DeviceApp[] | null>;
  createDevice(device: NewDevice, within?: Within): Promise<Device>;
  terminateDevice(deviceId: string, within?: Within): Promise<void>;
}
