import { z } from "zod";

/**
 * What a backend hands to the tools is kept narrowly: a field that is not named here goes no further, whatever the backend sends. Only what an
 * object is nothing without is required; the rest may be missing or null.
 */
export const text = z.string().nullish();
export const number = z.number().nullish();
export const flag = z.boolean().nullish();
export const texts = z.array(z.string()).nullish();
/** JSON of the user's own making. */
export const opaque = z.record(z.string(), z.unknown()).nullish();
export const anything = z.unknown().optional();

type Fields<K extends string, T extends z.ZodType> = { [Name in K]: T };

function fields<K extends string, T extends z.ZodType>(names: readonly K[], type: T): Fields<K, T> {
  return Object.fromEntries(names.map((name) => [name, type])) as Fields<K, T>;
}

export const textFields = <K extends string>(...names: readonly K[]) => fields(names, text);
export const numberFields = <K extends string>(...names: readonly K[]) => fields(names, number);
export const flagFields = <K extends string>(...names: readonly K[]) => fields(names, flag);
export const stamps = textFields("createdAt", "updatedAt");

export const PageMeta = z.object({
  page: z.number(),
  pages: z.number(),
  pageSize: z.number(),
  total: z.number(),
  hasNext: z.boolean(),
  hasPrev: z.boolean(),
});
export type PageMeta = z.infer<typeof PageMeta>;

/** `null` stands for an empty list in places. */
export const page = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item).nullable(), pagination: PageMeta });
export const data = <T extends z.ZodType>(item: T) => z.object({ data: item });
export const message = z.object({ message: text });
export const done = z.object({ success: flag, message: text });
export const written = <T extends z.ZodType>(item: T) => z.object({ data: item, message: text, success: flag });

export interface Paging {
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
}

/** How a single call of a backend may end early. */
export interface Within {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** W3C trace context, for a backend that calls somebody in turn. */
  readonly traceparent?: string | undefined;
}
