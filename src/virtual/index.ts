/**
 * virtual: stand-ins for the platforms' tools. A virtual Mac is a folder; `xcrun simctl` on it is a process of its own, so that everything
 * that talks to simulators talks to it in the same way as to a real one. The virtual cloud is a server on this machine.
 */
export { virtualXcrun } from "./entry.ts";
export type { VirtualTool } from "./entry.ts";
export { makeSampleApp } from "./sample-app.ts";
export type { SampleApp } from "./sample-app.ts";
export { createVirtualMac, screenSize, setFaults, virtualHostFacts } from "./virtual-mac.ts";
export type { VirtualMac } from "./virtual-mac.ts";
export type { Control, Fault } from "./mac/control.ts";
export { startVirtualMobilerun } from "./mobilerun/index.ts";
export type {
  Fault as CloudFault,
  ManualClock,
  VirtualClock,
  VirtualMobilerun,
  VirtualMobilerunOptions,
} from "./mobilerun/index.ts";
