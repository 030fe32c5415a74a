import type { VirtualMobilerun, VirtualMobilerunOptions } from "./options.ts";

/** mobilerun: the Mobilerun API as a server on this machine, for tests and for trying things out. */
export type { ManualClock, VirtualClock } from "./clock.ts";
export type { Fault, Faults } from "./faults.ts";
export type { VirtualMobilerun, VirtualMobilerunOptions } from "./options.ts";

/**
 * The Mobilerun API on loopback, in memory. Any key that begins with dr_sk_ is good and has a world of its own. `POST /_control/faults` takes a
 * fault that befalls a coming call, the header x-virtual-fault one for the call that it comes with. It is loaded when it is started: the
 * other stand-ins are entered through the same door and start without it.
 */
export async function startVirtualMobilerun(options: VirtualMobilerunOptions = {}): Promise<VirtualMobilerun> {
  const { start } = await import("./start.ts");
  return start(options);
}
