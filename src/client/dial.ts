import { connect, type Socket } from "node:net";
import { MAX_SOCKET_PATH_BYTES, SimlockError } from "../contract/index.ts";

/**
 * Opens the socket. `DAEMON_UNREACHABLE` says that nothing listens there, and only that: a caller may start a daemon then. Where something
 * listens and the connection still fails it is `FORBIDDEN` (no permission) or `DAEMON_CONNECTION_LOST`.
 */
export async function dial(path: string, signal: AbortSignal): Promise<Socket> {
  const bytes = Buffer.byteLength(path) + 1;
  if (bytes > MAX_SOCKET_PATH_BYTES) {
    throw new SimlockError(
      "HOME_UNUSABLE",
      `The socket path is ${bytes - 1} bytes long, and a unix socket's may be ${MAX_SOCKET_PATH_BYTES - 1}: ${path}`,
      { hint: "Set SIMLOCK_HOME to a folder with a shorter path." },
    );
  }
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    const aborted = (): void => {
      socket.destroy();
      reject(signal.reason);
    };
    const failed = (error: NodeJS.ErrnoException): void => {
      signal.removeEventListener("abort", aborted);
      reject(refused(path, error));
    };
    signal.addEventListener("abort", aborted, { once: true });
    socket.once("error", failed);
    socket.once("connect", () => {
      signal.removeEventListener("abort", aborted);
      socket.off("error", failed);
      resolve(socket);
    });
  });
}

function refused(path: string, error: NodeJS.ErrnoException): SimlockError {
  const details = { socketPath: path, cause: error.code ?? "unknown" };
  switch (error.code) {
    case "ENOENT":
    case "ECONNREFUSED":
    // macOS says this of a path that is a plain file, where Linux says ECONNREFUSED.
    case "ENOTSOCK":
      return new SimlockError("DAEMON_UNREACHABLE", `No daemon listens on ${path}.`, { details, cause: error });
    case "EACCES":
    case "EPERM":
      return new SimlockError("FORBIDDEN", `The socket ${path} belongs to another user.`, {
        details,
        hint: "Use a SIMLOCK_HOME of your own, or run as the user who owns this one.",
        cause: error,
      });
    default:
      return new SimlockError("DAEMON_CONNECTION_LOST", `The socket ${path} can't be connected to: ${error.message}`, {
        details,
        cause: error,
      });
  }
}
