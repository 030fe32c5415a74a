import { z } from "zod";

/**
 * Answers are read leniently and kept narrowly. Only what an object is nothing without (its id, a list's page) is required; any other field may
 * be missing or null, and a word of an enumeration that we don't know is kept. Fields that are not declared are dropped, with them `$schema`
 * and the deprecated `userId`.
 */
export const text = z.string().nullish();
export const number = z.number().nullish();
export const flag = z.boolean().nullish();
export const texts = z.array(z.string()).nullish();
/** JSON of the user's own making, kept as it is. */
export const opaque = z.record(z.string(), z.unknown()).nullish();

type Fields<K extends string, T extends z.ZodType> = { [Name in K]: T };

function fields<K extends string, T extends z.ZodType>(names: readonly K[], type: T): Fields<K, T> {
  return Object.fromEntries(names.map((name) => [name, type])) as Fields<K, T>;
}

/** Fields of one type, for objects that are mostly text. */
export const textFields = <K extends string>(...names: readonly K[]) => fields(names, text);
export const numberFields = <K extends string>(...names: readonly K[]) => fields(names, number);
export const flagFields = <K extends string>(...names: readonly K[]) => fields(names, flag);

export const Pagination = z.object({
  page: z.number(),
  pages: z.number(),
  pageSize: z.number(),
  total: z.number(),
  hasNext: z.boolean(),
  hasPrev: z.boolean(),
});
export type Pagination = z.infer<typeof Pagination>;

/** The API says `null` for an empty list in places. */
export const list = <T extends z.ZodType>(item: T) => z.array(item).nullable();
export const page = <T extends z.ZodType>(item: T) => z.object({ items: list(item), pagination: Pagination });
export const data = <T extends z.ZodType>(item: T) => z.object({ data: item });
export const written = <T extends z.ZodType>(item: T) =>
  z.object({ data: item, message: text, success: z.boolean().nullish() });
export const message = z.object({ message: text });

/** Who made a thing and when; `ownerId` and `createdBy` are what replaced `userId`. */
export const provenance = textFields("ownerId", "createdBy");
export const stamps = textFields("createdAt", "updatedAt");

/** Input: counted from 1. */
export const paging = { page: z.int().positive().optional(), pageSize: z.int().positive().optional() };
export const direction = z.enum(["asc", "desc"]).optional();
export const given = z.string().min(1);
export const optionalText = z.string().optional();
export const optionalFlag = z.boolean().optional();
export const mine = { mine: optionalFlag, createdBy: optionalText };
