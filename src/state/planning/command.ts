/** One command line of an operation, as it follows `xcrun simctl`. */
export interface Command {
  readonly args: readonly string[];
  readonly timeoutMs: number;
  readonly stdin?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** A failure whose text this fits means that it was so already; the note says what. Texts as simctl of several Xcode versions prints them. */
  readonly alreadySo?: { readonly text: RegExp; readonly note: string };
}
