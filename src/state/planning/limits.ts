/** Time limits of single commands, in milliseconds. A first boot that migrates data takes over four minutes; an erase half a minute on a busy Mac. */
export const LIMITS = {
  short: 60_000,
  boot: 60_000,
  bootstatus: 600_000,
  shutdown: 60_000,
  erase: 180_000,
  create: 120_000,
  clone: 300_000,
  install: 300_000,
  launch: 60_000,
} as const;
