import { z } from "zod";
import { binary, domain, empty, get, json, post, put, remove } from "../endpoint.ts";
import { flag, flagFields, number, numberFields, optionalFlag, textFields } from "../shapes.ts";

const headers = ["displayId"] as const;

export interface UiNode {
  readonly className?: string | null | undefined;
  readonly packageName?: string | null | undefined;
  readonly resourceId?: string | null | undefined;
  readonly text?: string | null | undefined;
  readonly contentDescription?: string | null | undefined;
  readonly boundsInScreen?:
    Partial<Record<"left" | "top" | "right" | "bottom", number | null | undefined>> | null | undefined;
  readonly isCheckable?: boolean | null | undefined;
  readonly isChecked?: boolean | null | undefined;
  readonly isClickable?: boolean | null | undefined;
  readonly isEnabled?: boolean | null | undefined;
  readonly isFocusable?: boolean | null | undefined;
  readonly isFocused?: boolean | null | undefined;
  readonly isLongClickable?: boolean | null | undefined;
  readonly isPassword?: boolean | null | undefined;
  readonly isScrollable?: boolean | null | undefined;
  readonly isSelected?: boolean | null | undefined;
  readonly isVisibleToUser?: boolean | null | undefined;
  readonly children?: readonly UiNode[] | null | undefined;
}

/** Deeper than any screen, and shallow enough for the stack. */
const MAX_DEPTH = 256;

/**
 * A node and its children, read without recursion in the schema: zod walks a tree of a few thousand nodes many times slower than this does,
 * and a tree without end would take the stack. What is not a node is left out; what lies deeper than 256 is cut off.
 */
export function uiNode(value: unknown, depth = 0): UiNode | undefined {
  const fields = NodeFields.safeParse(value);
  if (!fields.success) return undefined;
  const { children, ...rest } = fields.data;
  if (children === undefined || children === null) return { ...rest, children };
  const kept = depth < MAX_DEPTH ? children.flatMap((child) => uiNode(child, depth + 1) ?? []) : [];
  return { ...rest, children: kept };
}

const NodeFields = z.object({
  ...textFields("className", "packageName", "resourceId", "text", "contentDescription"),
  boundsInScreen: z.object(numberFields("left", "top", "right", "bottom")).nullish(),
  ...flagFields("isCheckable", "isChecked", "isClickable", "isEnabled", "isFocusable", "isFocused", "isLongClickable"),
  ...flagFields("isPassword", "isScrollable", "isSelected", "isVisibleToUser"),
  children: z.array(z.unknown()).nullish(),
});

/** A root that is not an object is a tree that could not be read; it is left out. */
const tree = z
  .unknown()
  .optional()
  .transform((value) => uiNode(value));

export const UiState = z.object({
  a11y_tree: tree,
  phone_state: z
    .object({
      ...textFields("currentApp", "packageName", "activityName"),
      ...flagFields("keyboardVisible", "isEditable"),
      focusedElement: z.object(textFields("className", "resourceId", "text")).nullish(),
    })
    .nullish(),
  device_context: z
    .object({
      screen_bounds: z.object(numberFields("width", "height")).nullish(),
      display_metrics: z
        .object(numberFields("density", "densityDpi", "scaledDensity", "widthPixels", "heightPixels"))
        .nullish(),
      filtering_params: z.object({ min_element_size: number, overlay_offset: number }).nullish(),
    })
    .nullish(),
});
export type UiState = z.infer<typeof UiState>;

/** Pixels of the screen, from its upper left corner. */
const pixel = z.number().min(0);
/** Moves like a hand would, instead of at once. */
const stealth = optionalFlag;

export const screen = domain("screen", {
  screenshot: get("/devices/{deviceId}/screenshot", {
    query: z.strictObject({ hideOverlay: optionalFlag }),
    headers,
    answer: binary("image/", "application/octet-stream"),
  }),
  uiState: get("/devices/{deviceId}/ui-state", {
    /** `filter` leaves out what can't be acted on. */
    query: z.strictObject({ filter: optionalFlag }),
    headers,
    answer: json(UiState),
  }),
  time: get("/devices/{deviceId}/time", { headers, answer: json(z.string()) }),
  tap: post("/devices/{deviceId}/tap", {
    body: json(z.strictObject({ x: pixel, y: pixel, stealth })),
    headers,
    answer: empty,
  }),
  swipe: post("/devices/{deviceId}/swipe", {
    /** `duration` in milliseconds. */
    body: json(
      z.strictObject({ startX: pixel, startY: pixel, endX: pixel, endY: pixel, duration: z.int().positive(), stealth }),
    ),
    headers,
    answer: empty,
  }),
  type: post("/devices/{deviceId}/keyboard", {
    /** `errorRate` -1 and `wpm` (words a minute) 0 leave the pace to the API. */
    body: json(
      z.strictObject({
        text: z.string(),
        clear: optionalFlag,
        errorRate: z.number().optional(),
        wpm: z.number().optional(),
        stealth,
      }),
    ),
    headers,
    answer: empty,
  }),
  /** `key` is an Android key code. */
  pressKey: put("/devices/{deviceId}/keyboard", {
    body: json(z.strictObject({ key: z.int() })),
    headers,
    answer: empty,
  }),
  clearText: remove("/devices/{deviceId}/keyboard", { headers, answer: empty, effects: ["write"] }),
  /** `action` is a global action of Android's accessibility service: 1 back, 2 home, 3 recents, … */
  globalAction: post("/devices/{deviceId}/global", {
    body: json(z.strictObject({ action: z.int() })),
    headers,
    answer: empty,
  }),
  overlay: get("/devices/{deviceId}/overlay", { headers, answer: json(z.object({ visible: flag })) }),
  setOverlay: post("/devices/{deviceId}/overlay", {
    body: json(z.strictObject({ visible: z.boolean() })),
    headers,
    answer: empty,
  }),
  /** `script` is one expression; the browser in front evaluates it. */
  executeScript: post("/devices/{deviceId}/browser/execute-script", {
    body: json(z.strictObject({ script: z.string().min(1) })),
    headers,
    answer: json(z.object({ result: z.unknown().optional() })),
  }),
});
