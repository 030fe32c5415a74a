import { z } from "zod";
import { domain, get, json, patch, post, remove } from "../endpoint.ts";
import { data, list, page, paging, provenance, text, textFields, written } from "../shapes.ts";

export const FIELD_TYPES = [
  "email",
  "username",
  "password",
  "api_token",
  "phone_number",
  "two_factor_secret",
  "backup_codes",
] as const;

const name = z.string().min(1).max(256);
const value = z.string().min(1).max(4096);
const field = z.strictObject({ fieldType: z.enum(FIELD_TYPES), value });

/** Nothing says that the API masks `value`: it is treated as the secret itself. */
export const Credential = z.object({
  ...textFields("packageName", "credentialName", "secretPath"),
  ...provenance,
  fields: z.array(z.object({ fieldType: z.string(), value: text })).nullish(),
});
export type Credential = z.infer<typeof Credential>;

const Package = z.object({ packageName: z.string() });
const one = "/credentials/packages/{packageName}/credentials/{credentialName}" as const;

export const credentials = domain("credentials", {
  list: get("/credentials", { query: z.strictObject(paging), answer: json(page(Credential)) }),
  packages: get("/credentials/packages", { answer: json(data(list(Package))) }),
  createPackage: post("/credentials/packages", {
    body: json(z.strictObject({ packageName: name })),
    answer: json(written(Package)),
  }),
  ofPackage: get("/credentials/packages/{packageName}", { answer: json(data(list(Credential))) }),
  create: post("/credentials/packages/{packageName}", {
    body: json(z.strictObject({ credentialName: name, fields: z.array(field).min(1) })),
    answer: json(written(Credential)),
  }),
  get: get(one, { answer: json(data(Credential)) }),
  remove: remove(one, { answer: json(written(Credential)) }),
  addField: post(`${one}/fields`, { body: json(field), answer: json(written(Credential)) }),
  updateField: patch(`${one}/fields/{fieldType}`, {
    body: json(z.strictObject({ value })),
    answer: json(written(Credential)),
  }),
  removeField: remove(`${one}/fields/{fieldType}`, { answer: json(written(Credential)) }),
});
