/** tools: the 34 tools of the toolset `cloud`, made once for a process and bound to a backend for each caller. */
import type { Tool, ToolCall } from "../../tool/index.ts";
import { apps } from "./apps.ts";
import { configureDevice } from "./configure-device.ts";
import { connect } from "./connect.ts";
import { listCredentialPackages, listCredentials, manageCredentials } from "./credentials.ts";
import type { CloudTool } from "./declare.ts";
import { deviceAction } from "./device-action.ts";
import { manageDeviceApps } from "./device-apps.ts";
import { manageDeviceFiles } from "./device-files.ts";
import { deviceTools } from "./devices.ts";
import { manageEsim } from "./esim.ts";
import { manageDevice } from "./manage-device.ts";
import { platformCatalog } from "./platform-catalog.ts";
import { proxies } from "./proxies.ts";
import { getTask, getTaskMedia, listTasks, runTask, sendTaskMessage, stopTask } from "./tasks.ts";
import type { ToolCtx, Use } from "./use.ts";
import { systemClock } from "./waiting.ts";
import { webhooks } from "./webhooks.ts";
import { getWorkflowResource, listWorkflowResources } from "./workflow-lists.ts";
import { createAction, createFlow, createTrigger, manageFlow, workflowEvents } from "./workflow-writes.ts";

export { createOriginals } from "./originals.ts";
export type { Original, Originals } from "./originals.ts";
export type { Clock, ToolCtx } from "./use.ts";
export type { CloudTool } from "./declare.ts";

/** In the order in which they are listed. */
export const cloudTools: readonly CloudTool[] = [
  ...deviceTools,
  listWorkflowResources,
  getWorkflowResource,
  createAction,
  createTrigger,
  createFlow,
  manageFlow,
  workflowEvents,
  webhooks,
  listCredentials,
  listCredentialPackages,
  runTask,
  getTask,
  listTasks,
  stopTask,
  sendTaskMessage,
  getTaskMedia,
  manageDevice,
  deviceAction,
  manageDeviceApps,
  manageDeviceFiles,
  configureDevice,
  manageEsim,
  apps,
  manageCredentials,
  proxies,
  connect,
  platformCatalog,
];

export const ALL_TOOL_NAMES: readonly string[] = cloudTools.map(({ name }) => name);

/**
 * The tools, bound to one caller's backend. Cheap: their schemas are those of the process. Which of them the caller may use is the gate's
 * affair, which is given the same policy.
 */
export function buildCloudTools(context: ToolCtx): readonly Tool[] {
  return cloudTools.map(({ run, devices, ...tool }) => ({
    ...tool,
    ...(devices === undefined
      ? {}
      : { devicesOf: (input: Record<string, unknown>, call: ToolCall) => devices(input, useOf(context, call)) }),
    handle: (input, call) => run(input, useOf(context, call)),
  }));
}

function useOf({ backend, auth, devices, originals, clock }: ToolCtx, call: ToolCall): Use {
  const { signal, progress, attach, traceparent, answerWithinMs } = call;
  return {
    backend,
    subject: auth.subject,
    signal,
    within: traceparent === undefined ? { signal } : { signal, traceparent },
    devices,
    originals,
    clock: clock ?? systemClock,
    ...(progress === undefined ? {} : { progress }),
    ...(answerWithinMs === undefined ? {} : { answerWithinMs }),
    ...(attach === undefined ? {} : { attach }),
  };
}
