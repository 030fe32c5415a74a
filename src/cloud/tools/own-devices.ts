import type { PageMeta } from "../backend/fields.ts";

/**
 * The page of a credential that may use only some devices: it counts what is theirs. How many others there are, and whether one of them has the name that
 * was asked for, is not told.
 */
export function pageOf(items: readonly unknown[], { page, pageSize, hasNext, hasPrev }: PageMeta): PageMeta {
  return { page, pageSize, hasNext, hasPrev, pages: hasNext ? page + 1 : page, total: items.length };
}
