import { z } from "zod";
import { binary, domain, empty, get, json, post, remove, upload } from "../endpoint.ts";
import { flag, flagFields, given, list, number, text, textFields } from "../shapes.ts";

const headers = ["displayId"] as const;
const query = z.strictObject({ path: given });
const access = z.object(flagFields("read", "write", "execute")).nullish();

export const FileInfo = z.object({
  name: z.string(),
  /** file, directory or symlink. */
  type: text,
  size: number,
  ...textFields("modifiedAt", "owner", "group", "symlinkTarget"),
  hardLinks: number,
  extendedAttributes: flag,
  permissions: z
    .object({
      owner: access,
      group: access,
      others: access,
      special: z.object(flagFields("setUid", "setGid", "sticky")).nullish(),
    })
    .nullish(),
});
export type FileInfo = z.infer<typeof FileInfo>;

export const deviceFiles = domain("deviceFiles", {
  list: get("/devices/{deviceId}/files", {
    query,
    headers,
    answer: json(z.object({ path: text, total: number, files: list(FileInfo).optional() })),
  }),
  /** `path` is the folder; the file lands in it under its own name. */
  upload: post("/devices/{deviceId}/files", { query, body: upload, headers, answer: empty }),
  download: get("/devices/{deviceId}/files/download", { query, headers, answer: binary() }),
  remove: remove("/devices/{deviceId}/files", { query, headers, answer: empty }),
});
