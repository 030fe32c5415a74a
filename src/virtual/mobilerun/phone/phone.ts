import { holds, type Element } from "./element.ts";

export const SCREEN = { width: 1080, height: 2340, densityDpi: 420 } as const;

export const LAUNCHER = "com.virtual.launcher";
export const NOTES = "com.example.notes";
export const SETTINGS = "com.android.settings";
export const BROWSER = "com.android.browser";

const ROW = 160;
const MARGIN = 40;
const TOP = 120;
const BOTTOM = SCREEN.height - 120;
const LIST_TOP = TOP + 180;

type Field = "draft" | "password";

/**
 * The scripted phone: a home screen, a notes app with a list and an editable field, a settings page with a password field, and a browser.
 * What is on the screen follows from this state alone, for the UI tree and for the picture alike.
 */
export class Phone {
  app: string = LAUNCHER;
  editing = false;
  notes: string[] = [];
  url = "about:blank";
  overlay = false;
  kiosk: string | undefined;
  focus: Field | undefined;
  readonly values: Record<Field, string> = { draft: "", password: "" };
  #scrolled = 0;
  readonly #labels: () => ReadonlyMap<string, string>;

  /** `labels` answers the apps that the home screen shows, by package. */
  constructor(labels: () => ReadonlyMap<string, string>) {
    this.#labels = labels;
  }

  /** Everything back to how it was made. */
  erase(): void {
    this.notes = [];
    this.values.draft = "";
    this.values.password = "";
    this.url = "about:blank";
    this.overlay = false;
    this.kiosk = undefined;
    this.#show(LAUNCHER);
  }

  get activity(): string {
    if (this.app === NOTES) return this.editing ? ".EditActivity" : ".ListActivity";
    return this.app === LAUNCHER ? ".HomeActivity" : ".MainActivity";
  }

  get label(): string {
    return this.app === LAUNCHER ? "Home" : (this.#labels().get(this.app) ?? this.app);
  }

  start(app: string): void {
    if (this.kiosk === undefined || this.kiosk === app) this.#show(app);
  }

  stop(app: string): void {
    if (this.app === app) this.#show(LAUNCHER);
  }

  home(): void {
    this.#show(this.kiosk ?? LAUNCHER);
  }

  back(): void {
    if (this.focus !== undefined) this.focus = undefined;
    else if (this.editing) this.#show(NOTES);
    else this.home();
  }

  open(url: string): void {
    this.url = url;
    this.start(BROWSER);
  }

  tap(x: number, y: number): void {
    const hit = this.elements().findLast(({ rect, onTap }) => onTap !== undefined && holds(rect, x, y));
    if (hit === undefined) this.focus = undefined;
    hit?.onTap?.();
  }

  swipe(fromY: number, toY: number): void {
    const rows = Math.round((fromY - toY) / ROW);
    this.#scrolled = Math.max(0, Math.min(this.notes.length - 1, this.#scrolled + rows));
  }

  /** False when nothing that can be written in has the focus. */
  write(text: string, clear: boolean): boolean {
    if (this.focus === undefined) return false;
    this.values[this.focus] = (clear ? "" : this.values[this.focus]) + text;
    return true;
  }

  clear(): boolean {
    return this.write("", true);
  }

  /** Android's key codes that mean something here: 3 home, 4 back, 62 space, 66 enter, 67 delete, 7 to 16 digits, 29 to 54 letters. */
  key(code: number): void {
    if (code === 3) this.home();
    else if (code === 4) this.back();
    else if (code === 67 && this.focus !== undefined) this.values[this.focus] = this.values[this.focus].slice(0, -1);
    else if (code === 66 && this.editing) this.#save();
    else if (code === 62) this.write(" ", false);
    else if (code >= 7 && code <= 16) this.write(String(code - 7), false);
    else if (code >= 29 && code <= 54) this.write(String.fromCharCode(97 + code - 29), false);
  }

  /** What lies on the screen, from back to front. */
  elements(): readonly Element[] {
    const title: Element = {
      kind: "text",
      id: `${this.app}:id/title`,
      rect: { left: MARGIN, top: TOP, right: SCREEN.width - MARGIN, bottom: TOP + 120 },
      text: this.editing ? "New note" : this.label,
    };
    return [title, ...this.#content()];
  }

  #content(): readonly Element[] {
    switch (this.app) {
      case LAUNCHER:
        return [...this.#labels()].map(([app, label], at) =>
          row(at, "icon", `${LAUNCHER}:id/icon`, label, () => this.start(app)),
        );
      case NOTES:
        return this.editing ? this.#editor() : this.#list();
      case SETTINGS:
        return [this.#field(0, "password", `${SETTINGS}:id/wifi_password`)];
      case BROWSER:
        return [row(0, "text", `${BROWSER}:id/url`, this.url)];
      default:
        return [row(0, "text", `${this.app}:id/body`, "")];
    }
  }

  #list(): readonly Element[] {
    const rows = Math.floor((BOTTOM - LIST_TOP - ROW) / ROW);
    const seen = this.notes.slice(this.#scrolled, this.#scrolled + rows);
    return [
      {
        kind: "list",
        id: `${NOTES}:id/list`,
        rect: { left: 0, top: LIST_TOP, right: SCREEN.width, bottom: LIST_TOP + rows * ROW },
        text: "",
      },
      ...seen.map((note, at) => row(at, "row", `${NOTES}:id/note`, note)),
      button(`${NOTES}:id/add`, "Add", "Add note", () => {
        this.editing = true;
        this.focus = "draft";
      }),
    ];
  }

  #editor(): readonly Element[] {
    return [
      this.#field(0, "draft", `${NOTES}:id/body`),
      button(`${NOTES}:id/save`, "Save", "Save note", () => this.#save()),
    ];
  }

  #field(at: number, field: Field, id: string): Element {
    const kind = field === "password" ? "password" : "field";
    const element = row(at, kind, id, this.values[field], () => (this.focus = field));
    return { ...element, focused: this.focus === field };
  }

  #save(): void {
    if (this.values.draft !== "") this.notes.push(this.values.draft);
    this.values.draft = "";
    this.#show(NOTES);
  }

  #show(app: string): void {
    this.app = app;
    this.editing = false;
    this.focus = undefined;
    this.#scrolled = 0;
  }
}

function row(at: number, kind: Element["kind"], id: string, text: string, onTap?: () => void): Element {
  const top = LIST_TOP + at * ROW;
  const rect = { left: MARGIN, top, right: SCREEN.width - MARGIN, bottom: top + ROW - 20 };
  return { kind, id, rect, text, ...(onTap === undefined ? {} : { onTap }) };
}

function button(id: string, text: string, description: string, onTap: () => void): Element {
  const rect = { left: MARGIN, top: BOTTOM - ROW, right: SCREEN.width - MARGIN, bottom: BOTTOM };
  return { kind: "button", id, rect, text, description, onTap };
}
