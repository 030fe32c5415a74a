import { z } from "zod";
import { FileInfo } from "../backend/device-control.ts";
import { sliceFields, sliceOf, sliced } from "./bounds.ts";
import { bundle } from "./declare.ts";
import { deviceId, text } from "./inputs.ts";

const MAX_UPLOAD = 256 * 1024;
const MAX_BASE64 = Math.ceil((MAX_UPLOAD * 4) / 3) + 2;
const DEFAULT_PART = 24 * 1024;
const MAX_PART = 32 * 1024;

const path = z.string().min(1).max(4096);
const answered = z.object({ status: z.string(), deviceId: z.string(), path: z.string() });

export const manageDeviceFiles = bundle(
  {
    name: "manage_device_files",
    title: "Manage a device's files",
    description:
      "List, upload, download and delete files on a device. upload takes a folder as path and the name as fileName. download gives a part at a time, as text or else as base64.",
    by: "operation",
    fields: {
      deviceId,
      path,
      contentBase64: z.base64().max(MAX_BASE64).describe(`The content, up to ${MAX_UPLOAD} bytes.`),
      fileName: z
        .string()
        .min(1)
        .max(255)
        .regex(/^[^/\\]+$/)
        .describe("The file's name in the folder. The last part of path when left out."),
      contentType: text,
      ...sliceFields,
      offset: z.int().min(0).describe("Entries to skip; for download bytes. nextOffset of the answer before."),
      limit: z.int().min(1).max(MAX_PART).describe(`Entries, up to 200; for download bytes, up to ${MAX_PART}.`),
    },
  },
  (operation) => ({
    list: operation({
      effects: ["read"],
      needs: ["deviceId", "path"],
      may: ["offset", "limit"],
      answer: sliced(FileInfo)
        .omit({ items: true })
        .extend({ files: z.array(FileInfo), path: z.string() }),
      async run({ deviceId: device, path: folder, offset, limit = 100 }, { backend, within }) {
        const listing = await backend.deviceControl.listFiles(device, folder, within);
        const { items: files, ...rest } = sliceOf(listing.files, { offset, limit: Math.min(200, limit) });
        return { ...rest, files, path: listing.path ?? folder };
      },
    }),
    upload: operation({
      effects: ["write"],
      needs: ["deviceId", "path", "contentBase64"],
      may: ["fileName", "contentType"],
      check: ({ path: where, fileName, contentBase64 }) => {
        if (Buffer.byteLength(contentBase64, "base64") > MAX_UPLOAD) return `the file is over ${MAX_UPLOAD} bytes`;
        if (fileName === "." || fileName === "..") return "fileName is not a file's name";
        return fileName === undefined && lastPart(where) === ""
          ? "fileName is missing: path names a folder"
          : undefined;
      },
      answer: answered,
      async run({ deviceId: device, path: where, contentBase64, fileName, contentType }, { backend, within }) {
        const target = targetOf(where, fileName);
        const bytes = Buffer.from(contentBase64, "base64");
        await backend.deviceControl.uploadFile(
          device,
          { path: target.folder, fileName: target.name, bytes, contentType },
          within,
        );
        return { status: "uploaded", deviceId: device, path: `${target.folder.replace(/\/$/, "")}/${target.name}` };
      },
    }),
    // A file can hold anything: keys, cookies, messages.
    download: operation({
      effects: ["read"],
      reveals: true,
      needs: ["deviceId", "path"],
      may: ["offset", "limit"],
      answer: z.object({
        path: z.string(),
        encoding: z.enum(["utf8", "base64"]),
        content: z.string(),
        size: z.int().describe("Of the whole file, in bytes."),
        offset: z.int(),
        hasMore: z.boolean(),
        nextOffset: z.int().optional(),
      }),
      async run({ deviceId: device, path: file, offset = 0, limit = DEFAULT_PART }, { backend, within }) {
        const { bytes } = await backend.deviceControl.downloadFile(device, file, within);
        return partOf(file, bytes, offset, limit);
      },
    }),
    delete: operation({
      effects: ["destructive"],
      needs: ["deviceId", "path"],
      answer: answered,
      async run({ deviceId: device, path: file }, { backend, within }) {
        await backend.deviceControl.deleteFile(device, file, within);
        return { status: "deleted", deviceId: device, path: file };
      },
    }),
  }),
);

const lastPart = (where: string): string => where.slice(where.lastIndexOf("/") + 1);

/** Without a name, the path is the file's own: its last part is the name. */
function targetOf(where: string, fileName: string | undefined): { folder: string; name: string } {
  if (fileName !== undefined) return { folder: where, name: fileName };
  const name = lastPart(where);
  return { folder: where.slice(0, where.length - name.length).replace(/(?<=.)\/$/, "") || "/", name };
}

function partOf(path: string, bytes: Uint8Array, offset: number, limit: number) {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = isText(buffer);
  const end = whole ? endOfCharacter(buffer, offset, offset + limit) : Math.min(buffer.length, offset + limit);
  const part = buffer.subarray(Math.min(offset, buffer.length), end);
  const encoding = whole ? ("utf8" as const) : ("base64" as const);
  const hasMore = end < buffer.length;
  return {
    path,
    encoding,
    content: part.toString(encoding),
    size: buffer.length,
    offset,
    hasMore,
    ...(hasMore ? { nextOffset: end } : {}),
  };
}

/** A character is not torn apart: the bytes that continue one stay with it. One that is longer than the part is taken whole. */
function endOfCharacter(buffer: Buffer, start: number, wanted: number): number {
  const continues = (at: number) => at < buffer.length && ((buffer[at] ?? 0) & 0xc0) === 0x80;
  let end = Math.min(buffer.length, wanted);
  while (end > start && continues(end)) end -= 1;
  if (end > start || wanted >= buffer.length) return end;
  end = wanted;
  while (continues(end)) end += 1;
  return end;
}

function isText(buffer: Buffer): boolean {
  try {
    return !new TextDecoder("utf-8", { fatal: true }).decode(buffer).includes("\0");
  } catch {
    return false;
  }
}
