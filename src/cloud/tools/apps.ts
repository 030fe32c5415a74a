import { z } from "zod";
import {
  APP_CONTENT_TYPES,
  App,
  AppPage,
  AppVersion,
  StorageUsage,
  StoreApp,
  StorePage,
  UploadUrls,
} from "../backend/apps.ts";
import { data, done } from "../backend/fields.ts";
import { bundle } from "./declare.ts";
import { id, page, pageSize, text } from "./inputs.ts";

const given = z.string().min(1);

export const apps = bundle(
  {
    name: "apps",
    title: "App library",
    description:
      "The apps uploaded to this workspace, and the platform's store. To upload: create_upload_url, PUT the bytes to the links yourself, then confirm_upload or mark_failed.",
    by: "operation",
    fields: {
      id: z.uuid(),
      storeAppId: id,
      query: text,
      category: text,
      platform: z.enum(["all", "android", "ios"]),
      status: z.enum(["all", "queued", "available", "failed"]),
      sortBy: z.enum(["createdAt", "name"]),
      order: z.enum(["asc", "desc"]),
      page,
      pageSize,
      bundleId: given,
      displayName: given,
      versionName: given,
      versionCode: z.int(),
      sizeBytes: z.int().positive(),
      files: z
        .array(
          z.strictObject({ fileName: given, contentType: z.enum(APP_CONTENT_TYPES), sha256: z.string().optional() }),
        )
        .min(1),
      uploadPlatform: z.enum(["android", "ios"]),
      country: text,
      description: text,
      developerName: text,
      iconURL: z.url(),
      targetSdk: z.int(),
    },
  },
  (operation) => ({
    list: operation({
      effects: ["read"],
      may: ["query", "platform", "status", "sortBy", "order", "page", "pageSize"],
      answer: AppPage,
      run: ({ query, platform, status, sortBy, order, page, pageSize }, { backend, within }) =>
        backend.apps.listApps({ query, platform, status, sortBy, order, page, pageSize }, within),
    }),
    get: operation({
      effects: ["read"],
      needs: ["id"],
      answer: data(App),
      run: ({ id: app }, { backend, within }) => backend.apps.getApp(app, within),
    }),
    versions: operation({
      effects: ["read"],
      needs: ["id"],
      answer: data(z.array(AppVersion).nullable()),
      run: ({ id: app }, { backend, within }) => backend.apps.listAppVersions(app, within),
    }),
    // A signed link is a right to write, given to the caller on purpose.
    create_upload_url: operation({
      effects: ["write"],
      needs: ["bundleId", "displayName", "versionCode", "versionName", "sizeBytes", "files"],
      may: ["uploadPlatform", "country", "description", "developerName", "iconURL", "targetSdk"],
      answer: UploadUrls,
      run(input, { backend, within }) {
        const { bundleId, displayName, versionCode, versionName, sizeBytes, files, uploadPlatform: platform } = input;
        const { country, description, developerName, iconURL, targetSdk } = input;
        const version = { bundleId, displayName, versionCode, versionName, sizeBytes, files, platform };
        const about = { country, description, developerName, iconURL, targetSdk };
        return backend.apps.createAppUploadUrl({ ...version, ...about }, within);
      },
    }),
    confirm_upload: operation({
      effects: ["write"],
      needs: ["id"],
      answer: done,
      run: ({ id: app }, { backend, within }) => backend.apps.confirmAppUpload(app, within),
    }),
    mark_failed: operation({
      effects: ["write"],
      needs: ["id"],
      answer: done,
      run: ({ id: app }, { backend, within }) => backend.apps.markAppUploadFailed(app, within),
    }),
    delete: operation({
      effects: ["destructive"],
      needs: ["id"],
      answer: done,
      run: ({ id: app }, { backend, within }) => backend.apps.deleteApp(app, within),
    }),
    storage_usage: operation({
      effects: ["read"],
      answer: data(StorageUsage),
      run: (_, { backend, within }) => backend.apps.getStorageUsage(within),
    }),
    store_list: operation({
      effects: ["read"],
      may: ["query", "category", "page", "pageSize"],
      answer: StorePage,
      run: ({ query, category, page, pageSize }, { backend, within }) =>
        backend.apps.listStoreApps({ query, category, page, pageSize }, within),
    }),
    store_get: operation({
      effects: ["read"],
      needs: ["storeAppId"],
      answer: data(StoreApp),
      run: ({ storeAppId }, { backend, within }) => backend.apps.getStoreApp(storeAppId, within),
    }),
    store_categories: operation({
      effects: ["read"],
      answer: z.object({ categories: z.array(z.string()).nullable() }),
      run: (_, { backend, within }) => backend.apps.listStoreCategories(within),
    }),
    store_add: operation({
      effects: ["write"],
      needs: ["storeAppId"],
      answer: done,
      run: ({ storeAppId }, { backend, within }) => backend.apps.addStoreApp(storeAppId, within),
    }),
  }),
);
