import { z } from "zod";
import type { UiNode, UiState } from "../backend/devices.ts";

const PAGE_NODES = 200;
const PAGE_BYTES = 28_000;
const TEXT_CHARACTERS = 120;
const ID_CHARACTERS = 60;
const MASK = "•••";

export interface UiFilter {
  /** Part of the text, the description or the resource id, whatever its case. */
  readonly contains?: string | undefined;
  /** The full resource id, or what stands after its last slash. */
  readonly resourceId?: string | undefined;
  readonly includeAll?: boolean | undefined;
}

export const CompactNode = z.object({
  xy: z.array(z.number()).describe("Its centre, [x, y] in device pixels."),
  t: z.string().optional().describe("Text."),
  d: z.string().optional().describe("Content description."),
  id: z.string().optional().describe("Resource id, after its last slash."),
  c: z.string().optional().describe("Class, after its last dot."),
  f: z.string().optional().describe("Flags: clickable, scrollable, password, …"),
});
export type CompactNode = z.output<typeof CompactNode>;

export const CompactState = z.object({
  deviceId: z.string(),
  app: z.string().optional(),
  activity: z.string().optional(),
  keyboardVisible: z.boolean(),
  editing: z.boolean(),
  focused: z
    .object({ className: z.string().optional(), resourceId: z.string().optional(), text: z.string().optional() })
    .optional(),
  screen: z.object({ width: z.number(), height: z.number() }).optional(),
  nodeCount: z.int().describe("Nodes in this answer."),
  total: z.int().describe("Nodes that match."),
  offset: z.int(),
  deadTree: z.boolean().describe("True when the device could not read its screen."),
  truncated: z.boolean(),
  byteTruncated: z.boolean(),
  hasMore: z.boolean(),
  nextOffset: z.int().optional(),
  filter: z.object({ contains: z.string().optional(), resourceId: z.string().optional() }).optional(),
  nodes: z.array(CompactNode),
});
export type CompactState = z.output<typeof CompactState>;

/** Nodes that a filter keeps, breadth first. What a password field holds is neither shown nor compared. */
export function matchingNodes(state: UiState, filter: UiFilter): UiNode[] {
  return allNodes(state.a11y_tree).filter((node) => keeps(node, filter));
}

export function compactState(deviceId: string, state: UiState, filter: UiFilter, offset: number): CompactState {
  const matching = matchingNodes(state, filter);
  const root = state.a11y_tree;
  const phone = state.phone_state;
  const bounds = state.device_context?.screen_bounds;
  const nodes = matching.slice(offset, offset + PAGE_NODES).map(compactNode);
  const focused = focusedOf(state);
  const echoed = {
    ...(filter.contains === undefined ? {} : { contains: filter.contains }),
    ...(filter.resourceId === undefined ? {} : { resourceId: filter.resourceId }),
  };
  const base = {
    deviceId,
    ...(phone?.currentApp ? { app: phone.currentApp } : {}),
    ...(phone?.activityName ? { activity: phone.activityName } : {}),
    keyboardVisible: phone?.keyboardVisible === true,
    editing: phone?.isEditable === true,
    ...(focused === undefined ? {} : { focused }),
    ...(bounds?.width && bounds.height ? { screen: { width: bounds.width, height: bounds.height } } : {}),
    total: matching.length,
    offset,
    deadTree: root === undefined || (root.children ?? []).length === 0,
    ...(Object.keys(echoed).length === 0 ? {} : { filter: echoed }),
  };
  return withinBytes(nodes, (kept, byteTruncated) => {
    const next = offset + kept.length;
    const hasMore = next < matching.length;
    return {
      ...base,
      nodeCount: kept.length,
      truncated: hasMore,
      byteTruncated,
      hasMore,
      ...(hasMore ? { nextOffset: next } : {}),
      nodes: kept,
    };
  });
}

/** The centre of a node; nothing when it has no size. */
export function centreOf(node: UiNode): readonly [number, number] | undefined {
  const { left, top, right, bottom } = node.boundsInScreen ?? {};
  if (typeof left !== "number" || typeof top !== "number") return undefined;
  if (typeof right !== "number" || typeof bottom !== "number") return undefined;
  return [Math.round((left + right) / 2), Math.round((top + bottom) / 2)];
}

