import { type Path, type Problem, problemAt, stateInvalid } from "./problems.ts";

/** Larger than any profile that people write, and than any snapshot that a device gives. */
const MAX_CHARACTERS = 8 * 1024 * 1024;
const MAX_ALIASES = 100;

/**
 * The value that a text of JSON or YAML 1.2 holds. Refuses what would be read otherwise than it looks: a key that stands twice, several documents, tags, a
 * whole number that JavaScript can't hold. Aliases are bounded. Messages give lines and columns, and nothing of the text. Throws STATE_INVALID.
 */
export async function readDocumentText(source: string, what: string): Promise<unknown> {
  if (source.length > MAX_CHARACTERS) {
    throw stateInvalid(what, [
      problemAt([], `is ${source.length} characters long; at most ${MAX_CHARACTERS} are read`),
    ]);
  }
  const { isPair, isScalar, isSeq, LineCounter, parseDocument, visit } = await import("yaml");
  const lineCounter = new LineCounter();
  const document = parseDocument(source, {
    version: "1.2",
    schema: "core",
    strict: true,
    uniqueKeys: true,
    stringKeys: true,
    resolveKnownTags: false,
    prettyErrors: false,
    lineCounter,
  });
  const faults = [...document.errors, ...document.warnings].map(({ code, pos }): Problem => {
    const { line, col } = lineCounter.linePos(pos[0]);
    return problemAt([], `line ${line}, column ${col}: ${FAULTS[code] ?? "is neither JSON nor YAML"}`);
  });
  if (faults.length > 0) throw stateInvalid(what, faults);

  const inexact: Problem[] = [];
  visit(document, {
    Scalar(_key, node, parents) {
      if (typeof node.value !== "number" || typeof node.source !== "string" || isKept(node.source, node.value)) return;
      const line = [...parents, node];
      const at = line.flatMap((parent, depth): Path => {
        if (isPair(parent)) return [isScalar(parent.key) ? String(parent.key.value) : ""];
        const child = line[depth + 1];
        return isSeq(parent) ? [parent.items.findIndex((item) => item === child)] : [];
      });
      inexact.push(
        problemAt(at, "is a whole number that can't be kept exactly; put it in quotes, or write it as 1e20"),
      );
    },
  });
  if (inexact.length > 0) throw stateInvalid(what, inexact);
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (thrown) {
    if (!(thrown instanceof ReferenceError)) throw thrown;
    throw stateInvalid(what, [
      problemAt([], `has aliases that stand for more than ${MAX_ALIASES} copies, or for nothing`),
    ]);
  }
}

/** Whether a whole number is the one that was written; JavaScript itself writes those beyond 2^53 with zeros at the end, which reads as the same again. */
function isKept(source: string, value: number): boolean {
  if (!/^[-+]?[0-9]+$/.test(source) || Number.isSafeInteger(value)) return true;
  return Number.isFinite(value) && (String(value) === source || BigInt(source) === BigInt(value));
}

const FAULTS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "this key stands there twice",
  MULTIPLE_DOCS: "a second document begins; only one is read",
  NON_STRING_KEY: "a key must be a text",
  TAG_RESOLVE_FAILED: "tags are not known here",
  TAB_AS_INDENT: "a tab does not indent; use blanks",
  BAD_INDENT: "is not indented as it should be",
  MISSING_CHAR: "a character is missing: a bracket, comma, colon or quote",
  RESOURCE_EXHAUSTION: "is nested too deep",
  BAD_ALIAS: "this alias is not well formed",
};
