import { z } from "zod";
import {
  CredentialPackage,
  CredentialPage,
  CredentialWritten,
  FIELD_TYPES,
  PackageWritten,
} from "../backend/credentials.ts";
import { sliceFields, sliceOf, sliced } from "./bounds.ts";
import { bundle, single } from "./declare.ts";
import { id, page, pageSize } from "./inputs.ts";

const name = id;
const value = z.string().min(1).max(4096).describe("The secret itself. It is stored and never shown again.");
const fieldType = z.enum(FIELD_TYPES);

export const listCredentials = single({
  name: "list_credentials",
  title: "List credentials",
  description: "Which credentials are stored for apps, and which fields they have. Values are never shown.",
  input: z.strictObject({ packageName: name.optional(), page: page.optional(), pageSize: pageSize.optional() }),
  answer: CredentialPage,
  effects: ["read"],
  run: (filter, { backend, within }) => backend.credentials.listCredentials(filter, within),
});

export const listCredentialPackages = single({
  name: "list_credential_packages",
  title: "List credential packages",
  description: "The app packages that credentials can be stored for.",
  input: z.strictObject(sliceFields),
  answer: sliced(CredentialPackage),
  effects: ["read"],
  run: async (slice, { backend, within }) =>
    sliceOf((await backend.credentials.listCredentialPackages(within)).items, slice),
});

export const manageCredentials = bundle(
  {
    name: "manage_credentials",
    title: "Manage credentials",
    description: "Store, change and delete the credentials that tasks sign in with. Values go in and never come out.",
    by: "operation",
    fields: {
      packageName: name,
      credentialName: name,
      fieldType,
      value,
      fields: z.array(z.strictObject({ fieldType, value })).min(1),
    },
  },
  (operation) => ({
    init_package: operation({
      effects: ["write"],
      needs: ["packageName"],
      answer: PackageWritten,
      run: ({ packageName }, { backend, within }) => backend.credentials.initPackage(packageName, within),
    }),
    create_credential: operation({
      effects: ["write"],
      needs: ["packageName", "credentialName", "fields"],
      answer: CredentialWritten,
      run: ({ packageName, credentialName, fields }, { backend, within }) =>
        backend.credentials.createCredential({ packageName, credentialName, fields }, within),
    }),
    delete_credential: operation({
      effects: ["destructive"],
      needs: ["packageName", "credentialName"],
      answer: CredentialWritten,
      run: ({ packageName, credentialName }, { backend, within }) =>
        backend.credentials.deleteCredential({ packageName, credentialName }, within),
    }),
    add_field: operation({
      effects: ["write"],
      needs: ["packageName", "credentialName", "fieldType", "value"],
      answer: CredentialWritten,
      run: ({ packageName, credentialName, fieldType: type, value: secret }, { backend, within }) =>
        backend.credentials.addField({ packageName, credentialName, fieldType: type, value: secret }, within),
    }),
    // The value of before is gone.
    update_field: operation({
      effects: ["destructive"],
      needs: ["packageName", "credentialName", "fieldType", "value"],
      answer: CredentialWritten,
      run: ({ packageName, credentialName, fieldType: type, value: secret }, { backend, within }) =>
        backend.credentials.updateField({ packageName, credentialName, fieldType: type, value: secret }, within),
    }),
    delete_field: operation({
      effects: ["destructive"],
      needs: ["packageName", "credentialName", "fieldType"],
      answer: CredentialWritten,
      run: ({ packageName, credentialName, fieldType: type }, { backend, within }) =>
        backend.credentials.deleteField({ packageName, credentialName, fieldType: type }, within),
    }),
  }),
);
