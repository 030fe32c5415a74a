import type { Element, Rect } from "./element.ts";
import { SCREEN, type Phone } from "./phone.ts";

const CLASSES: Readonly<Record<Element["kind"], string>> = {
  text: "android.widget.TextView",
  button: "android.widget.Button",
  field: "android.widget.EditText",
  password: "android.widget.EditText",
  row: "android.widget.TextView",
  icon: "android.widget.TextView",
  list: "androidx.recyclerview.widget.RecyclerView",
};

/** The screen as the API tells it. `filtered` leaves out what can't be acted on and says nothing. */
export function uiState(phone: Phone, filtered: boolean): object {
  const elements = phone
    .elements()
    .filter(({ text, onTap, kind }) => !filtered || text !== "" || onTap !== undefined || kind === "list");
  const focused = elements.find((element) => element.focused === true);
  return {
    $schema: "https://virtual.test/schemas/UiState.json",
    a11y_tree: {
      ...node(phone.app, "android.widget.FrameLayout", "", "", "", {
        left: 0,
        top: 0,
        right: SCREEN.width,
        bottom: SCREEN.height,
      }),
      children: elements.map((element) => ({ ...nodeOf(phone.app, element), children: null })),
    },
    ime_tree: {
      ...node("", "", "", "", "", { left: 0, top: 0, right: 0, bottom: 0 }),
      isEnabled: false,
      children: null,
    },
    phone_state: {
      currentApp: phone.label,
      packageName: phone.app,
      activityName: phone.activity,
      keyboardVisible: focused !== undefined,
      isEditable: focused !== undefined,
      focusedElement:
        focused === undefined ? null : { className: CLASSES[focused.kind], resourceId: focused.id, text: focused.text },
    },
    device_context: {
      screen_bounds: { width: SCREEN.width, height: SCREEN.height },
      display_metrics: {
        density: SCREEN.densityDpi / 160,
        densityDpi: SCREEN.densityDpi,
        scaledDensity: SCREEN.densityDpi / 160,
        widthPixels: SCREEN.width,
        heightPixels: SCREEN.height,
      },
      filtering_params: { min_element_size: 5, overlay_offset: 0 },
    },
  };
}

function nodeOf(app: string, element: Element) {
  const { kind, id, text, description = "", rect } = element;
  return {
    ...node(app, CLASSES[kind], id, text, description, rect),
    isClickable: element.onTap !== undefined,
    isFocusable: element.onTap !== undefined,
    isFocused: element.focused === true,
    isPassword: kind === "password",
    isScrollable: kind === "list",
  };
}

function node(
  packageName: string,
  className: string,
  resourceId: string,
  text: string,
  contentDescription: string,
  rect: Rect,
) {
  return {
    className,
    packageName,
    resourceId,
    text,
    contentDescription,
    boundsInScreen: rect,
    isCheckable: false,
    isChecked: false,
    isClickable: false,
    isEnabled: true,
    isFocusable: false,
    isFocused: false,
    isLongClickable: false,
    isPassword: false,
    isScrollable: false,
    isSelected: false,
    isVisibleToUser: true,
  };
}
