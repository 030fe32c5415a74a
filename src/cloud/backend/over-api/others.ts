import { endpoints } from "../../api/index.ts";
import type { AppsBackend } from "../apps.ts";
import type { ConnectBackend } from "../connect.ts";
import type { CredentialsBackend } from "../credentials.ts";
import { hasCode } from "../errors.ts";
import { pageOf } from "./page-of.ts";
import type { Within } from "../fields.ts";
import type { PlatformCatalogBackend } from "../platform-catalog.ts";
import type { ProxiesBackend } from "../proxies.ts";
import type { TasksBackend } from "../tasks.ts";
import type { WebhooksBackend } from "../webhooks.ts";
import type { Call } from "./calls.ts";

const { webhooks, credentials, tasks, devices, apps, store, proxies, connect, catalogs } = endpoints;

export function webhooksOverApi(call: Call): WebhooksBackend {
  return {
    createWebhook: (body, within) => call(webhooks.create, { body, ...within }),
    listWebhooks: (query, within) => call(webhooks.list, { query, ...within }),
    getWebhook: (endpointId, within) => call(webhooks.get, { path: { endpointId }, ...within }),
    updateWebhook: (endpointId, body, within) => call(webhooks.update, { path: { endpointId }, body, ...within }),
    deleteWebhook: (endpointId, within) => call(webhooks.remove, { path: { endpointId }, ...within }),
    rotateWebhookSecret: (endpointId, within) => call(webhooks.rotateSecret, { path: { endpointId }, ...within }),
    testWebhook: (endpointId, within) => call(webhooks.test, { path: { endpointId }, ...within }),
    listWebhookDeliveries: (endpointId, query, within) =>
      call(webhooks.deliveries, { path: { endpointId }, query, ...within }),
    getWebhookDelivery: (endpointId, deliveryId, within) =>
      call(webhooks.delivery, { path: { endpointId, deliveryId }, ...within }),
    getWebhookDeliveryStats: (query, within) => call(webhooks.deliveryStats, { query, ...within }),
    listWebhookEventTypes: (within) => call(webhooks.eventTypes, { ...within }),
  };
}

export function credentialsOverApi(call: Call): CredentialsBackend {
  return {
    async listCredentials({ packageName, ...query }, within) {
      if (packageName === undefined) return call(credentials.list, { query, ...within });
      // The credentials of one package come all at once, and are paged here.
      return pageOf((await call(credentials.ofPackage, { path: { packageName }, ...within })).data, query);
    },
    listCredentialPackages: (within) => packages(call, within),
    initPackage: (packageName, within) => call(credentials.createPackage, { body: { packageName }, ...within }),
    createCredential: ({ packageName, ...body }, within) =>
      call(credentials.create, { path: { packageName }, body, ...within }),
    deleteCredential: ({ packageName, credentialName }, within) =>
      call(credentials.remove, { path: { packageName, credentialName }, ...within }),
    addField: ({ packageName, credentialName, ...body }, within) =>
      call(credentials.addField, { path: { packageName, credentialName }, body, ...within }),
    updateField: ({ packageName, credentialName, fieldType, value }, within) =>
      call(credentials.updateField, { path: { packageName, credentialName, fieldType }, body: { value }, ...within }),
    deleteField: (path, within) => call(credentials.removeField, { path, ...within }),
  };
}

const MAX_PAGES = 20;

/** Older servers have no list of packages: it is gathered from the credentials, at most 2,000 of them. */
async function packages(call: Call, within: Within | undefined) {
  try {
    return { items: (await call(credentials.packages, { ...within })).data };
  } catch (thrown) {
    if (!hasCode(thrown, "not_found")) throw thrown;
  }
  const names = new Set<string>();
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const { items, pagination } = await call(credentials.list, { query: { page, pageSize: 100 }, ...within });
    for (const { packageName } of items ?? []) if (packageName) names.add(packageName);
    if (!pagination.hasNext) break;
  }
  return { items: [...names].map((packageName) => ({ packageName })) };
}

