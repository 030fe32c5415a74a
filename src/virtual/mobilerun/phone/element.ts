export interface Rect {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** One thing on the screen: what the UI tree says of it, how it is drawn, and what a tap on it does. */
export interface Element {
  readonly kind: "text" | "button" | "field" | "password" | "row" | "icon" | "list";
  readonly id: string;
  readonly rect: Rect;
  readonly text: string;
  readonly description?: string;
  readonly focused?: boolean;
  readonly onTap?: () => void;
}

export function holds(rect: Rect, x: number, y: number): boolean {
  return x >= rect.left && x < rect.right && y >= rect.top && y < rect.bottom;
}
