import { z } from "zod";
import {
  done,
  flag,
  numberFields,
  page,
  PageMeta,
  stamps,
  text,
  textFields,
  texts,
  type Paging,
  type Within,
} from "./fields.ts";

export const AppVersion = z.object({
  id: z.string(),
  ...textFields("appId", "country", "versionName", "source", "status", "queuedAt"),
  ...numberFields("versionCode", "sizeBytes", "targetSdk"),
  ...stamps,
});
export const App = z.object({
  id: z.string(),
  ...textFields("bundleId", "displayName", "description", "developerName", "iconURL", "platform"),
  ...stamps,
});
export const AppPage = z.object({
  items: z.array(App.extend({ version: AppVersion.nullish() })).nullable(),
  pagination: PageMeta,
  count: z.object(numberFields("totalCount", "availableCount", "queuedCount", "failedCount")).nullish(),
});
/** The links are good for one upload and a short while. */
export const UploadUrls = z.object({
  appId: z.string(),
  versionId: z.string(),
  r2UploadUrls: z.array(z.object({ fileName: z.string(), r2UploadUrl: z.string() })).nullish(),
});
export const StorageUsage = z.object(numberFields("quotaBytes", "usedBytes", "availableBytes"));
export const StoreApp = App.extend({ category: text, featured: flag, screenshotUrls: texts });
export const StorePage = page(StoreApp);

export const APP_CONTENT_TYPES = [
  "application/vnd.android.package-archive",
  "application/octet-stream",
  "application/zip",
] as const;
export interface AppUpload {
  readonly bundleId: string;
  readonly displayName: string;
  readonly versionName: string;
  readonly versionCode: number;
  readonly sizeBytes: number;
  readonly files: {
    fileName: string;
    contentType: (typeof APP_CONTENT_TYPES)[number];
    sha256?: string | undefined;
  }[];
  readonly platform?: "android" | "ios" | undefined;
  readonly country?: string | undefined;
  readonly description?: string | undefined;
  readonly developerName?: string | undefined;
  readonly iconURL?: string | undefined;
  readonly targetSdk?: number | undefined;
}
export interface AppFilter extends Paging {
  readonly query?: string | undefined;
  readonly platform?: "all" | "android" | "ios" | undefined;
  readonly status?: "all" | "queued" | "available" | "failed" | undefined;
  readonly sortBy?: "createdAt" | "name" | undefined;
  readonly order?: "asc" | "desc" | undefined;
}
type Done = Promise<z.input<typeof done>>;

export interface AppsBackend {
  listApps(filter: AppFilter, within?: Within): Promise<z.input<typeof AppPage>>;
  getApp(id: string, within?: Within): Promise<{ data: z.input<typeof App> }>;
  listAppVersions(id: string, within?: Within): Promise<{ data: z.input<typeof AppVersion>[] | null }>;
  createAppUploadUrl(upload: AppUpload, within?: Within): Promise<z.input<typeof UploadUrls>>;
  confirmAppUpload(id: string, within?: Within): Done;
  markAppUploadFailed(id: string, within?: Within): Done;
  deleteApp(id: string, within?: Within): Done;
  getStorageUsage(within?: Within): Promise<{ data: z.input<typeof StorageUsage> }>;
  listStoreApps(
    filter: Paging & { query?: string | undefined; category?: string | undefined },
    within?: Within,
  ): Promise<z.input<typeof StorePage>>;
  getStoreApp(id: string, within?: Within): Promise<{ data: z.input<typeof StoreApp> }>;
  listStoreCategories(within?: Within): Promise<{ categories: string[] | null }>;
  addStoreApp(id: string, within?: Within): Done;
}
