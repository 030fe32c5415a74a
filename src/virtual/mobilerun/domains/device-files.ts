import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import type { Devices } from "../device.ts";
import { bytes, type Handlers } from "../handler.ts";

export function deviceFileHandlers(account: Account, devices: Devices): Handlers<typeof endpoints.deviceFiles> {
  const filesOf = (path: { readonly deviceId: string }) => devices.ready(path.deviceId).files;
  return {
    list({ path, query }) {
      const files = filesOf(path).list(query.path);
      const some = files.length === 0 ? null : files;
      return {
        $schema: "https://virtual.test/schemas/FileList.json",
        path: query.path,
        total: files.length,
        files: some,
      };
    },
    upload: ({ path, query, body }) => filesOf(path).put(query.path, body.name, body.bytes, account.now()),
    download: ({ path, query }) => bytes("application/octet-stream", filesOf(path).get(query.path)),
    remove: ({ path, query }) => filesOf(path).remove(query.path),
  };
}
