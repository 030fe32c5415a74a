import type { Handlers } from "../call.ts";
import type { Core } from "../core.ts";
import { examine, type DoctorRun } from "../doctor.ts";

/** One examination at a time of each kind: those who ask for the same meanwhile get its answer. */
export function doctorHandlers(core: Core): Pick<Handlers, "doctor.run"> {
  const underWay = new Map<string, ReturnType<typeof examine>>();
  return {
    "doctor.run": async (input) => {
      const run: DoctorRun = { fix: input.fix === true, purgeOrphans: input.purgeOrphans === true };
      const key = JSON.stringify(run);
      const joined = underWay.get(key);
      if (joined !== undefined) return joined;
      const examined = examine(core, run).finally(() => underWay.delete(key));
      underWay.set(key, examined);
      return examined;
    },
  };
}
