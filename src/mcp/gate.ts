import { faultOf, isObject } from "./params.ts";
import { LEGACY_VERSIONS, MODERN_VERSION, type Era, type LegacyVersion } from "./versions.ts";

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

const SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo";

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;
const UNSUPPORTED_VERSION = -32022;

const MAX_ID_CHARACTERS = 1000;
const MAX_ECHO_CHARACTERS = 100;

export type Id = string | number;
type Params = Readonly<Record<string, unknown>>;

export interface Request {
  readonly jsonrpc: "2.0";
  readonly id: Id;
  readonly method: string;
  readonly params?: Params;
}
export interface Notification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: Params;
}
export type Reply = { readonly jsonrpc: "2.0"; readonly id: Id | null } & (
  | { readonly result: object }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: object } }
);

/** An answer of the client to what a server asked it. */
export type ClientAnswer = { readonly jsonrpc: "2.0"; readonly id: Id } & (
  { readonly result: Params } | { readonly error: { readonly code: number; readonly message: string } }
);

/** What becomes of one line: it goes to the server of an era, it is answered here, or nobody is told. */
export type Verdict =
  | { readonly kind: "deliver"; readonly era: Era; readonly message: Request | Notification }
  | { readonly kind: "answered"; readonly message: ClientAnswer }
  | { readonly kind: "answer"; readonly reply: Reply }
  | { readonly kind: "drop" };

type Opening =
  /** Nothing has been settled; `discovered`: the client has asked what we speak in the modern way. */
  | { readonly kind: "open"; readonly discovered: boolean }
  | { readonly kind: "modern" }
  | { readonly kind: "legacy"; readonly version: LegacyVersion };

const DROP: Verdict = { kind: "drop" };
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Stands before the servers on stdio and is as strict as the protocol: it answers what the SDK passes over in silence (garbage, batches,
 * lines that are not JSON-RPC), refuses versions that we do not speak, and lets the opening exchange settle the era of the connection. Holds
 * no stream and no timer: a line goes in, a verdict comes out.
 */
export class Gate {
  #opening: Opening = { kind: "open", discovered: false };
  readonly #pingVersion: string | undefined;

  /** `pingVersion`: our own version, for answering `ping` in the era that has none; without it, the server says that it knows no such method. */
  constructor(pingVersion?: string) {
    this.#pingVersion = pingVersion;
  }

  /** `null` is a line that was too long to be kept. */
  judge(line: Buffer | null): Verdict {
    if (line === null) return refuse(null, INVALID_REQUEST, "Invalid Request: the message is too long");
    let message: unknown;
    try {
      message = JSON.parse(utf8.decode(line));
    } catch {
      return refuse(null, PARSE_ERROR, "Parse error: each line must be one JSON object in UTF-8");
    }
    if (Array.isArray(message)) return refuse(null, INVALID_REQUEST, "Invalid Request: batches are not supported");
    if (!isObject(message)) return refuse(null, INVALID_REQUEST, "Invalid Request: not an object");
    return this.#judgeMessage(message);
  }

