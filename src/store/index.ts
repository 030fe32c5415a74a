/**
 * store: the daemon's database. Rows of the leasing state and the events that tell of them, in SQLite, one commit for both.
 */
export type * from "./types.ts";
export { openStore } from "./store.ts";
