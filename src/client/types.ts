import type {
  LeaseProgress,
  OperationInput,
  OperationName,
  OperationOutput,
  OutputStream,
  PushPayload,
  Role,
  StateProgress,
} from "../contract/index.ts";

export interface ConnectOptions {
  /** The daemon's unix socket. */
  readonly socketPath: string;
  /** Who calls: `claude-code:<id>`, `user:<uid>`, … Fixed for the connection. */
  readonly principal: string;
  /** The admin secret or a token; without one the caller is an agent. */
  readonly credential?: string | undefined;
  /** Which kind of home the caller means. A daemon of the other kind answers `HOME_MISMATCH`. */
  readonly virtual?: boolean | undefined;
  readonly clientVersion: string;
  /** How long connecting and `hello` may take together. 5 s by default. */
  readonly timeoutMs?: number | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface RequestLeaseOptions extends CallOptions {
  readonly onProgress?: ((progress: LeaseProgress) => void) | undefined;
}

export interface ExecOptions extends CallOptions {
  readonly onStarted?: (() => void) | undefined;
  /** Each chunk; while a returned promise is pending the command is held back. */
  readonly onOutput?: ((stream: OutputStream, chunk: string) => void | Promise<void>) | undefined;
  /** With `keepLast`: characters so far, at most once a second while output arrives. */
  readonly onActivity?: ((activity: { stdout: number; stderr: number }) => void) | undefined;
}

export interface ApplyStateOptions extends CallOptions {
  readonly onProgress?: ((progress: StateProgress) => void) | undefined;
}

/**
 * One connection to a daemon. It never reconnects and never retries: when it ends, calls in flight reject with `DAEMON_CONNECTION_LOST`,
 * `onConnectionLost` fires once, and leases stand. It does not start a daemon.
 */
export interface SimlockClient {
  readonly role: Role;
  readonly principal: string;
  readonly daemonVersion: string;
  readonly instanceId: string;
  /** Any operation of the contract by its name. Aborting the signal rejects with `CANCELLED`; the operation itself may go on. */
  call<N extends OperationName>(
    operation: N,
    input: OperationInput<N>,
    options?: CallOptions,
  ): Promise<OperationOutput<N>>;
  /** Aborted while it waits: the request is cancelled. Aborted too late: the grant that lands is released at once. Rejects with `CANCELLED`. */
  requestLease(
    input: OperationInput<"lease.request">,
    options?: RequestLeaseOptions,
  ): Promise<OperationOutput<"lease.request">>;
  /** Aborted: the command is ended (SIGINT, SIGTERM, SIGKILL) and the call rejects with `EXEC_CANCELLED`. */
  exec(input: OperationInput<"device.exec">, options?: ExecOptions): Promise<OperationOutput<"device.exec">>;
  /** Aborted: the operation under way is ended, the rest is skipped, and the report that the call answers says so. */
  applyState<N extends "state.apply" | "state.recover">(
    operation: N,
    input: OperationInput<N>,
    options?: ApplyStateOptions,
  ): Promise<OperationOutput<N>>;
  /** Each returns the end of the subscription. One lease is announced lost at most once. */
  onLeaseLost(listener: (lost: PushPayload<"lease-lost">) => void): () => void;
  onDeviceUnhealthy(listener: (push: PushPayload<"device-unhealthy">) => void): () => void;
  onDeviceRecovered(listener: (push: PushPayload<"device-recovered">) => void): () => void;
  onEvent(listener: (push: PushPayload<"event">) => void): () => void;
  onConnectionLost(listener: () => void): () => void;
  /** Ends the connection; calls in flight reject. Commands that run go on. */
  close(): Promise<void>;
}
