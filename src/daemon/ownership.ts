import { SimlockError, type LeaseId } from "../contract/index.ts";
import type { Lease } from "../leasing/index.ts";
import type { Call, DispatchedOperation, Peer } from "./call.ts";

export type FindLease = (id: LeaseId) => Lease | undefined;

/**
 * What a caller may do to what its input names, beyond its role. A lease that is not there is let through: the handler answers `UNKNOWN_LEASE`.
 * Throws `FORBIDDEN`.
 */
export function authorizer(findLease: FindLease): (operation: DispatchedOperation, input: unknown, call: Call) => void {
  return (operation, input, { peer }) => {
    switch (operation) {
      case "lease.renew":
      case "lease.release": {
        const lease = leaseOf(input, findLease);
        if (lease !== undefined && peer.role !== "admin" && lease.ownerId !== peer.principal) throw notYours(lease);
        return;
      }
      case "lease.request":
        if (field(input, "owner") !== undefined && peer.role !== "admin") {
          throw new SimlockError("FORBIDDEN", "owner: only an admin may lease for another owner.");
        }
        return;
      case "lease.adopt": {
        const lease = leaseOf(input, findLease);
        if (lease !== undefined && lease.ownerId !== peer.principal) throw notYours(lease);
        return;
      }
      case "device.exec":
      case "driver.passthrough":
      case "state.snapshot":
      case "state.apply":
      case "state.recover":
        mayRunOn(leaseOf(input, findLease), field(input, "requesterId"), peer);
        return;
      case "doctor.run":
        if (peer.role !== "admin" && (field(input, "fix") === true || field(input, "purgeOrphans") === true)) {
          throw new SimlockError("FORBIDDEN", "fix and purgeOrphans change this machine: they are for an admin.", {
            hint: "Run doctor without them to see what they would do.",
          });
        }
        return;
      default:
        return;
    }
  };
}

/** A command runs for the holder alone: an admin has no way round, but may speak for the requester whose lease it is. */
function mayRunOn(lease: Lease | undefined, requesterId: unknown, peer: Peer): void {
  if (peer.role === "agent") {
    if (requesterId !== undefined) {
      throw new SimlockError("FORBIDDEN", "requesterId: an agent runs commands as itself only.");
    }
    if (lease !== undefined && lease.ownerId !== peer.principal) throw notYours(lease);
    return;
  }
  const speaksFor = typeof requesterId === "string" ? requesterId : peer.principal;
  if (lease !== undefined && lease.requesterId !== speaksFor) {
    throw new SimlockError("FORBIDDEN", `Lease ${lease.id} is for ${lease.requesterId}, not for ${speaksFor}.`, {
      hint: "Commands run for the holder of the lease; an admin has no way round.",
    });
  }
}

function notYours(lease: Lease): SimlockError {
  return new SimlockError("FORBIDDEN", `Lease ${lease.id} belongs to ${lease.ownerId}.`, {
    hint: "Use a lease of your own: `simlock status` shows who holds what.",
  });
}

function leaseOf(input: unknown, findLease: FindLease): Lease | undefined {
  const id = field(input, "leaseId");
  // The operation's schema has taken it as a lease id already.
  return typeof id === "string" ? findLease(id as LeaseId) : undefined;
}

function field(input: unknown, name: string): unknown {
  if (typeof input !== "object" || input === null) return undefined;
  return Object.getOwnPropertyDescriptor(input, name)?.value;
}
