import { z } from "zod";
import { AccessPoint, EsimStatus, Subscription } from "../backend/device-control.ts";
import { bundle } from "./declare.ts";
import { deviceId, flag, id, text } from "./inputs.ts";

const ok = z.object({
  status: z.literal("ok"),
  operation: z.string(),
  deviceId: z.string(),
  subId: z.number().optional(),
});
const items = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item) });

export const manageEsim = bundle(
  {
    name: "manage_esim",
    title: "Manage a device's eSIM",
    description:
      "List, activate, enable and remove eSIM profiles, see how they are connected, and set access points and roaming.",
    by: "operation",
    fields: {
      deviceId,
      enable: flag,
      smDpAddr: z.string().min(1),
      confirmationCode: text,
      matchingId: text,
      subId: z.int(),
      apnId: z.union([z.int(), id]).describe("id of list_apns."),
      apn: z.string().min(1),
      mcc: z.string().min(1),
      mnc: z.string().min(1),
      name: z.string().min(1),
      protocol: text,
      roamingProtocol: text,
      type: text,
      enabled: flag,
    },
  },
  (operation) => ({
    list: operation({
      effects: ["read"],
      needs: ["deviceId"],
      answer: items(Subscription),
      run: async ({ deviceId: device }, { backend, within }) => ({
        items: (await backend.deviceControl.listEsims(device, within)) ?? [],
      }),
    }),
    activate: operation({
      effects: ["write"],
      billed: true,
      dials: true,
      needs: ["deviceId", "enable", "smDpAddr"],
      may: ["confirmationCode", "matchingId"],
      check: ({ confirmationCode, matchingId }) =>
        confirmationCode !== undefined && matchingId === undefined ? "confirmationCode requires matchingId" : undefined,
      answer: Subscription,
      run: ({ deviceId: device, enable, smDpAddr, confirmationCode, matchingId }, { backend, within }) =>
        backend.deviceControl.activateEsim(device, { enable, smDpAddr, confirmationCode, matchingId }, within),
    }),
    enable: operation({
      effects: ["write"],
      billed: true,
      needs: ["deviceId", "subId"],
      answer: ok,
      async run({ deviceId: device, subId }, { backend, within }) {
        await backend.deviceControl.enableEsim(device, subId, within);
        return { status: "ok" as const, operation: "enable", deviceId: device, subId };
      },
    }),
    remove: operation({
      effects: ["destructive"],
      needs: ["deviceId", "subId"],
      answer: ok,
      async run({ deviceId: device, subId }, { backend, within }) {
        await backend.deviceControl.removeEsim(device, subId, within);
        return { status: "ok" as const, operation: "remove", deviceId: device, subId };
      },
    }),
    status: operation({
      effects: ["read"],
      needs: ["deviceId"],
      answer: items(EsimStatus),
      run: async ({ deviceId: device }, { backend, within }) => ({
        items: (await backend.deviceControl.getEsimStatus(device, within)) ?? [],
      }),
    }),
    list_apns: operation({
      effects: ["read"],
      needs: ["deviceId"],
      answer: items(AccessPoint),
      run: async ({ deviceId: device }, { backend, within }) => ({
        items: (await backend.deviceControl.listAccessPoints(device, within)) ?? [],
      }),
    }),
    select_apn: operation({
      effects: ["write"],
      needs: ["deviceId", "apnId", "subId"],
      answer: ok,
      async run({ deviceId: device, apnId, subId }, { backend, within }) {
        await backend.deviceControl.selectAccessPoint(device, { apnId, subId }, within);
        return { status: "ok" as const, operation: "select_apn", deviceId: device, subId };
      },
    }),
    create_apn: operation({
      effects: ["write"],
      needs: ["deviceId", "apn", "mcc", "mnc", "name", "subId"],
      may: ["protocol", "roamingProtocol", "type"],
      answer: ok,
      async run(
        { deviceId: device, apn, mcc, mnc, name, subId, protocol, roamingProtocol, type },
        { backend, within },
      ) {
        const accessPoint = { apn, mcc, mnc, name, subId, protocol, roamingProtocol, type };
        await backend.deviceControl.createAccessPoint(device, accessPoint, within);
        return { status: "ok" as const, operation: "create_apn", deviceId: device, subId };
      },
    }),
    set_roaming: operation({
      effects: ["write"],
      billed: true,
      needs: ["deviceId", "enabled"],
      answer: ok,
      async run({ deviceId: device, enabled }, { backend, within }) {
        await backend.deviceControl.setRoaming(device, enabled, within);
        return { status: "ok" as const, operation: "set_roaming", deviceId: device };
      },
    }),
  }),
);
