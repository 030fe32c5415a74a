import { CloudError, type CloudApi } from "../../api/index.ts";
import { BackendError } from "../errors.ts";

/** The API, failing as a backend does. */
export function backendCalls(api: CloudApi): CloudApi["call"] {
  return async (endpoint, ...request) => {
    try {
      return await api.call(endpoint, ...request);
    } catch (thrown) {
      throw backendError(thrown);
    }
  };
}

/** What the API client refuses and reports, with the same codes; anything else is a fault of ours and stays one. */
export function backendError(thrown: unknown): unknown {
  if (!(thrown instanceof CloudError)) return thrown;
  const details = {
    ...(thrown.retryAfterMs === undefined ? {} : { retryAfterMs: thrown.retryAfterMs }),
    ...(thrown.mayHaveHappened ? { mayHaveHappened: true } : {}),
  };
  return new BackendError(thrown.code, thrown.message, {
    ...(thrown.hint === undefined ? {} : { hint: thrown.hint }),
    ...(thrown.status === undefined ? {} : { status: thrown.status }),
    ...(Object.keys(details).length === 0 ? {} : { details }),
    cause: thrown,
  });
}

export type Call = CloudApi["call"];
