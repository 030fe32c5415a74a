/** over-api: the backend of the tools on the Mobilerun API. It trims nothing itself: the API's schemas and the tools' answers do. */
import type { CloudApi } from "../../api/index.ts";
import type { Backend } from "../index.ts";
import { backendCalls } from "./calls.ts";
import { deviceControlOverApi } from "./device-control.ts";
import { devicesOverApi } from "./devices.ts";
import {
  appsOverApi,
  connectOverApi,
  credentialsOverApi,
  platformCatalogOverApi,
  proxiesOverApi,
  tasksOverApi,
  webhooksOverApi,
} from "./others.ts";
import { workflowsOverApi } from "./workflows.ts";

/** Fails with `BackendError`. Made for each credential; it holds nothing but the API that it is given. */
export function backendOverApi(api: CloudApi): Backend {
  const call = backendCalls(api);
  return {
    devices: devicesOverApi(call),
    workflows: workflowsOverApi(call),
    webhooks: webhooksOverApi(call),
    credentials: credentialsOverApi(call),
    tasks: tasksOverApi(call),
    deviceControl: deviceControlOverApi(call),
    apps: appsOverApi(call),
    proxies: proxiesOverApi(call),
    connect: connectOverApi(call),
    platformCatalog: platformCatalogOverApi(call),
  };
}
