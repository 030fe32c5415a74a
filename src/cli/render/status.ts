import type {
  Capacity,
  DeviceState,
  HostFacts,
  Status,
  StatusDevice,
  StatusLease,
  WaitingRequest,
} from "../../contract/index.ts";
import { agoOf, spanOf, untilOf } from "../duration.ts";
import type { Paint } from "./paint.ts";
import { safe, table } from "./table.ts";

/** What `simlock status` says to a person. `now` is epoch milliseconds. */
export function statusText(status: Status, now: number, paint: Paint): string {
  const { daemon, devices = [], leases = [], waiting = [], capacity } = status;
  const health = paint(
    daemon.health === "running" ? "green" : daemon.health === "failed" ? "red" : "yellow",
    daemon.health,
  );
  const mode = daemon.mode === "gateway" ? " (gateway)" : "";
  const lines = [
    `Daemon: ${health}${mode}, simlock ${daemon.version}, pid ${daemon.pid}, started ${agoOf(daemon.startedAt, now)}`,
    `Home: ${safe(daemon.home)}${daemon.virtual ? ` ${paint("cyan", "(virtual: simulated devices)")}` : ""}`,
    ...(daemon.consoleUrl === undefined ? [] : [`Console: ${daemon.consoleUrl}`]),
    `Host: ${hostText(status.host)}`,
    ...(capacity === undefined ? [] : capacityLines(capacity, paint)),
  ];
  if (status.devices !== undefined) lines.push("", ...deviceLines(devices, leases, now, paint));
  if (leases.length > 0) lines.push("", ...leaseLines(leases, devices, now, paint));
  if (waiting.length > 0) lines.push("", ...waitingLines(waiting, now, paint));
  return lines.join("\n");
}

export function hostText(host: HostFacts): string {
  const tools = host.tools.map(
    (tool) => `${tool.name} ${tool.version}${tool.build === undefined ? "" : ` (${tool.build})`}`,
  );
  const machine = `${host.os} ${host.osVersion} ${host.arch}, ${host.cpus} cores, ${gibibytes(host.memoryBytes)}`;
  return [machine, ...tools].map(safe).join("; ");
}

function capacityLines(capacity: Capacity, paint: Paint): string[] {
  const over = (is: boolean) => (is ? ` ${paint("red", "(over limit)")}` : "");
  const platforms = (["ios", "android"] as const).map((name) => {
    const { running, maxRunning, reserved, overLimit } = capacity[name];
    return `${name} ${running}/${maxRunning} running${reserved > 0 ? `, ${reserved} reserved` : ""}${over(overLimit)}`;
  });
  const { ramBudget } = capacity;
  return [
    `Capacity: ${platforms.join("; ")}`,
    ...(ramBudget === undefined
      ? []
      : [
          `RAM budget: ${gibibytes(ramBudget.usedBytes)}/${gibibytes(ramBudget.limitBytes)} used${over(ramBudget.overLimit)}`,
        ]),
  ];
}

function gibibytes(bytes: number): string {
  const amount = bytes / 2 ** 30;
  return `${Number.isInteger(amount) ? amount : amount.toFixed(2)} GiB`;
}

function deviceLines(
  devices: readonly StatusDevice[],
  leases: readonly StatusLease[],
  now: number,
  paint: Paint,
): string[] {
  if (devices.length === 0) return ["Devices: none yet. They are made when somebody leases."];
  const holders = new Map(leases.map((lease) => [lease.deviceId, lease.requesterId]));
  const rows = devices.map((device) => [
    device.id,
    safe(device.spec.model),
    `${device.spec.platform} ${safe(device.spec.osVersion)}`,
    device.kind,
    `${stateText(device, now, paint)}${holders.has(device.id) ? ` by ${safe(holders.get(device.id) ?? "")}` : ""}`,
  ]);
  return ["Devices:", ...table(["ID", "MODEL", "OS", "KIND", "STATE"], rows, paint)];
}

const STATE_COLOURS: Readonly<Record<DeviceState, Parameters<Paint>[0]>> = {
  ready: "green",
  leased: "cyan",
  provisioning: "yellow",
  reclaiming: "yellow",
  quarantined: "red",
  absent: "red",
  shutdown: "gray",
  deleted: "gray",
};

function stateText(device: StatusDevice, now: number, paint: Paint): string {
  const parts = [paint(STATE_COLOURS[device.state], device.state)];
  if (device.transitionAgeMs !== undefined) parts.push(`for ${spanOf(device.transitionAgeMs)}`);
  if (device.stalled === true) parts.push(paint("red", "stalled"));
  if (device.quarantineNextRetryAt !== undefined)
    parts.push(`tried again ${untilOf(device.quarantineNextRetryAt, now)}`);
  if (device.mode === "slim") parts.push("slim");
  if (device.shared === true) parts.push("shared");
  return parts.join(" ");
}

function leaseLines(
  leases: readonly StatusLease[],
  devices: readonly StatusDevice[],
  now: number,
  paint: Paint,
): string[] {
  const models = new Map(devices.map((device) => [device.id, device.spec.model]));
  const rows = leases.map((lease) => [
    lease.id,
    safe(models.get(lease.deviceId) ?? lease.deviceId),
    safe(lease.requesterId),
    untilOf(lease.ttlDeadline, now),
    agoOf(lease.lastRenewedAt, now),
  ]);
  return ["Leases:", ...table(["ID", "DEVICE", "HELD BY", "EXPIRES", "LAST RENEWED"], rows, paint)];
}

function waitingLines(waiting: readonly WaitingRequest[], now: number, paint: Paint): string[] {
  const rows = waiting.map(({ spec, ...request }) => [
    request.queuePosition === undefined ? "-" : String(request.queuePosition),
    safe(request.requesterId),
    safe(
      [
        spec.platform,
        spec.model ?? spec.class ?? "phone",
        spec.osVersion,
        spec.physical === true ? "physical" : undefined,
      ]
        .filter(Boolean)
        .join(" "),
    ),
    request.stage === "starting" ? "on its way" : (request.reason ?? "queued"),
    spanOf(now - request.createdAt),
  ]);
  return ["Waiting:", ...table(["#", "WHO", "FOR", "BECAUSE", "SINCE"], rows, paint)];
}
