type Payload = Readonly<Record<string, unknown>>;

export interface Conditions {
  readonly all?: readonly unknown[] | undefined;
  readonly any?: readonly unknown[] | undefined;
}

/** `{field, value}` is held against the payload; elements of other forms, which nothing describes, let everything pass. */
export function conditionsPass(conditions: Conditions, payload: Payload): boolean {
  const holds = (condition: unknown) => {
    if (typeof condition !== "object" || condition === null) return true;
    const { field, value } = condition as Payload;
    return typeof field !== "string" || payload[field] === value;
  };
  const any = conditions.any ?? [];
  return (conditions.all ?? []).every(holds) && (any.length === 0 || any.some(holds));
}

/** What a payload lacks, by the `required` and `properties` of a JSON Schema. */
export function payloadErrors(schema: Payload | null, payload: Payload): readonly { field: string; message: string }[] {
  const required = Array.isArray(schema?.["required"]) ? schema["required"].map(String) : [];
  const missing = required
    .filter((field) => payload[field] === undefined)
    .map((field) => ({ field, message: "is missing" }));
  const properties = Object.entries((schema?.["properties"] ?? {}) as Record<string, { type?: unknown }>);
  const wrong = properties.flatMap(([field, { type }]) =>
    payload[field] === undefined || typeof type !== "string" || isOfType(payload[field], type)
      ? []
      : [{ field, message: `must be a ${type}` }],
  );
  return [...missing, ...wrong];
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return type === "null" ? value === null : typeof value === type;
}
