import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import type { Handlers } from "../handler.ts";
import { contains, paged, sorted } from "../paging.ts";
import { Problem, notFound } from "../problem.ts";
import { without } from "../without.ts";

const QUOTA_BYTES = 10 * 1024 ** 3;

interface App {
  readonly id: string;
  readonly bundleId: string;
  readonly displayName: string;
  readonly description: string | null;
  readonly developerName: string | null;
  readonly iconURL: string;
  readonly platform: string;
  readonly createdAt: string;
  readonly versions: Version[];
}
interface Version {
  readonly id: string;
  readonly country: string;
  readonly versionCode: number;
  readonly versionName: string;
  readonly sizeBytes: number | null;
  readonly targetSdk: number | null;
  readonly source: string;
  status: "queued" | "available" | "failed";
  readonly createdAt: string;
  updatedAt: string | null;
}

/** The workspace's apps; the store puts its own into it. */
export interface Library {
  readonly apps: Map<string, App>;
}

export function createLibrary(): Library {
  return { apps: new Map() };
}

export function appHandlers(account: Account, library: Library): Handlers<typeof endpoints.apps> {
  const { apps } = library;
  const find = (id: string) => {
    const app = apps.get(id);
    if (app === undefined) throw notFound("App", id);
    return app;
  };
  const shown = (app: App) => ({ ...without(app, "versions"), updatedAt: null });
  const version = (app: App, one: Version) => ({ appId: app.id, queuedAt: one.createdAt, ...account.owner, ...one });
  const settle = (id: string, status: "available" | "failed", message: string) => {
    const queued = find(id).versions.findLast((one) => one.status === "queued");
    if (queued === undefined) throw new Problem(409, `App ${id} has no upload that is waited for`);
    queued.status = status;
    queued.updatedAt = account.now();
    return { success: true, message };
  };
  const count = (status?: Version["status"]) =>
    [...apps.values()].filter(({ versions }) => status === undefined || versions.at(-1)?.status === status).length;

  return {
    list({ query }) {
      const found = [...apps.values()].filter(
        (app) =>
          (contains(app.displayName, query.query) || contains(app.bundleId, query.query)) &&
          isWanted(query.platform, app.platform) &&
          isWanted(query.status, app.versions.at(-1)?.status ?? ""),
      );
      const by = query.sortBy === "name" ? "displayName" : query.sortBy;
      const page = paged(sorted(found, by, query.order), query);
      const items = page.items.map((app) => {
        const newest = app.versions.at(-1);
        return { ...shown(app), version: newest === undefined ? null : version(app, newest) };
      });
      const counts = { availableCount: count("available"), queuedCount: count("queued"), failedCount: count("failed") };
      return { ...page, items, count: { totalCount: count(), ...counts } };
    },
    get: ({ path }) => ({ data: shown(find(path.appId)) }),
    versions({ path }) {
      const app = find(path.appId);
      return { data: app.versions.map((one) => version(app, one)) };
    },
    createUploadUrl({ body }) {
      if (!/^[A-Za-z][\w-]*(\.[\w-]+)+$/.test(body.bundleId))
        throw new Problem(400, "bundleId is not of the form com.example.app");
      const platform = body.platform ?? "android";
      const known = [...apps.values()].find((app) => app.bundleId === body.bundleId && app.platform === platform);
      const app: App = known ?? {
        id: account.mintUuid(),
        bundleId: body.bundleId,
        displayName: body.displayName,
        description: body.description ?? null,
        developerName: body.developerName ?? null,
        iconURL: body.iconURL ?? "https://cdn.virtual.test/icon.png",
        platform,
        createdAt: account.now(),
        versions: [],
      };
      apps.set(app.id, app);
      const made: Version = {
        id: account.mint("ver"),
        country: body.country ?? "US",
        versionCode: body.versionCode,
        versionName: body.versionName,
        sizeBytes: body.sizeBytes ?? null,
        targetSdk: body.targetSdk ?? null,
        source: "user",
        status: "queued",
        createdAt: account.now(),
        updatedAt: null,
      };
      app.versions.push(made);
      const r2UploadUrls = body.files.map(({ fileName }, at) => ({
        fileName,
        r2UploadUrl: `https://upload.virtual.test/${made.id}/${at}?sig=virtual`,
      }));
      return { appId: app.id, versionId: made.id, r2UploadUrls };
    },
    confirmUpload: ({ path }) => settle(path.appId, "available", "Upload confirmed"),
    markFailed: ({ path }) => settle(path.appId, "failed", "Upload marked as failed"),
    remove({ path }) {
      apps.delete(find(path.appId).id);
      return { success: true, message: "App deleted" };
    },
    storageUsage() {
      const versions = [...apps.values()].flatMap((app) => app.versions);
      const usedBytes = versions.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0);
      return { data: { quotaBytes: QUOTA_BYTES, usedBytes, availableBytes: QUOTA_BYTES - usedBytes } };
    },
  };
}

function isWanted(wanted: string | undefined, value: string): boolean {
  return wanted === undefined || wanted === "all" || wanted === value;
}

const LISTINGS = [
  { id: "store-notes", bundleId: "com.example.notes", displayName: "Notes", category: "Productivity", featured: true },
  { id: "store-chess", bundleId: "com.example.chess", displayName: "Chess", category: "Games", featured: false },
].map((listing) => ({
  ...listing,
  description: null,
  developerName: "Example GmbH",
  iconURL: `https://cdn.virtual.test/${listing.id}.png`,
  platform: "android",
  screenshotUrls: [],
  createdAt: "2026-01-10T00:00:00Z",
  updatedAt: null,
}));

export function storeHandlers(account: Account, library: Library): Handlers<typeof endpoints.store> {
  const find = (id: string) => {
    const listing = LISTINGS.find((other) => other.id === id);
    if (listing === undefined) throw notFound("App", id);
    return listing;
  };
  return {
    list({ query }) {
      const found = LISTINGS.filter(
        ({ displayName, category }) =>
          contains(displayName, query.query) && (query.category === undefined || category === query.category),
      );
      return paged(found, query);
    },
    get: ({ path }) => ({ data: find(path.appId) }),
    categories: () => ({ categories: [...new Set(LISTINGS.map(({ category }) => category))] }),
    add({ path }) {
      const { bundleId, displayName, developerName, iconURL, platform } = find(path.appId);
      if ([...library.apps.values()].some((app) => app.bundleId === bundleId))
        throw new Problem(409, `${displayName} is there already`);
      const createdAt = account.now();
      const id = account.mintUuid();
      library.apps.set(id, {
        ...{ id, bundleId, displayName, description: null, developerName, iconURL, platform, createdAt },
        versions: [
          {
            id: account.mint("ver"),
            country: "US",
            versionCode: 1,
            versionName: "1.0",
            sizeBytes: 1_048_576,
            targetSdk: 34,
            source: "store",
            status: "available",
            createdAt,
            updatedAt: null,
          },
        ],
      });
      return { success: true, message: `${displayName} was added` };
    },
  };
}
