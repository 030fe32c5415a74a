import { z } from "zod";
import { number, text, type Within } from "./fields.ts";

export const Model = z.object({ id: z.string(), object: text, created: number, owned_by: text });

export interface PlatformCatalogBackend {
  listModels(within?: Within): Promise<{ data?: z.input<typeof Model>[] | null | undefined }>;
  listTimezones(within?: Within): Promise<{ data: string[] | null }>;
}
