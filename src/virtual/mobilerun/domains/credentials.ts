import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import type { Handlers } from "../handler.ts";
import { paged } from "../paging.ts";
import { Problem, notFound } from "../problem.ts";

interface Credential {
  readonly packageName: string;
  readonly credentialName: string;
  readonly fields: Map<string, string>;
}

export function credentialHandlers(account: Account): Handlers<typeof endpoints.credentials> {
  const packages = new Map<string, Map<string, Credential>>();
  const packageOf = (name: string) => {
    const found = packages.get(name);
    if (found === undefined) throw notFound("Package", name);
    return found;
  };
  const find = (path: { readonly packageName: string; readonly credentialName: string }) => {
    const found = packageOf(path.packageName).get(path.credentialName);
    if (found === undefined) throw notFound("Credential", path.credentialName);
    return found;
  };
  const fieldOf = (credential: Credential, type: string) => {
    if (!credential.fields.has(type)) throw notFound("Field", type);
    return type;
  };
  const shown = ({ packageName, credentialName, fields }: Credential) => ({
    packageName,
    credentialName,
    secretPath: `/${account.owner.ownerId}/${packageName}/${credentialName}`,
    ...account.owner,
    fields: [...fields].map(([fieldType, value]) => ({
      fieldType,
      value: account.plaintextCredentials ? value : "********",
    })),
  });
  const written = (credential: Credential) => ({ success: true, message: "ok", data: shown(credential) });

  return {
    list({ query }) {
      const all = [...packages.values()].flatMap((inside) => [...inside.values()]);
      return paged(all.map(shown), query);
    },
    packages: () => ({ data: [...packages.keys()].map((packageName) => ({ packageName })) }),
    createPackage({ body }) {
      if (packages.has(body.packageName)) throw new Problem(409, `Package ${body.packageName} is there already`);
      packages.set(body.packageName, new Map());
      return { data: { packageName: body.packageName }, message: "created", success: true };
    },
    ofPackage: ({ path }) => ({ data: [...packageOf(path.packageName).values()].map(shown) }),
    create({ path, body }) {
      const inside = packageOf(path.packageName);
      if (inside.has(body.credentialName)) throw new Problem(409, `Credential ${body.credentialName} is there already`);
      const fields = new Map(body.fields.map(({ fieldType, value }) => [fieldType as string, value] as const));
      if (fields.size < body.fields.length) throw new Problem(409, "A field is there twice");
      const credential = { packageName: path.packageName, credentialName: body.credentialName, fields };
      inside.set(body.credentialName, credential);
      return written(credential);
    },
    get: ({ path }) => ({ data: shown(find(path)) }),
    remove({ path }) {
      const credential = find(path);
      packageOf(path.packageName).delete(path.credentialName);
      return written(credential);
    },
    addField({ path, body }) {
      const credential = find(path);
      if (credential.fields.has(body.fieldType)) throw new Problem(409, `Field ${body.fieldType} is there already`);
      credential.fields.set(body.fieldType, body.value);
      return written(credential);
    },
    updateField({ path, body }) {
      const credential = find(path);
      credential.fields.set(fieldOf(credential, path.fieldType), body.value);
      return written(credential);
    },
    removeField({ path }) {
      const credential = find(path);
      credential.fields.delete(fieldOf(credential, path.fieldType));
      return written(credential);
    },
  };
}