  #judgeMessage(message: Params): Verdict {
    const { id, method, params } = message;
    const knownId = isId(id) ? id : null;
    if (message["jsonrpc"] !== "2.0") return refuse(knownId, INVALID_REQUEST, 'Invalid Request: jsonrpc must be "2.0"');
    if (method === undefined && ("result" in message || "error" in message)) return this.#judgeAnswer(message, knownId);
    if (typeof method !== "string") return refuse(knownId, INVALID_REQUEST, "Invalid Request: method must be a string");
    if (params !== undefined && !isObject(params)) {
      // JSON-RPC knows positional parameters, MCP does not.
      if (Array.isArray(params) && knownId !== null)
        return refuse(knownId, INVALID_PARAMS, "Invalid params: not an object");
      return refuse(knownId, INVALID_REQUEST, "Invalid Request: params must be an object");
    }
    const rest = params === undefined ? {} : { params };
    if (!("id" in message)) return this.#judgeNotification({ jsonrpc: "2.0", method, ...rest });
    if (knownId === null) {
      return refuse(null, INVALID_REQUEST, "Invalid Request: id must be a string or an integer of moderate length");
    }
    return this.#judgeRequest({ jsonrpc: "2.0", id: knownId, method, ...rest });
  }

  /** Only legacy servers ask; in the modern era the answers come with the call that is made again. Whether it was asked, the server knows. */
  #judgeAnswer({ result, error }: Params, id: Id | null): Verdict {
    if (this.#opening.kind !== "legacy" || id === null) return DROP;
    if (isObject(result)) return { kind: "answered", message: { jsonrpc: "2.0", id, result } };
    if (!isObject(error) || typeof error["code"] !== "number") return DROP;
    const said = typeof error["message"] === "string" ? error["message"].slice(0, MAX_ECHO_CHARACTERS) : "";
    return { kind: "answered", message: { jsonrpc: "2.0", id, error: { code: error["code"], message: said } } };
  }

  #judgeNotification(message: Notification): Verdict {
    const claim = claimOf(message.params);
    if (faultOf(message.method, message.params ?? {}) !== undefined) return DROP;
    switch (this.#opening.kind) {
      case "legacy":
        return claim === undefined || claim === this.#opening.version ? deliver("legacy", message) : DROP;
      case "modern":
        return claim === undefined || claim === MODERN_VERSION ? deliver("modern", message) : DROP;
      case "open":
        return this.#opening.discovered && claim === MODERN_VERSION ? deliver("modern", message) : DROP;
    }
  }

  #judgeRequest(message: Request): Verdict {
    const params = message.params ?? {};
    const claim = claimOf(params);
    const fault =
      claim !== undefined && typeof claim !== "string"
        ? `_meta["${VERSION_KEY}"] must be a string`
        : faultOf(message.method, params);
    if (this.#opening.kind === "legacy") return this.#judgeLegacy(message, claim, fault, this.#opening.version);
    if (claim === undefined) return this.#judgeUnclaimed(message, fault);
    if (fault !== undefined) return refuse(message.id, INVALID_PARAMS, `Invalid params: ${fault}`);
    if (claim !== MODERN_VERSION) return unsupported(message.id, claim, [MODERN_VERSION]);
    if (!isObject(metaOf(params)?.[CAPABILITIES_KEY])) {
      return refuse(message.id, INVALID_PARAMS, `Invalid params: _meta["${CAPABILITIES_KEY}"] must be an object`);
    }
    if (message.method === "ping" && this.#pingVersion !== undefined) {
      const _meta = { [SERVER_INFO_KEY]: { name: "simlock", version: this.#pingVersion } };
      return { kind: "answer", reply: { jsonrpc: "2.0", id: message.id, result: { resultType: "complete", _meta } } };
    }
    // Asking what we speak settles nothing: a client may yet turn to initialize.
    if (this.#opening.kind === "open") {
      this.#opening = message.method === "server/discover" ? { kind: "open", discovered: true } : { kind: "modern" };
    }
    return deliver("modern", message);
  }

  /** A request that names no version, on a connection that is not legacy. */
  #judgeUnclaimed(message: Request, fault: string | undefined): Verdict {
    const params = message.params ?? {};
    const pinned = this.#opening.kind !== "open";
    if (message.method === "initialize") {
      if (pinned) return unsupported(message.id, params["protocolVersion"], [MODERN_VERSION]);
      if (fault !== undefined) return refuse(message.id, INVALID_PARAMS, `Invalid params: ${fault}`);
      this.#opening = { kind: "legacy", version: negotiated(params["protocolVersion"]) };
      return deliver("legacy", message);
    }
    const settled = this.#opening.kind !== "open" || this.#opening.discovered;
    // The legacy revisions allow a ping, and nothing else, before initialize.
    if (message.method === "ping" && !settled) {
      return { kind: "answer", reply: { jsonrpc: "2.0", id: message.id, result: {} } };
    }
    const missing = `_meta["${VERSION_KEY}"] is missing`;
    const why = settled ? missing : `${missing}, and initialize has not been sent`;
    return refuse(message.id, INVALID_PARAMS, `Invalid params: ${why}`);
  }

  #judgeLegacy(message: Request, claim: unknown, fault: string | undefined, version: LegacyVersion): Verdict {
    if (fault !== undefined) return refuse(message.id, INVALID_PARAMS, `Invalid params: ${fault}`);
    if (claim !== undefined && claim !== version) return unsupported(message.id, claim, [version]);
    if (message.method === "initialize") {
      return refuse(message.id, INVALID_REQUEST, "Invalid Request: the connection is already initialized");
    }
    return deliver("legacy", message);
  }
}

export function refuse(id: Id | null, code: number, message: string, data?: object): Verdict & { kind: "answer" } {
  const error = data === undefined ? { code, message } : { code, message, data };
  return { kind: "answer", reply: { jsonrpc: "2.0", id, error } };
}

function unsupported(id: Id, claimed: unknown, supported: readonly string[]): Verdict {
  const requested = typeof claimed === "string" ? claimed.slice(0, MAX_ECHO_CHARACTERS) : "unknown";
  return refuse(id, UNSUPPORTED_VERSION, `Unsupported protocol version: ${requested}`, {
    supported,
    requested,
    // What clients of before the revision look for: all that this process speaks.
    supportedVersions: [MODERN_VERSION, ...LEGACY_VERSIONS],
  });
}

const deliver = (era: Era, message: Request | Notification): Verdict => ({ kind: "deliver", era, message });

const isId = (id: unknown): id is Id =>
  (typeof id === "string" && id.length <= MAX_ID_CHARACTERS) || Number.isSafeInteger(id);

function metaOf(params: Params | undefined): Params | undefined {
  const meta = params?.["_meta"];
  return isObject(meta) ? meta : undefined;
}

/** The version that a message says it speaks. */
const claimOf = (params: Params | undefined): unknown => metaOf(params)?.[VERSION_KEY];

/** What `initialize` is answered with: the version asked for, where we speak it, else our newest. */
function negotiated(asked: unknown): LegacyVersion {
  return LEGACY_VERSIONS.find((version) => version === asked) ?? LEGACY_VERSIONS[0];
}
