import {
  badRequest,
  OPERATIONS,
  PROTOCOL_RANGE,
  PROTOCOL_VERSION,
  SimlockError,
  type OperationOutput,
  type Role,
} from "../contract/index.ts";

export interface HelloPorts {
  readonly version: string;
  readonly instanceId: string;
  readonly virtual: boolean;
  readonly verifyAdmin: (credential: string) => boolean;
}

export type Greeting =
  | {
      readonly kind: "welcome";
      readonly principal: string | undefined;
      readonly role: Role;
      readonly output: (principal: string) => OperationOutput<"hello">;
    }
  /** Stays open, so that an admin can still stop a daemon of another version. */
  | {
      readonly kind: "other-version";
      readonly principal: string | undefined;
      readonly role: Role;
      readonly error: SimlockError;
    }
  | { readonly kind: "refused"; readonly error: SimlockError };

/** What a connection's first frame is answered with. The credential is checked before the versions. */
export function greet(payload: unknown, ports: HelloPorts): Greeting {
  const parsed = OPERATIONS.hello.input.safeParse(payload ?? {});
  if (!parsed.success) return { kind: "refused", error: badRequest(parsed.error) };
  const hello = parsed.data;
  if (hello.credential !== undefined && !ports.verifyAdmin(hello.credential)) {
    return {
      kind: "refused",
      error: new SimlockError("ADMIN_AUTHENTICATION_FAILED", "The credential is not this daemon's.", {
        hint: "The admin secret is made anew at each start: read the home's admin.token again.",
      }),
    };
  }
  const role: Role = hello.credential === undefined ? "agent" : "admin";
  if (hello.virtual !== undefined && hello.virtual !== ports.virtual) {
    const [is, asked] = ports.virtual ? ["virtual", "real"] : ["real", "virtual"];
    return {
      kind: "refused",
      error: new SimlockError("HOME_MISMATCH", `This daemon's home is ${is}, and a ${asked} one was asked for.`, {
        hint: ports.virtual
          ? "Add --virtual (or SIMLOCK_VIRTUAL=1), or set SIMLOCK_HOME to another folder."
          : "Leave out --virtual and SIMLOCK_VIRTUAL, or set SIMLOCK_HOME to another folder.",
      }),
    };
  }
  const client = hello.protocolRange ?? { min: hello.protocolVersion ?? 0, max: hello.protocolVersion ?? 0 };
  const agreed = Math.min(client.max, PROTOCOL_RANGE.max);
  if (agreed < Math.max(client.min, PROTOCOL_RANGE.min)) {
    return {
      kind: "other-version",
      principal: hello.principal,
      role,
      error: new SimlockError(
        "PROTOCOL_VERSION_UNSUPPORTED",
        `The client speaks protocol ${client.min} to ${client.max}, this daemon (${ports.version}) ${PROTOCOL_RANGE.min} to ${PROTOCOL_RANGE.max}.`,
        { details: { client, daemon: PROTOCOL_RANGE, daemonVersion: ports.version } },
      ),
    };
  }
  return {
    kind: "welcome",
    principal: hello.principal,
    role,
    output: (principal) => ({
      protocolVersion: Math.min(agreed, PROTOCOL_VERSION),
      daemonProtocolRange: { ...PROTOCOL_RANGE },
      version: ports.version,
      role,
      principal,
      instanceId: ports.instanceId,
      virtual: ports.virtual,
    }),
  };
}
