/**
 * exec: one command on one device. The grammar of each device tool decides what a command may be and writes its arguments anew; the runner
 * starts it in a process group of its own, drains it within bounds, and ends it.
 */
export type * from "./types.ts";
