import { z } from "zod";
import { domain, get, json, post, remove } from "../endpoint.ts";
import {
  Pagination,
  data,
  flag,
  given,
  list,
  numberFields,
  optionalText,
  page,
  paging,
  provenance,
  stamps,
  textFields,
  texts,
} from "../shapes.ts";

export const AppVersion = z.object({
  id: z.string(),
  ...textFields("appId", "country", "versionName", "source", "status", "queuedAt"),
  ...numberFields("versionCode", "sizeBytes", "targetSdk"),
  ...provenance,
  ...stamps,
});
export const App = z.object({
  id: z.string(),
  ...textFields("bundleId", "displayName", "description", "developerName", "iconURL", "platform"),
  ...stamps,
});
export type App = z.infer<typeof App>;

const done = json(z.object({ success: flag, message: z.string().nullish() }));

const SignedUpload = z.strictObject({
  bundleId: given,
  displayName: given,
  versionName: given,
  versionCode: z.int(),
  /** Older servers ask for it, newer ones take no notice. */
  sizeBytes: z.int().positive().optional(),
  files: z
    .array(
      z.strictObject({
        fileName: given,
        contentType: z.enum(["application/vnd.android.package-archive", "application/octet-stream", "application/zip"]),
        sha256: optionalText,
      }),
    )
    .min(1),
  platform: z.enum(["android", "ios"]).optional(),
  country: optionalText,
  description: optionalText,
  developerName: optionalText,
  iconURL: z.url().optional(),
  targetSdk: z.int().optional(),
});

/** Apps that were uploaded to the workspace. */
export const apps = domain("apps", {
  list: get("/apps", {
    query: z.strictObject({
      query: optionalText,
      platform: z.enum(["all", "android", "ios"]).optional(),
      status: z.enum(["all", "queued", "available", "failed"]).optional(),
      sortBy: z.enum(["createdAt", "name"]).optional(),
      order: z.enum(["asc", "desc"]).optional(),
      ...paging,
    }),
    answer: json(
      z.object({
        items: list(App.extend({ version: AppVersion.nullish() })),
        pagination: Pagination,
        count: z.object(numberFields("totalCount", "availableCount", "queuedCount", "failedCount")).nullish(),
      }),
    ),
  }),
  get: get("/apps/{appId}", { answer: json(data(App)) }),
  versions: get("/apps/{appId}/versions", { answer: json(data(list(AppVersion))) }),
  /** The bytes are then put to the signed URLs, and the upload confirmed or marked as failed. */
  createUploadUrl: post("/apps/create-signed-upload-url", {
    body: json(SignedUpload),
    answer: json(
      z.object({
        appId: z.string(),
        versionId: z.string(),
        r2UploadUrls: list(z.object({ fileName: z.string(), r2UploadUrl: z.string() })),
      }),
    ),
  }),
  confirmUpload: post("/apps/{appId}/confirm-upload", { answer: done }),
  markFailed: post("/apps/{appId}/mark-failed", { answer: done }),
  remove: remove("/apps/{appId}", { answer: done }),
  storageUsage: get("/apps/storage-usage", {
    answer: json(data(z.object(numberFields("quotaBytes", "usedBytes", "availableBytes")))),
  }),
});

const Listing = App.extend({ category: z.string().nullish(), featured: flag, screenshotUrls: texts });

/** Apps that the platform offers. */
export const store = domain("store", {
  list: get("/store/apps", {
    query: z.strictObject({ query: optionalText, category: optionalText, ...paging }),
    answer: json(page(Listing)),
  }),
  get: get("/store/apps/{appId}", { answer: json(data(Listing)) }),
  categories: get("/store/categories", { answer: json(z.object({ categories: list(z.string()) })) }),
  add: post("/store/apps/{appId}/add", { answer: done }),
});
