import type { OperationName, OperationOutput, ParsedInput, PushKind, PushPayload, Role } from "../contract/index.ts";

/** What the daemon itself answers at the door; all others go through the dispatcher. */
export type DispatchedOperation = Exclude<OperationName, "hello" | "daemon.stop">;

export type CallId = string | number;

/** The caller's side of a call: the connection it came on, or whatever stands for one. */
export interface Peer {
  readonly principal: string;
  readonly role: Role;
  /** On this machine and as this user: it may bring its own working directory. */
  readonly local: boolean;
  readonly gone: boolean;
  /** Calls back once when the peer is gone, at once when it is gone already. Returns the end of it. */
  onGone(listener: () => void): () => void;
  push<K extends PushKind>(kind: K, payload: PushPayload<K>): void;
  /** Resolves when little enough is under way to the peer, or when it is gone. Undefined when that is so already. */
  room(): Promise<void> | undefined;
}

/** One call of one operation. */
export interface Call {
  readonly id: CallId;
  readonly peer: Peer;
}

export type Handler<N extends DispatchedOperation> = (
  input: ParsedInput<N>,
  call: Call,
) => Promise<OperationOutput<N>> | OperationOutput<N>;

export type Handlers = { readonly [N in DispatchedOperation]: Handler<N> };
