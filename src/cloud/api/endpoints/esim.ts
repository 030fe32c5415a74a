import { z } from "zod";
import { domain, empty, get, json, post, put, remove } from "../endpoint.ts";
import { flag, flagFields, given, list, number, optionalText, textFields } from "../shapes.ts";

const headers = ["displayId"] as const;
const subId = z.int();

export const Subscription = z.object({
  subId: z.number(),
  slot: number,
  ...textFields("type", "carrier", "displayName", "iccid"),
  isEmbedded: flag,
});
export type Subscription = z.infer<typeof Subscription>;

const AccessPoint = z.object({
  id: z.union([z.string(), z.number()]),
  subId: number,
  ...textFields("name", "apn", "mcc", "mnc", "type", "protocol", "roamingProtocol"),
  isPreferred: flag,
});

const EsimStatus = z.object({
  subId: z.number(),
  ...textFields("carrier", "operator", "simState", "phoneType", "networkType", "dataState"),
  ...flagFields("isRoaming", "dataRoamingEnabled", "mobileDataEnabled"),
});

export const esim = domain("esim", {
  list: get("/devices/{deviceId}/esim", { headers, answer: json(list(Subscription)) }),
  /** A confirmation code is good only together with a matching id. */
  activate: post("/devices/{deviceId}/esim", {
    body: json(
      z.strictObject({
        enable: z.boolean(),
        smDpAddr: given,
        confirmationCode: optionalText,
        matchingId: optionalText,
      }),
    ),
    headers,
    answer: json(Subscription),
  }),
  enable: put("/devices/{deviceId}/esim", { body: json(z.strictObject({ subId })), headers, answer: empty }),
  remove: remove("/devices/{deviceId}/esim", { query: z.strictObject({ subId }), headers, answer: empty }),
  accessPoints: get("/devices/{deviceId}/esim/apn", { headers, answer: json(list(AccessPoint)) }),
  selectAccessPoint: put("/devices/{deviceId}/esim/apn", {
    body: json(z.strictObject({ apnId: z.union([z.string(), z.number()]), subId })),
    headers,
    answer: empty,
  }),
  createAccessPoint: post("/devices/{deviceId}/esim/apn", {
    body: json(
      z.strictObject({
        apn: given,
        mcc: given,
        mnc: given,
        name: given,
        protocol: optionalText,
        roamingProtocol: optionalText,
        subId,
        type: optionalText,
      }),
    ),
    headers,
    answer: empty,
  }),
  setRoaming: put("/devices/{deviceId}/esim/roaming", {
    body: json(z.strictObject({ enabled: z.boolean() })),
    headers,
    answer: empty,
  }),
  status: get("/devices/{deviceId}/esim/status", { headers, answer: json(list(EsimStatus)) }),
});
