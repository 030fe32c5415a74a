import type { AppsBackend } from "./apps.ts";
import type { ConnectBackend } from "./connect.ts";
import type { CredentialsBackend } from "./credentials.ts";
import type { DeviceControlBackend } from "./device-control.ts";
import type { DevicesBackend } from "./devices.ts";
import type { PlatformCatalogBackend } from "./platform-catalog.ts";
import type { ProxiesBackend } from "./proxies.ts";
import type { TasksBackend } from "./tasks.ts";
import type { WebhooksBackend } from "./webhooks.ts";
import type { WorkflowsBackend } from "./workflows.ts";

/** What the tools stand on: ten ports, one a domain. All fail with `BackendError` alone. */
export interface Backend {
  readonly devices: DevicesBackend;
  readonly workflows: WorkflowsBackend;
  readonly webhooks: WebhooksBackend;
  readonly credentials: CredentialsBackend;
  readonly tasks: TasksBackend;
  readonly deviceControl: DeviceControlBackend;
  readonly apps: AppsBackend;
  readonly proxies: ProxiesBackend;
  readonly connect: ConnectBackend;
  readonly platformCatalog: PlatformCatalogBackend;
}

export { BackendError } from "./errors.ts";
export type { BackendCode } from "./errors.ts";
export type * from "./apps.ts";
export type * from "./connect.ts";
export type * from "./credentials.ts";
export type * from "./device-control.ts";
export type * from "./devices.ts";
export type * from "./fields.ts";
export type * from "./platform-catalog.ts";
export type * from "./proxies.ts";
export type * from "./tasks.ts";
export type * from "./webhooks.ts";
export type * from "./workflows.ts";
