/**
 * devices: one folder a kind of device. A driver finds, makes, boots, cleans and removes devices through the platform's own tools;
 * it holds no state that matters and decides nothing.
 */
export * from "./driver.ts";
export type { CallTool } from "./tool-call.ts";
export { createSimulatorDriver } from "./simulator/driver.ts";
export type { SimulatorDriverOptions } from "./simulator/driver.ts";
export { createAndroidDriver, type AndroidDriverOptions } from "./android/driver.ts";
