import type { z } from "zod";
import { SimlockError } from "../../contract/index.ts";
import type { OperationAction } from "../types.ts";

/** Says which argument of which operation is not as it must be, and never its value: it may be a secret. */
export function badArguments(action: OperationAction, error: z.ZodError): SimlockError {
  const issues = error.issues.slice(0, 5).map((issue) => {
    const path = issue.path.map(String).join(".");
    return path === "" ? issue.message : `${path}: ${issue.message}`;
  });
  return new SimlockError("STATE_INVALID", `The arguments of ${action} are refused: ${issues.join("; ")}.`, {
    details: { action },
  });
}
