import type { Control } from "./control.ts";

/** How long each verb takes, in milliseconds. Verbs that are not named take no time beyond their own work. */
const PACES = {
  none: {},
  quick: {
    create: 20,
    boot: 200,
    bootstatus: 100,
    shutdown: 50,
    erase: 100,
    clone: 50,
    install: 30,
    launch: 20,
    "screen timeout": 500,
  },
  // Measured on M-series Macs: a listing 260, a spawn 150, boot until usable about 30 s idle, an erase 34 s, a launch 0.7 s.
  real: {
    "*": 120,
    list: 140,
    spawn: 30,
    create: 600,
    boot: 8_000,
    bootstatus: 22_000,
    shutdown: 3_000,
    erase: 34_000,
    clone: 900,
    install: 1_500,
    launch: 700,
    "io screenshot": 300,
    "screen timeout": 61_000,
  },
} as const satisfies Record<string, Readonly<Record<string, number>>>;

/** What `verb` takes under this control file, in milliseconds. */
export function paceOf(control: Control, verb: string): number {
  const pace: Readonly<Record<string, number>> = PACES[control.pace ?? "quick"];
  return control.latencyMs?.[verb] ?? pace[verb] ?? 0;
}
