import fc from "fast-check";
import { expect, test } from "vitest";
import type { UiNode, UiState } from "../backend/devices.ts";
import { compactState, matchingNodes } from "./ui-state.ts";

const bounds = { left: 0, top: 10, right: 101, bottom: 20 };
const stateOf = (children: readonly UiNode[], more: Partial<UiState> = {}): UiState => ({
  a11y_tree: { className: "android.widget.FrameLayout", boundsInScreen: bounds, children },
  ...more,
});

test("a node is its centre, its words, its id and its flags", () => {
  const save: UiNode = {
    className: "android.widget.Button",
    resourceId: "com.example:id/save",
    text: "  Save ",
    contentDescription: "Save note",
    boundsInScreen: bounds,
    isClickable: true,
    isCheckable: true,
    isChecked: true,
    isEnabled: false,
    isVisibleToUser: false,
  };
  expect(compactState("d1", stateOf([save]), {}, 0).nodes).toEqual([
    { xy: [51, 15], t: "Save", d: "Save note", id: "save", c: "Button", f: "clickable,checked,disabled,hidden" },
  ]);
});

test("containers that say and do nothing are left out unless they are asked for", () => {
  const state = stateOf([{ boundsInScreen: bounds, children: [{ text: "deep", boundsInScreen: bounds }] }]);
  expect(compactState("d1", state, {}, 0).nodes.map(({ t }) => t)).toEqual(["deep"]);
  expect(compactState("d1", state, { includeAll: true }, 0).total).toBe(3);
});

test("filters look at text, description and id, and both must hold", () => {
  const state = stateOf([
    { text: "Save", resourceId: "a:id/save" },
    { contentDescription: "SAVED items", resourceId: "a:id/list" },
    { resourceId: "a:id/save_all", isClickable: true },
  ]);
  const ids = (filter: Parameters<typeof matchingNodes>[1]) => matchingNodes(state, filter).map((n) => n.resourceId);
  expect(ids({ contains: "save" })).toEqual(["a:id/save", "a:id/list", "a:id/save_all"]);
  expect(ids({ resourceId: "save" })).toEqual(["a:id/save"]);
  expect(ids({ resourceId: "a:id/list", contains: "saved" })).toEqual(["a:id/list"]);
  expect(ids({ resourceId: "list", contains: "nothing" })).toEqual([]);
});

const password: UiNode = { text: "hunter2", resourceId: "a:id/pw", isPassword: true, isFocused: true };

test("a password shows as bullets, whether it is a node or the focused element", () => {
  const phone_state = { focusedElement: { resourceId: "a:id/pw", text: "hunter2" } };
  const shown = compactState("d1", stateOf([password], { phone_state }), {}, 0);
  expect(shown.nodes[0]?.t).toBe("•••");
  expect(shown.focused).toEqual({ resourceId: "a:id/pw", text: "•••" });
});

test("the focused text shows only where the tree proves that it is no password", () => {
  const phone_state = { focusedElement: { text: "milk" } };
  const textOf = (children: readonly UiNode[]) =>
    compactState("d1", stateOf(children, { phone_state }), {}, 0).focused?.text;
  expect(textOf([{ text: "milk", isFocused: true }])).toBe("milk");
  expect(textOf([])).toBe("•••");
  expect(textOf([{ text: "milk", isFocused: true, isPassword: true }])).toBe("•••");
});

test("no filter can be used to guess a password", () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 8 }),
      fc.string({ minLength: 1, maxLength: 8 }),
      (secret, guess) => {
        const right = matchingNodes(stateOf([{ ...password, text: secret }]), { contains: secret });
        const wrong = matchingNodes(stateOf([{ ...password, text: guess }]), { contains: secret });
        expect(right.length).toBe(wrong.length);
      },
    ),
  );
});

test("a screen that could not be read is said to be dead", () => {
  expect(compactState("d1", {}, {}, 0)).toMatchObject({ deadTree: true, total: 0, nodes: [], hasMore: false });
  expect(compactState("d1", stateOf([]), {}, 0).deadTree).toBe(true);
});

test("pages follow on each other without a gap and stay small, however long the texts", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1, maxLength: 300, unit: "binary" }), { maxLength: 450 }), (texts) => {
      const state = stateOf(texts.map((text) => ({ text: `x${text}`, boundsInScreen: bounds })));
      let offset: number | undefined = 0;
      let seen = 0;
      while (offset !== undefined) {
        const page = compactState("d1", state, {}, offset);
        expect(page.offset).toBe(seen);
        expect(page.nodes.length).toBeLessThanOrEqual(200);
        expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(28_000);
        seen += page.nodeCount;
        offset = page.nextOffset;
      }
      expect(seen).toBe(texts.length);
    }),
    { numRuns: 20 },
  );
});
