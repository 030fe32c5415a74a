const MAX_LENGTH = 300;
const MAX_PARTS = 5;
/** Longer than any text that is kept: a pattern never runs over megabytes. */
const MAX_READ = 4000;

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * What a refusal says, in one line: the `message`, `detail` or `title` of its JSON and the parts of a validation error, of which several
 * services behind the API have several forms. Nothing else of a body is ever repeated: not a page of HTML, not the values that were refused.
 */
export function refusalText(body: unknown, secret: string): string | undefined {
  if (!isObject(body)) return undefined;
  const said = [body["message"], body["detail"], body["title"], nested(body["error"])].find(isText);
  const parts = [body["errors"], body["detail"]].flatMap(partsOf).slice(0, MAX_PARTS);
  const line = clean([said, ...parts].filter(isText).join("; "), secret);
  return line === "" ? undefined : line;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function nested(error: unknown): unknown {
  return isObject(error) ? error["message"] : error;
}

/** `{message, location}` of problem documents, `{msg, loc}` of Python's services, `{field, message}` of the rest. */
function partsOf(list: unknown): string[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).flatMap((part) => {
    const said = [part["message"], part["msg"]].find(isText);
    if (said === undefined) return [];
    const loc = part["loc"];
    const place = Array.isArray(loc) ? loc.map(String).join(".") : [part["location"], part["field"]].find(isText);
    return [place === undefined ? said : `${place}: ${said}`];
  });
}

/** One line without control characters, markup, keys or excess length. */
export function clean(text: string, secret: string): string {
  const line = text
    .slice(0, MAX_READ)
    .replaceAll(secret, "[key]")
    .replace(/dr_sk_[\w-]+/g, "[key]")
    .replace(/<[^<>]*>/g, " ")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  return line.length <= MAX_LENGTH ? line : `${line.slice(0, MAX_LENGTH - 1)}…`;
}
