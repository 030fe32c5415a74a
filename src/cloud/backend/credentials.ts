import { z } from "zod";
import { page, PageMeta, textFields, written, type Paging, type Within } from "./fields.ts";

export const FIELD_TYPES = [
  "email",
  "username",
  "password",
  "api_token",
  "phone_number",
  "two_factor_secret",
  "backup_codes",
] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** Which fields there are, never what is in them. */
export const Credential = z.object({
  ...textFields("packageName", "credentialName"),
  fields: z.array(z.object({ fieldType: z.string() })).nullish(),
});
export const CredentialPage = page(Credential).extend({ pagination: PageMeta.nullish() });
export const CredentialWritten = written(Credential);
export const CredentialPackage = z.object({ packageName: z.string() });
export const PackageWritten = written(CredentialPackage);

type Written = Promise<z.input<typeof CredentialWritten>>;
export interface CredentialName {
  readonly packageName: string;
  readonly credentialName: string;
}
export interface CredentialField {
  readonly fieldType: FieldType;
  readonly value: string;
}

export interface CredentialsBackend {
  listCredentials(
    filter: Paging & { packageName?: string | undefined },
    within?: Within,
  ): Promise<z.input<typeof CredentialPage>>;
  listCredentialPackages(within?: Within): Promise<{ items: z.input<typeof CredentialPackage>[] | null }>;
  initPackage(packageName: string, within?: Within): Promise<z.input<typeof PackageWritten>>;
  createCredential(credential: CredentialName & { fields: CredentialField[] }, within?: Within): Written;
  deleteCredential(which: CredentialName, within?: Within): Written;
  addField(field: CredentialName & CredentialField, within?: Within): Written;
  updateField(field: CredentialName & CredentialField, within?: Within): Written;
  deleteField(field: CredentialName & { fieldType: FieldType }, within?: Within): Written;
}
