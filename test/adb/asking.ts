import { SimlockError } from "../../src/contract/index.ts";
import type { Driver, Observed } from "../../src/devices/index.ts";

export function attached(driver: Driver): NonNullable<Driver["attached"]> {
  if (driver.attached === undefined) throw new Error("not an attached kind");
  return driver.attached;
}

export async function refusal(work: Promise<unknown>): Promise<SimlockError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof SimlockError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

/** What a watch has told, and a wait for a fact about it. */
export function watched(driver: Driver) {
  const told: (readonly Observed[])[] = [];
  const failures: unknown[] = [];
  let wake = (): void => undefined;
  const end = attached(driver).watch(
    (devices) => {
      told.push(devices);
      wake();
    },
    (error) => {
      failures.push(error);
      wake();
    },
  );
  const until = async (fact: () => boolean): Promise<void> => {
    const limit = performance.now() + 30_000;
    while (!fact()) {
      if (performance.now() > limit)
        throw new Error(`not seen: ${JSON.stringify(told.at(-1))} ${String(failures.at(-1))}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, 100);
      });
    }
  };
  return { told, failures, until, end, last: () => told.at(-1) ?? [] };
}
