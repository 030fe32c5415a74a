import { SimlockError, type LeaseId } from "../contract/index.ts";
import type { State } from "./book.ts";
import { fits, resolve, type Requirement } from "./requirement.ts";
import { isMade } from "./capacity.ts";
import type { Device, Lease, Request } from "./state.ts";

/** How many holders a busy answer names. */
const NAMED_HOLDERS = 10;

export function describe(requirement: Requirement): string {
  const what = requirement.modelText ?? requirement.class ?? "phone";
  const os = requirement.os === undefined ? "" : ` on ${osText(requirement)}`;
  return `${requirement.physical === true ? "physical " : ""}${requirement.platform} ${what}${os}`;
}

function osText(requirement: Requirement): string {
  const { os } = requirement;
  if (os === undefined) return "any version";
  return os.kind === "exact" ? os.version : os.text;
}

/** Who holds what would have served: so that the busy know whom to ask, and until when to wait. */
export function holdersOf(state: State, requirement: Requirement): readonly Record<string, unknown>[] {
  const holders: Record<string, unknown>[] = [];
  for (const lease of state.leases.values()) {
    const device = state.devices.get(lease.deviceId);
    if (device === undefined || device.spec.platform !== requirement.platform) continue;
    if (!isMade(device.kind) && !fits(requirement, device, state.aliases)) continue;
    holders.push({
      leaseId: lease.id,
      requesterId: lease.requesterId,
      model: device.spec.model,
      expiresAt: lease.ttlDeadline,
    });
    if (holders.length === NAMED_HOLDERS) break;
  }
  return holders;
}

function namedHolders(holders: readonly Record<string, unknown>[]): string {
  if (holders.length === 0) return "";
  const named = holders.map((holder) => `${String(holder["requesterId"])} until ${isoOf(Number(holder["expiresAt"]))}`);
  return ` Held by ${named.join(", ")}.`;
}

function isoOf(time: number): string {
  return new Date(time).toISOString();
}

export function noCapacity(state: State, requirement: Requirement): SimlockError {
  const holders = holdersOf(state, requirement);
  return new SimlockError("NO_CAPACITY", `No ${describe(requirement)} is free now.${namedHolders(holders)}`, {
    details: { holders },
  });
}

export function queueTimeout(state: State, request: Request, requirement: Requirement): SimlockError {
  const holders = holdersOf(state, requirement);
  const waited = `${request.input.timeoutMs ?? 0} ms`;
  return new SimlockError(
    "QUEUE_TIMEOUT",
    `No ${describe(requirement)} became free within ${waited}.${namedHolders(holders)}`,
    { details: { requestId: request.id, holders } },
  );
}

export function alreadyLeased(state: State, requesterId: string, lease: Lease | undefined): SimlockError {
  if (lease === undefined) {
    return new SimlockError("REQUESTER_ALREADY_LEASED", `${requesterId} already waits for a device.`, {
      details: { requesterId },
      hint: "Wait for that request, or cancel it.",
    });
  }
  const model = state.devices.get(lease.deviceId)?.spec.model ?? "a device";
  return new SimlockError(
    "REQUESTER_ALREADY_LEASED",
    `${requesterId} already holds ${model} as lease ${lease.id}, until ${isoOf(lease.ttlDeadline)}.`,
    {
      details: { requesterId, existingLeaseId: lease.id, expiresAt: lease.ttlDeadline },
      hint: `Use that lease, or give it back with \`simlock release ${lease.id}\`.`,
    },
  );
}

export function unknownLease(leaseId: LeaseId): SimlockError {
  return new SimlockError(
    "UNKNOWN_LEASE",
    `There is no lease ${leaseId}: it was released, it expired, or it never was.`,
    {
      details: { leaseId },
    },
  );
}

export function notYours(lease: Lease): SimlockError {
  return new SimlockError(
    "FORBIDDEN",
    `Lease ${lease.id} belongs to ${lease.ownerId}, until ${isoOf(lease.ttlDeadline)}.`,
    {
      details: { leaseId: lease.id, ownerId: lease.ownerId, expiresAt: lease.ttlDeadline },
      hint: "Ask its owner to release it. An operator can end it with `simlock release --force`.",
    },
  );
}

/** Why nothing can ever serve a requirement here. */
export function unserviceable(state: State, requirement: Requirement): SimlockError {
  const { platform } = requirement;
  const catalogs = [...state.catalogs].filter(
    ([kind, { catalog }]) => isMade(kind) && catalog.platform === platform && catalog.models.length > 0,
  );
  if (requirement.physical === true || catalogs.length === 0) {
    const enrolled = [...state.devices.values()].some((device) => device.physical && device.spec.platform === platform);
    if (requirement.physical === true && enrolled) return unknownModel(state, requirement, []);
    const what =
      requirement.physical === true
        ? `No physical ${platform} device is enrolled`
        : `Nothing here offers ${platform} devices`;
    return new SimlockError("NO_DRIVER", `${what} that could serve ${describe(requirement)}.`, {
      details: { platform },
      hint:
        platform === "android"
          ? "Attach an Android device and enrol it: `simlock device add <serial>`, with --shared to serve every Android request."
          : "Run `simlock doctor`: it says what is missing.",
    });
  }
  for (const [, { catalog }] of catalogs) {
    const resolution = resolve(requirement, catalog, state.aliases);
    if (resolution.kind !== "runtime-missing") continue;
    const paired = catalog.modelRuntimes[resolution.model] ?? [];
    const has = paired.length === 0 ? "no installed OS version pairs with it" : `installed: ${paired.join(", ")}`;
    return new SimlockError(
      "RUNTIME_MISSING",
      `${resolution.model} is not available on ${osText(requirement)}: ${has}.`,
      { details: { platform, osVersion: osText(requirement), downloadable: false } },
    );
  }
  return unknownModel(
    state,
    requirement,
    catalogs.flatMap(([, { catalog }]) => catalog.models),
  );
}

function unknownModel(state: State, requirement: Requirement, models: readonly string[]): SimlockError {
  const { platform, model } = requirement;
  if (model === undefined) {
    return new SimlockError("UNKNOWN_MODEL", `No ${platform} model here is a ${requirement.class ?? "phone"}.`, {
      details: { platform, class: requirement.class ?? "phone" },
    });
  }
  const all = [
    ...models,
    ...[...state.devices.values()].filter((d) => d.spec.platform === platform).map((d) => d.spec.model),
  ];
  const near = [...new Set(all)].filter((name) => sharesWord(name, model)).slice(0, 5);
  return new SimlockError("UNKNOWN_MODEL", `There is no ${platform} model "${requirement.modelText ?? model}" here.`, {
    details: { platform, model: requirement.modelText ?? model },
    ...(near.length === 0 ? {} : { hint: `Did you mean ${near.join(", ")}? See all with \`simlock catalog\`.` }),
  });
}

function sharesWord(name: string, wanted: string): boolean {
  const words = new Set(wanted.split(/[^a-z0-9]+/).filter((word) => word.length > 0));
  return name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .some((word) => words.has(word));
}

export function deviceInUse(device: Device, lease: Lease): SimlockError {
  return new SimlockError(
    "DEVICE_IN_USE",
    `${device.spec.model} is leased by ${lease.requesterId} until ${isoOf(lease.ttlDeadline)}.`,
    {
      details: { deviceId: device.id, leaseId: lease.id, requesterId: lease.requesterId, expiresAt: lease.ttlDeadline },
      hint: `Wait for the lease to end, or end it with \`simlock release ${lease.id} --force\`.`,
    },
  );
}
