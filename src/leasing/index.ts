/**
 * leasing: who gets which device and until when. Pure decisions over state that is data: no I/O, no clock, no timers.
 */
export type * from "./protocol.ts";
export type * from "./state.ts";
