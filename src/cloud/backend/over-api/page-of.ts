import type { PageMeta, Paging } from "../fields.ts";

const DEFAULT_PAGE_SIZE = 50;

/** One page of a list that the platform sends whole, in the form in which it sends pages. */
export function pageOf<T>(
  all: readonly T[] | null,
  { page = 1, pageSize = DEFAULT_PAGE_SIZE }: Paging,
): { items: T[]; pagination: PageMeta } {
  const total = all?.length ?? 0;
  const pages = Math.max(1, Math.ceil(total / pageSize));
  const from = (page - 1) * pageSize;
  return {
    items: all?.slice(from, from + pageSize) ?? [],
    pagination: { page, pages, pageSize, total, hasNext: page < pages, hasPrev: page > 1 },
  };
}