export function tasksOverApi(call: Call): TasksBackend {
  return {
    runTask: (body, within) => call(tasks.run, { body, ...within }),
    getTaskSummary: async (taskId, within) => (await call(tasks.get, { path: { taskId }, ...within })).task,
    getTaskStatus: (taskId, within) => call(tasks.status, { path: { taskId }, ...within }),
    getTaskTrajectory: async (taskId, within) => ({
      events: (await call(tasks.trajectory, { path: { taskId }, ...within })).trajectory ?? [],
    }),
    listTasks: (query, within) => call(tasks.list, { query, ...within }),
    listDeviceTasks: ({ deviceId, ...query }, within) => call(devices.tasks, { path: { deviceId }, query, ...within }),
    stopTask: (taskId, within) => call(tasks.cancel, { path: { taskId }, ...within }),
    sendTaskMessage: (taskId, message, within) =>
      call(tasks.message, { path: { taskId }, body: { message }, ...within }),
    listTaskMedia: (kind, taskId, within) =>
      call(kind === "screenshot" ? tasks.screenshots : tasks.uiStates, { path: { taskId }, ...within }),
    getTaskMedia: (kind, taskId, index, within) =>
      call(kind === "screenshot" ? tasks.screenshot : tasks.uiState, {
        path: { taskId, index: String(index) },
        ...within,
      }),
  };
}

export function appsOverApi(call: Call): AppsBackend {
  return {
    listApps: (query, within) => call(apps.list, { query, ...within }),
    getApp: (appId, within) => call(apps.get, { path: { appId }, ...within }),
    listAppVersions: (appId, within) => call(apps.versions, { path: { appId }, ...within }),
    createAppUploadUrl: (body, within) => call(apps.createUploadUrl, { body, ...within }),
    confirmAppUpload: (appId, within) => call(apps.confirmUpload, { path: { appId }, ...within }),
    markAppUploadFailed: (appId, within) => call(apps.markFailed, { path: { appId }, ...within }),
    deleteApp: (appId, within) => call(apps.remove, { path: { appId }, ...within }),
    getStorageUsage: (within) => call(apps.storageUsage, { ...within }),
    listStoreApps: (query, within) => call(store.list, { query, ...within }),
    getStoreApp: (appId, within) => call(store.get, { path: { appId }, ...within }),
    listStoreCategories: (within) => call(store.categories, { ...within }),
    addStoreApp: (appId, within) => call(store.add, { path: { appId }, ...within }),
  };
}

export function proxiesOverApi(call: Call): ProxiesBackend {
  return {
    listProxies: (query, within) => call(proxies.list, { query, ...within }),
    getProxy: (proxyId, within) => call(proxies.get, { path: { proxyId }, ...within }),
    createProxy: (body, within) => call(proxies.create, { body, ...within }),
    updateProxy: (proxyId, body, within) => call(proxies.update, { path: { proxyId }, body, ...within }),
    deleteProxy: (proxyId, within) => call(proxies.remove, { path: { proxyId }, ...within }),
    lookupProxy: (socks5, within) => call(proxies.lookup, { body: { socks5 }, ...within }),
  };
}

export function connectOverApi(call: Call): ConnectBackend {
  return {
    listCountries: (query, within) => call(connect.countries, { query, ...within }),
    listConnectProxies: (query, within) => call(connect.list, { query, ...within }),
    getConnectProxy: (proxyId, within) => call(connect.get, { path: { proxyId }, ...within }),
    buyConnectProxy: (body, within) => call(connect.buy, { body, ...within }),
    cancelConnectProxy: (proxyId, within) => call(connect.cancel, { path: { proxyId }, ...within }),
    pingConnectProxy: (proxyId, within) => call(connect.ping, { path: { proxyId }, ...within }),
    listConnectProxyConnections: (proxyId, query, within) =>
      call(connect.connections, { path: { proxyId }, query, ...within }),
    listConnectUsers: (query, within) => call(connect.users, { query, ...within }),
    getConnectUser: (userId, within) => call(connect.user, { path: { userId }, ...within }),
    listConnectUserConnections: (userId, query, within) =>
      call(connect.userConnections, { path: { userId }, query, ...within }),
  };
}

export function platformCatalogOverApi(call: Call): PlatformCatalogBackend {
  return {
    listModels: (within) => call(catalogs.models, { ...within }),
    listTimezones: (within) => call(catalogs.timezones, { ...within }),
  };
}