export function compactNode(node: UiNode): CompactNode {
  const t = node.isPassword === true ? (node.text ? MASK : "") : clip((node.text ?? "").trim(), TEXT_CHARACTERS);
  const d = node.isPassword === true ? "" : clip((node.contentDescription ?? "").trim(), TEXT_CHARACTERS);
  const id = clip(afterLast(node.resourceId ?? "", "/"), ID_CHARACTERS);
  const c = clip(afterLast(node.className ?? "", "."), ID_CHARACTERS);
  const f = flagsOf(node);
  return {
    xy: [...(centreOf(node) ?? [0, 0])],
    ...(t === "" ? {} : { t }),
    ...(d === "" ? {} : { d }),
    ...(id === "" ? {} : { id }),
    ...(c === "" ? {} : { c }),
    ...(f === "" ? {} : { f }),
  };
}

function allNodes(root: UiNode | undefined): UiNode[] {
  const nodes: UiNode[] = root === undefined ? [] : [root];
  for (const node of nodes) for (const child of node.children ?? []) nodes.push(child);
  return nodes;
}

function keeps(node: UiNode, { contains, resourceId, includeAll }: UiFilter): boolean {
  if (contains !== undefined && !textsOf(node).some((text) => text.toLowerCase().includes(contains.toLowerCase()))) {
    return false;
  }
  const id = node.resourceId ?? "";
  if (resourceId !== undefined && id !== resourceId && afterLast(id, "/") !== resourceId) return false;
  return includeAll === true || saysSomething(node) || actable(node);
}

/** What may be compared with a filter. */
export function textsOf(node: UiNode): string[] {
  const shown = node.isPassword === true ? [] : [node.text ?? "", node.contentDescription ?? ""];
  return [...shown, node.resourceId ?? ""];
}

const saysSomething = (node: UiNode): boolean =>
  (node.text ?? "").trim() !== "" || (node.contentDescription ?? "").trim() !== "";
const actable = (node: UiNode): boolean =>
  node.isClickable === true || node.isLongClickable === true || node.isScrollable === true || node.isCheckable === true;

function flagsOf(node: UiNode): string {
  const flags = [
    node.isClickable === true && "clickable",
    node.isLongClickable === true && "longClickable",
    node.isScrollable === true && "scrollable",
    node.isCheckable === true && (node.isChecked === true ? "checked" : "checkable"),
    node.isSelected === true && "selected",
    node.isFocused === true && "focused",
    node.isPassword === true && "password",
    node.isEnabled === false && "disabled",
    node.isVisibleToUser === false && "hidden",
  ];
  return flags.filter((flag) => flag !== false).join(",");
}

/**
 * The device names its focused element apart from the tree, and does not say whether it is a password field. Its text is shown only where the
 * tree shows the very element and says that it is none.
 */
function focusedOf(state: UiState): CompactState["focused"] {
  const focused = state.phone_state?.focusedElement;
  if (!focused) return undefined;
  const { className, resourceId, text } = focused;
  const inTree = allNodes(state.a11y_tree).filter((node) => node.isFocused === true);
  const harmless = inTree.some((node) => node.isPassword !== true && (node.text ?? "") === (text ?? ""));
  const hidden = inTree.some((node) => node.isPassword === true) || !harmless;
  const shown = text ? (hidden ? MASK : clip(text, TEXT_CHARACTERS)) : undefined;
  return {
    ...(className ? { className: clip(className, TEXT_CHARACTERS) } : {}),
    ...(resourceId ? { resourceId: clip(resourceId, TEXT_CHARACTERS) } : {}),
    ...(shown === undefined ? {} : { text: shown }),
  };
}

/** Nodes are left out at the end until the whole answer is small enough, one in ten at a time. */
function withinBytes(
  nodes: CompactNode[],
  envelope: (kept: CompactNode[], byteTruncated: boolean) => CompactState,
): CompactState {
  let kept = nodes;
  let answer = envelope(kept, false);
  while (kept.length > 1 && Buffer.byteLength(JSON.stringify(answer)) > PAGE_BYTES) {
    kept = kept.slice(0, Math.max(1, Math.ceil(kept.length * 0.9) - 1));
    answer = envelope(kept, true);
  }
  return answer;
}

const clip = (text: string, limit: number): string => (text.length > limit ? `${text.slice(0, limit - 1)}…` : text);
const afterLast = (text: string, separator: string): string => text.slice(text.lastIndexOf(separator) + 1);
