import type { AnswerOf, BinaryAnswer, CallOptions, RequestArgument, StreamedEvent } from "./call-types.ts";
import { CloudError, codeOfStatus } from "./cloud-error.ts";
import { startDeadline, type Deadline } from "./deadline.ts";
import type { Endpoint } from "./endpoint.ts";
import { readEvents } from "./event-stream.ts";
import { DEFAULT_LIMITS, type CloudLimits } from "./limits.ts";
import {
  BadAnswer,
  checkShape,
  contentType,
  type HttpAnswer,
  isJson,
  jsonOf,
  letGo,
  readBytes,
  readJson,
} from "./read-answer.ts";
import { checkedRequest, type CheckedRequest, type LooseRequest } from "./checked-request.ts";
import { checkedBaseUrl } from "./request-url.ts";
import { delayBeforeRetry, readRetryAfter, repeatable, type Failure } from "./retry.ts";
import { type Send, sendOverHttp } from "./send.ts";
import { refusalText } from "./upstream-text.ts";

export interface CloudApiOptions {
  /** With its version, as in `https://api.mobilerun.ai/v1`. */
  readonly baseUrl: string;
  readonly key: string;
  /** How a request leaves; over HTTP when it is left out. */
  readonly send?: Send | undefined;
  readonly limits?: Partial<CloudLimits> | undefined;
  /** Waits between attempts; a test looks at them instead. */
  readonly wait?: ((ms: number) => Promise<void>) | undefined;
}

export interface CloudApi {
  /**
   * Calls one endpoint of the table. What is sent is checked against its schemas first, what comes back is read through them.
   * Throws `CloudError`.
   */
  call<E extends Endpoint>(endpoint: E, ...request: RequestArgument<E>): Promise<AnswerOf<E>>;
}

/** Beyond it a refusal's body is not read. */
const MAX_REFUSAL_BYTES = 64 * 1024;
const MAX_REDIRECTS = 3;

/** A failed attempt: what it is to the caller, and what it is to the rules of repeating. */
class Attempt extends Error {
  readonly error: CloudError;
  readonly failure: Failure;
  constructor(error: CloudError, failure: Failure) {
    super(error.message);
    this.error = error;
    this.failure = failure;
  }
}

/**
 * A client of the Mobilerun API. The rules that matter here (what may be sent twice, what may be read) are none that an HTTP library would
 * know. The key is held in this closure and is part of no object, message or log.
 */
