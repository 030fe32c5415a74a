/** The page that was asked for, 20 items unless said otherwise and 100 at most. */
export function paged<T>(all: readonly T[], query: { page?: number | undefined; pageSize?: number | undefined }) {
  const pageSize = Math.min(query.pageSize ?? 20, 100);
  const page = query.page ?? 1;
  const pages = Math.ceil(all.length / pageSize);
  return {
    items: all.slice((page - 1) * pageSize, page * pageSize),
    pagination: { page, pages, pageSize, total: all.length, hasNext: page < pages, hasPrev: page > 1 },
  };
}

/** Sorted by one field, as text or number; newest made first when nothing is asked for. */
export function sorted<T extends object>(
  all: Iterable<T>,
  by: string | undefined,
  order: "asc" | "desc" | undefined,
): readonly T[] {
  const items = [...all];
  if (by === undefined) return items.reverse();
  const valueOf = (item: T): string | number => {
    const value = (item as Readonly<Record<string, unknown>>)[by];
    return typeof value === "number" ? value : String(value ?? "");
  };
  const sign = order === "desc" ? -1 : 1;
  return items.sort((a, b) => (valueOf(a) < valueOf(b) ? -sign : valueOf(a) > valueOf(b) ? sign : 0));
}

export function contains(text: string | null | undefined, part: string | undefined): boolean {
  return part === undefined || (text ?? "").toLowerCase().includes(part.toLowerCase());
}
