import { z } from "zod";
import { Install } from "../backend/device-control.ts";
import { BackendError, hasCode } from "../backend/errors.ts";
import { sliceFields, sliceOf, sliced } from "./bounds.ts";
import { bundle } from "./declare.ts";
import { deviceId, flag, id, packageName, text, waitSeconds } from "./inputs.ts";
import type { Use } from "./use.ts";
import { unlessAsked, waitUntil } from "./waiting.ts";

const INSTALL_WAIT_S = 180;

const ok = z.object({
  status: z.literal("ok"),
  operation: z.string(),
  deviceId: z.string(),
  packageName: z.string(),
});
const done = (operation: string, device: string, app: string) => ({
  status: "ok" as const,
  operation,
  deviceId: device,
  packageName: app,
});
const permission = z.enum(["POST_NOTIFICATIONS"]);

export const manageDeviceApps = bundle(
  {
    name: "manage_device_apps",
    title: "Manage a device's apps",
    description:
      "Install, start, stop and delete apps on a device, clear their data, grant permissions, list packages. install waits for its end, up to waitSeconds; with waitSeconds 0 see install_status.",
    by: "operation",
    fields: {
      deviceId,
      packageName,
      bundleId: id.describe("For an iOS device, instead of packageName."),
      activity: text,
      permission,
      waitSeconds,
      includeSystemPackages: flag,
      includeProtectedPackages: flag,
      ...sliceFields,
    },
  },
  (operation) => ({
    install: operation({
      effects: ["write"],
      needs: ["deviceId"],
      may: ["packageName", "bundleId", "waitSeconds"],
      someOf: ["packageName", "bundleId"],
      check: ({ packageName: app, bundleId }) =>
        app !== undefined && bundleId !== undefined ? "give packageName or bundleId, not both" : undefined,
      answer: z.object({
        status: z.enum(["installed", "install_requested"]),
        deviceId: z.string(),
        packageName: z.string().optional(),
        bundleId: z.string().optional(),
      }),
      run: ({ deviceId: device, packageName: app, bundleId, waitSeconds: asked }, use) =>
        install(device, { packageName: app, bundleId }, unlessAsked(asked, INSTALL_WAIT_S, use), use),
    }),
    install_status: operation({
      effects: ["read"],
      needs: ["deviceId"],
      may: ["offset", "limit"],
      answer: sliced(Install),
      run: async ({ deviceId: device, offset, limit }, { backend, within }) =>
        sliceOf(await backend.deviceControl.listInstalls(device, within), { offset, limit }),
    }),
    delete: operation({
      effects: ["destructive"],
      needs: ["deviceId", "packageName"],
      answer: ok,
      async run({ deviceId: device, packageName: app }, { backend, within }) {
        await backend.deviceControl.deleteApp(device, app, within);
        return done("delete", device, app);
      },
    }),
    start: operation({
      effects: ["write"],
      needs: ["deviceId", "packageName"],
      may: ["activity"],
      answer: ok,
      async run({ deviceId: device, packageName: app, activity }, { backend, within }) {
        await backend.deviceControl.startApp(device, app, { activity }, within);
        return done("start", device, app);
      },
    }),
    stop: operation({
      effects: ["write"],
      needs: ["deviceId", "packageName"],
      answer: ok,
      async run({ deviceId: device, packageName: app }, { backend, within }) {
        await backend.deviceControl.stopApp(device, app, {}, within);
        return done("stop", device, app);
      },
    }),
    clear_data: operation({
      effects: ["destructive"],
      needs: ["deviceId", "packageName"],
      answer: ok,
      async run({ deviceId: device, packageName: app }, { backend, within }) {
        await backend.deviceControl.stopApp(device, app, { clearData: true }, within);
        return done("clear_data", device, app);
      },
    }),
    grant_permission: operation({
      effects: ["write"],
      needs: ["deviceId", "packageName", "permission"],
      answer: ok,
      async run({ deviceId: device, packageName: app, permission: which }, { backend, within }) {
        await backend.deviceControl.grantPermission(device, app, which, within);
        return done("grant_permission", device, app);
      },
    }),
    revoke_permission: operation({
      effects: ["write"],
      needs: ["deviceId", "packageName", "permission"],
      answer: ok,
      async run({ deviceId: device, packageName: app, permission: which }, { backend, within }) {
        await backend.deviceControl.revokePermission(device, app, which, within);
        return done("revoke_permission", device, app);
      },
    }),
    list_packages: operation({
      effects: ["read"],
      needs: ["deviceId"],
      may: ["includeSystemPackages", "includeProtectedPackages", "offset", "limit"],
      answer: sliced(z.string()),
      async run(
        { deviceId: device, includeSystemPackages, includeProtectedPackages, offset, limit },
        { backend, within },
      ) {
        const options = { includeSystemPackages, includeProtectedPackages };
        return sliceOf(await backend.deviceControl.listPackages(device, options, within), { offset, limit });
      },
    }),
  }),
);

interface App {
  readonly packageName?: string | undefined;
  readonly bundleId?: string | undefined;
}
type InstallRecord = z.input<typeof Install>;

/**
 * The install runs in the background of the platform, and its record is looked at: so no request is held open for minutes. A platform without
 * such records has installed the app when it answers.
 */
async function install(device: string, app: App, seconds: number, use: Use) {
  const answer = (status: "installed" | "install_requested") => ({
    status,
    deviceId: device,
    ...(app.packageName === undefined ? {} : { packageName: app.packageName }),
    ...(app.bundleId === undefined ? {} : { bundleId: app.bundleId }),
  });
  const before = seconds === 0 ? [] : await records(device, use);
  await use.backend.deviceControl.installApp(device, { ...app, background: before !== undefined }, use.within);
  if (before === undefined) return answer("installed");
  if (seconds === 0) return answer("install_requested");
  const known = new Set(before.map(keyOf));
  const ended = await waitUntil(use, {
    seconds,
    everyMs: 2000,
    message: () => `Installing ${app.packageName ?? app.bundleId}.`,
    async look() {
      const fresh = ((await records(device, use)) ?? []).filter((record) => !known.has(keyOf(record)));
      const mine = fresh.find(({ appId }) => appId === (app.packageName ?? app.bundleId)) ?? only(fresh);
      return mine === undefined || mine.status === "running" ? undefined : mine;
    },
  });
  if (ended === undefined) return answer("install_requested");
  if (ended.status === "succeeded") return answer("installed");
  const why = ended.errorClass ?? ended.status ?? "failed";
  throw new BackendError("upstream_error", `${app.packageName ?? app.bundleId} was not installed: ${why}.`, {
    hint: "See operation=install_status, and the app in the library with apps operation=list.",
  });
}

async function records(device: string, use: Use): Promise<InstallRecord[] | undefined> {
  try {
    return (await use.backend.deviceControl.listInstalls(device, use.within)) ?? [];
  } catch (thrown) {
    if (hasCode(thrown, "not_found")) return undefined;
    throw thrown;
  }
}

const keyOf = ({ appId, startedAt }: InstallRecord): string => `${appId} ${startedAt}`;
const only = <T>(list: readonly T[]): T | undefined => (list.length === 1 ? list[0] : undefined);
