/**
 * daemon: the process that holds a home. It claims the home, reads the machine, runs the decision loop and its effects, and serves the socket.
 */
export { runDaemon, type RunningDaemon } from "./run-daemon.ts";
export type { DaemonOptions, DriverContext } from "./options.ts";
export type { LogDestination } from "./log.ts";
/** The home's configuration file: read as the daemon reads it, so that what is written to it is known to be accepted. */
export { loadConfig, parseConfig, type LoadedConfig } from "./config-file.ts";
