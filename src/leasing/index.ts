/**
 * leasing: who gets which device and until when. Pure decisions over state that is data: no I/O, no clock, no timers.
 */
export type { State } from "./book.ts";
export { createState } from "./create-state.ts";
export { decide, nextDeadline } from "./decide.ts";
export type * from "./protocol.ts";
export type * from "./state.ts";
export {
  boundProcesses,
  capacityOf,
  catalogs,
  deviceRecords,
  findDevice,
  findLease,
  grantOfLease,
  leaseOfRequester,
  leaseRecords,
  queueDepthOf,
  queueProgress,
  stalledDevices,
  statusDevices,
  waitingRequests,
} from "./views.ts";
