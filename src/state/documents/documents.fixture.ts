import { SimlockError } from "../../contract/index.ts";
import type { Problem } from "./problems.ts";

/** The smallest documents, for a test to add to. */
export function profileV1Alpha1(more: object = {}): Record<string, unknown> {
  return {
    apiVersion: "awesome-ios-sim/v1alpha1",
    kind: "SimulatorState",
    metadata: { name: "demo" },
    target: { name: "iPhone 17" },
    spec: {},
    ...more,
  };
}

export function profileV1(more: object = {}): Record<string, unknown> {
  return profileV1Alpha1({ apiVersion: "simlock/v1", ...more });
}

export function layerV1Alpha1(spec: object, more: object = {}): Record<string, unknown> {
  return {
    apiVersion: "awesome-ios-sim/v1alpha1",
    kind: "SimulatorStateLayer",
    metadata: { name: "over" },
    spec,
    ...more,
  };
}

export function layerV1(spec: object, more: object = {}): Record<string, unknown> {
  return layerV1Alpha1(spec, { apiVersion: "simlock/v1", ...more });
}

/** The error that it threw. */
export function refusal(act: () => unknown): SimlockError {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof SimlockError && thrown.code === "STATE_INVALID") return thrown;
    throw thrown;
  }
  throw new Error("It was accepted.");
}

export async function refusalOf(promise: Promise<unknown>): Promise<SimlockError> {
  const settled = await promise.then(
    () => () => undefined,
    (thrown: unknown) => () => {
      throw thrown;
    },
  );
  return refusal(settled);
}

/** The pointers of what was wrong, in the order of the document. */
export function pointers(error: SimlockError): readonly string[] {
  const { problems } = error.details ?? {};
  return (Array.isArray(problems) ? problems : []).map((problem: Problem) => problem.pointer);
}
