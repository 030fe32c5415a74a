import { SimlockError } from "../../contract/index.ts";
import { AdbError } from "./adb-socket.ts";

/** What the door says of a failure between us and the adb server. Anything else passes as it is. */
export function adbFailure(error: unknown, port: number): unknown {
  if (!(error instanceof AdbError)) return error;
  if (error.kind === "no-server") {
    return new SimlockError("TOOL_FAILED", `No adb server listens on 127.0.0.1:${port}.`, {
      hint: `Run \`adb -P ${port} start-server\`.`,
      cause: error,
    });
  }
  return new SimlockError("TOOL_FAILED", `The adb server on 127.0.0.1:${port} failed: ${error.message}.`, {
    hint: "See what `adb devices -l` says.",
    cause: error,
  });
}

/** The same for work on one device: whatever went wrong, it can't be used now. */
export function deviceFailure(error: unknown, serial: string): unknown {
  if (!(error instanceof AdbError)) return error;
  return new SimlockError("DEVICE_UNAVAILABLE", `The device ${serial} can't be used now: ${error.message}.`, {
    hint: "Reconnect it, and see what `simlock device list` says.",
    cause: error,
  });
}
