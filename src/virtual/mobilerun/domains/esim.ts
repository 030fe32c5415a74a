import type { endpoints } from "../../../cloud/index.ts";
import type { Devices } from "../device.ts";
import type { Handlers } from "../handler.ts";
import { Problem, notFound } from "../problem.ts";

interface Sim {
  readonly subId: number;
  readonly slot: number;
  readonly iccid: string;
  enabled: boolean;
  readonly accessPoints: { id: string; preferred: boolean; fields: object }[];
}

export function esimHandlers(devices: Devices): Handlers<typeof endpoints.esim> {
  const sims = new Map<string, Sim[]>();
  const roaming = new Set<string>();
  let made = 0;
  const simsOf = (path: { readonly deviceId: string }) => {
    const { id } = devices.ready(path.deviceId);
    const known = sims.get(id) ?? [];
    sims.set(id, known);
    return known;
  };
  const simOf = (path: { readonly deviceId: string }, subId: number) => {
    const sim = simsOf(path).find((other) => other.subId === subId);
    if (sim === undefined) throw notFound("Subscription", String(subId));
    return sim;
  };
  const shown = ({ subId, slot, iccid }: Sim) => ({
    subId,
    slot,
    type: "esim",
    carrier: "NordTel",
    displayName: "Data plan",
    iccid,
    isEmbedded: true,
  });

  return {
    list({ path }) {
      const known = simsOf(path);
      return known.length === 0 ? null : known.map(shown);
    },
    activate({ path, body }) {
      if (body.confirmationCode !== undefined && body.matchingId === undefined) {
        throw new Problem(400, "confirmationCode needs matchingId");
      }
      const known = simsOf(path);
      made += 1;
      const sim: Sim = {
        subId: made,
        slot: known.length,
        iccid: `89490000000000000${String(made).padStart(2, "0")}`,
        enabled: body.enable,
        accessPoints: [
          {
            id: `apn-${made}`,
            preferred: true,
            fields: {
              name: "NordTel",
              apn: "internet",
              mcc: "262",
              mnc: "99",
              type: "default",
              protocol: "IPV4V6",
              roamingProtocol: "IP",
            },
          },
        ],
      };
      known.push(sim);
      return shown(sim);
    },
    enable({ path, body }) {
      const chosen = simOf(path, body.subId);
      for (const sim of simsOf(path)) sim.enabled = sim === chosen;
    },
    remove({ path, query }) {
      const sim = simOf(path, query.subId);
      sims.set(
        path.deviceId,
        simsOf(path).filter((other) => other !== sim),
      );
    },
    accessPoints: ({ path }) =>
      simsOf(path).flatMap(({ subId, accessPoints }) =>
        accessPoints.map(({ id, preferred, fields }) => ({ id, subId, ...fields, isPreferred: preferred })),
      ),
    selectAccessPoint({ path, body }) {
      const { accessPoints } = simOf(path, body.subId);
      if (!accessPoints.some(({ id }) => id === body.apnId)) throw notFound("Access point", String(body.apnId));
      for (const point of accessPoints) point.preferred = point.id === body.apnId;
    },
    createAccessPoint({ path, body }) {
      const { subId, ...fields } = body;
      const { accessPoints } = simOf(path, subId);
      accessPoints.push({ id: `apn-${subId}-${accessPoints.length + 1}`, preferred: false, fields });
    },
    setRoaming({ path, body }) {
      const { id } = devices.ready(path.deviceId);
      if (body.enabled) roaming.add(id);
      else roaming.delete(id);
    },
    status: ({ path }) =>
      simsOf(path).map(({ subId, enabled }) => ({
        subId,
        carrier: "NordTel",
        operator: "26299",
        simState: enabled ? "READY" : "DISABLED",
        phoneType: "GSM",
        networkType: "LTE",
        dataState: enabled ? "CONNECTED" : "DISCONNECTED",
        isRoaming: false,
        dataRoamingEnabled: roaming.has(path.deviceId),
        mobileDataEnabled: enabled,
      })),
  };
}