export function createCloudApi(options: CloudApiOptions): CloudApi {
  const base = checkedBaseUrl(options.baseUrl);
  const key = checkedKey(options.key);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const send = options.send ?? sendOverHttp;

  async function call(endpoint: Endpoint, request: LooseRequest & CallOptions = {}): Promise<unknown> {
    const checked = checkedRequest(base, endpoint, request);
    const deadline = startDeadline(
      request.timeoutMs ?? (endpoint.declared.answer.kind === "events" ? limits.streamMs : limits.timeoutMs),
      request.signal,
    );
    let kept = false;
    try {
      const answer = await withRetries(endpoint, checked, deadline, request);
      if (endpoint.declared.answer.kind !== "events") return answer;
      kept = true;
      return streamed(endpoint, answer as HttpAnswer, deadline);
    } finally {
      if (!kept) deadline.release();
    }
  }

  async function withRetries(
    endpoint: Endpoint,
    checked: CheckedRequest,
    deadline: Deadline,
    request: CallOptions,
  ): Promise<unknown> {
    const mayRepeat = repeatable(endpoint, checked.headers["idempotency-key"] !== undefined);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once(endpoint, checked, deadline, request);
      } catch (thrown) {
        const ended = deadline.endedBy();
        if (ended !== undefined) throw endedError(endpoint, ended);
        if (!(thrown instanceof Attempt)) throw thrown;
        const delay = mayRepeat ? delayBeforeRetry(thrown.failure, attempt, limits, Math.random()) : undefined;
        if (delay === undefined || delay >= deadline.remainingMs()) throw thrown.error;
        try {
          await (options.wait?.(delay) ?? deadline.wait(delay));
        } catch {
          throw endedError(endpoint, deadline.endedBy() ?? "time");
        }
      }
    }
  }

  async function once(
    endpoint: Endpoint,
    checked: CheckedRequest,
    deadline: Deadline,
    request: CallOptions,
  ): Promise<unknown> {
    try {
      const answer = await follow(endpoint, checked, deadline.signal, request.traceparent);
      if (answer.status < 200 || answer.status > 299) throw await refused(endpoint, answer);
      return await read(endpoint, answer, request);
    } catch (thrown) {
      if (thrown instanceof Attempt) throw thrown;
      const wrote = writes(endpoint);
      if (thrown instanceof BadAnswer) {
        const error = new CloudError("upstream_error", `${endpoint.name}: Mobilerun ${thrown.message}.`, {
          mayHaveHappened: wrote,
        });
        throw new Attempt(error, { kind: "answer" });
      }
      // The cause names addresses and nothing a caller could act on; it may hold headers.
      const error = new CloudError("upstream_error", `${endpoint.name}: the connection to Mobilerun failed.`, {
        mayHaveHappened: wrote,
        ...(wrote ? {} : { hint: "Check the network and the base URL, then try again." }),
      });
      throw new Attempt(error, { kind: "connection" });
    }
  }

  /** Reads follow redirects within the API's own origin; the key is never taken elsewhere, and a write is never sent on. */
  async function follow(
    endpoint: Endpoint,
    checked: CheckedRequest,
    signal: AbortSignal,
    traceparent: string | undefined,
  ): Promise<HttpAnswer> {
    const headers = {
      ...checked.headers,
      ...(traceparent === undefined ? {} : { traceparent }),
      authorization: `Bearer ${key}`,
    };
    let url = checked.url;
    for (let hops = 0; ; hops += 1) {
      const answer = await send({ url, method: endpoint.method, headers, body: checked.body, signal });
      const location = answer.status >= 300 && answer.status < 400 ? answer.headers.location : undefined;
      if (location === undefined) return answer;
      letGo(answer);
      const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
      if (endpoint.method !== "GET" || next?.origin !== base.origin) {
        throw new BadAnswer(
          endpoint.method === "GET"
            ? "redirected to another origin, which is not followed"
            : "redirected a write, which is not followed",
        );
      }
      if (hops === MAX_REDIRECTS) throw new BadAnswer(`redirected more than ${MAX_REDIRECTS} times`);
      url = next;
    }
  }

  async function read(endpoint: Endpoint, answer: HttpAnswer, request: CallOptions): Promise<unknown> {
    const declared = endpoint.declared.answer;
    switch (declared.kind) {
      case "json":
        return checkShape(endpoint, await readJson(answer, request.maxBytes ?? limits.maxJsonBytes));
      case "binary":
        return binary(answer, declared.types, request.maxBytes ?? limits.maxBinaryBytes);
      case "events":
        if (contentType(answer) === "text/event-stream") return answer;
        letGo(answer);
        throw new BadAnswer("answered with no stream of events");
      case "empty":
        // A page comes from a proxy on the way: what was asked for may never have arrived.
        if (contentType(answer) === "text/html" && (await readBytes(answer, limits.maxJsonBytes)).length > 0) {
          throw new BadAnswer("answered with text/html instead of nothing");
        }
        letGo(answer);
        return undefined;
    }
  }

  async function refused(endpoint: Endpoint, answer: HttpAnswer): Promise<Attempt> {
    const { status } = answer;
    const retryAfterMs = readRetryAfter(answer.headers["retry-after"], Date.now());
    const said = refusalText(await refusalBody(answer), key);
    const mayHaveHappened = writes(endpoint) && (status >= 500 || status === 408);
    const error = new CloudError(
      status < 400 ? "upstream_error" : codeOfStatus(status),
      `${endpoint.name}: Mobilerun answered ${status}${said === undefined ? "." : `: ${said}`}`,
      { status, retryAfterMs, mayHaveHappened, ...waitHint(status, retryAfterMs), ...pathHint(endpoint, status) },
    );
    return new Attempt(error, { kind: "status", status, retryAfterMs });
  }

  async function* streamed(endpoint: Endpoint, answer: HttpAnswer, deadline: Deadline): AsyncGenerator<StreamedEvent> {
    try {
      yield* readEvents(answer.body, limits.maxEventBytes);
    } catch (thrown) {
      const ended = deadline.endedBy();
      if (ended !== undefined) throw endedError(endpoint, ended);
      const why = thrown instanceof BadAnswer ? thrown.message : "broke off its stream of events";
      throw new CloudError("upstream_error", `${endpoint.name}: Mobilerun ${why}.`, {
        mayHaveHappened: writes(endpoint),
      });
    } finally {
      deadline.release();
    }
  }

  return { call: (endpoint, ...[request]) => call(endpoint, request) as Promise<never> };
}

function checkedKey(key: string): string {
  if (/^[\x21-\x7e]{1,512}$/.test(key)) return key;
  throw new CloudError(
    "invalid_input",
    "The API key is empty, too long, or holds blanks or other characters no key has.",
    {
      hint: "Copy the key again; it begins with dr_sk_.",
    },
  );
}

function endedError(endpoint: Endpoint, by: "caller" | "time"): CloudError {
  const mayHaveHappened = writes(endpoint);
  return by === "caller"
    ? new CloudError("cancelled", `${endpoint.name} was cancelled.`, { mayHaveHappened })
    : new CloudError("timeout", `${endpoint.name}: Mobilerun did not answer in time.`, { mayHaveHappened });
}

function writes(endpoint: Endpoint): boolean {
  return !endpoint.effects.every((effect) => effect === "read");
}

/** Where a call names nothing, nothing but the address can be wrong. */
function pathHint({ path }: Endpoint, status: number): { hint?: string } {
  return status === 404 && !path.includes("{") ? { hint: "Check the base URL: there is no such path there." } : {};
}

function waitHint(status: number, retryAfterMs: number | undefined): { hint?: string } {
  if (status !== 429 && status !== 503) return {};
  if (retryAfterMs === undefined) return status === 429 ? { hint: "Wait a while, then try again." } : {};
  return { hint: `Try again in ${Math.ceil(retryAfterMs / 1000)} s.` };
}

async function binary(answer: HttpAnswer, types: readonly string[], maxBytes: number): Promise<BinaryAnswer> {
  const type = contentType(answer);
  if (types.length > 0 && !types.some((begin) => type.startsWith(begin))) {
    letGo(answer);
    throw new BadAnswer(`answered with ${type === "" ? "no content type" : type.slice(0, 80)} instead of ${types[0]}…`);
  }
  return { bytes: await readBytes(answer, maxBytes), contentType: type === "" ? "application/octet-stream" : type };
}

/** The JSON of a refusal, or nothing: a body that is too long, broken or of another type says nothing that we would repeat. */
async function refusalBody(answer: HttpAnswer): Promise<unknown> {
  if (!isJson(contentType(answer))) {
    letGo(answer);
    return undefined;
  }
  try {
    return jsonOf(await readBytes(answer, MAX_REFUSAL_BYTES));
  } catch {
    return undefined;
  }
}
