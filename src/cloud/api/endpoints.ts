import type { Endpoint } from "./endpoint.ts";
import { actions } from "./endpoints/actions.ts";
import { apps, store } from "./endpoints/apps.ts";
import { catalogs, profiles } from "./endpoints/catalogs.ts";
import { connect } from "./endpoints/connect.ts";
import { credentials } from "./endpoints/credentials.ts";
import { deviceApps } from "./endpoints/device-apps.ts";
import { deviceFiles } from "./endpoints/device-files.ts";
import { deviceSettings } from "./endpoints/device-settings.ts";
import { devices } from "./endpoints/devices.ts";
import { esim } from "./endpoints/esim.ts";
import { events } from "./endpoints/events.ts";
import { executions } from "./endpoints/executions.ts";
import { flows } from "./endpoints/flows.ts";
import { proxies } from "./endpoints/proxies.ts";
import { media, recordings } from "./endpoints/recordings.ts";
import { screen } from "./endpoints/screen.ts";
import { tasks } from "./endpoints/tasks.ts";
import { triggers } from "./endpoints/triggers.ts";
import { webhooks } from "./endpoints/webhooks.ts";

/** Every endpoint of the API that is used, by domain and operation: `endpoints.devices.list`. */
export const endpoints = {
  devices,
  screen,
  deviceApps,
  deviceFiles,
  deviceSettings,
  esim,
  recordings,
  media,
  tasks,
  actions,
  triggers,
  flows,
  executions,
  events,
  webhooks,
  credentials,
  apps,
  store,
  proxies,
  connect,
  catalogs,
  profiles,
} as const;

export const allEndpoints: readonly Endpoint[] = Object.values(endpoints).flatMap((domain) =>
  Object.values<Endpoint>(domain),
);
