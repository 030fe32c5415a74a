import type { endpoints } from "../../cloud/index.ts";
import { createAccount, type AccountOptions } from "./account.ts";
import { createDevices } from "./device.ts";
import { actionHandlers } from "./domains/actions.ts";
import { appHandlers, createLibrary, storeHandlers } from "./domains/apps.ts";
import { catalogHandlers, profileHandlers } from "./domains/catalogs.ts";
import { connectHandlers } from "./domains/connect.ts";
import { credentialHandlers } from "./domains/credentials.ts";
import { deviceAppHandlers } from "./domains/device-apps.ts";
import { deviceFileHandlers } from "./domains/device-files.ts";
import { deviceSettingHandlers } from "./domains/device-settings.ts";
import { deviceHandlers } from "./domains/devices.ts";
import { esimHandlers } from "./domains/esim.ts";
import { eventHandlers } from "./domains/events.ts";
import { executionHandlers } from "./domains/executions.ts";
import { flowHandlers } from "./domains/flows.ts";
import { proxyHandlers } from "./domains/proxies.ts";
import { mediaHandlers, recordingHandlers } from "./domains/recordings.ts";
import { screenHandlers } from "./domains/screen.ts";
import { taskHandlers } from "./domains/tasks.ts";
import { triggerHandlers } from "./domains/triggers.ts";
import { webhookHandlers } from "./domains/webhooks.ts";
import type { Handlers, Received } from "./handler.ts";
import { createRecordings } from "./recordings.ts";
import { createTasks } from "./task.ts";
import { createWorkflows } from "./workflow.ts";

type Domains = { readonly [D in keyof typeof endpoints]: Handlers<(typeof endpoints)[D]> };

export type Handle = (call: Received) => unknown;

/** Everything that one key sees, as one handler for each endpoint by its name. */
export function accountHandlers(key: string, options: AccountOptions): ReadonlyMap<string, Handle> {
  const account = createAccount(key, options);
  const devices = createDevices(account);
  const tasks = createTasks(account, devices);
  const workflows = createWorkflows(account, devices, tasks);
  const recordings = createRecordings(account, devices);
  const library = createLibrary();
  const domains: Domains = {
    devices: deviceHandlers(account, devices, tasks),
    screen: screenHandlers(account, devices),
    deviceApps: deviceAppHandlers(account, devices),
    deviceFiles: deviceFileHandlers(account, devices),
    deviceSettings: deviceSettingHandlers(devices),
    esim: esimHandlers(devices),
    recordings: recordingHandlers(devices, recordings),
    media: mediaHandlers(account, devices),
    tasks: taskHandlers(account, tasks),
    actions: actionHandlers(account, workflows),
    triggers: triggerHandlers(account, workflows),
    flows: flowHandlers(account, workflows),
    executions: executionHandlers(account, workflows),
    events: eventHandlers(account, workflows),
    webhooks: webhookHandlers(account),
    credentials: credentialHandlers(account),
    apps: appHandlers(account, library),
    store: storeHandlers(account, library),
    proxies: proxyHandlers(account),
    connect: connectHandlers(account),
    catalogs: catalogHandlers(),
    profiles: profileHandlers(account),
  };
  const recorded =
    (name: string, handle: Handle): Handle =>
    async (call) => {
      const answer = await handle(call);
      recordings.called(name, call);
      return answer;
    };
  // The types of the two sides are the same table's; a map by name can't say so.
  const flat = Object.entries(domains).flatMap(([domain, handlers]) =>
    Object.entries(handlers).map(([operation, handle]) => {
      const name = `${domain}.${operation}`;
      return [name, recorded(name, handle as Handle)] as const;
    }),
  );
  return new Map(flat);
}
