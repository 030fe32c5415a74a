import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { CloudError } from "./cloud-error.ts";
import { endpoints } from "./endpoints.ts";
import type { CloudApi } from "./create-cloud-api.ts";
import type { CallOptions } from "./call-types.ts";
import { KEY, cloudAt } from "./loopback.fixture.ts";

/** Everything that can go wrong with an answer, for a call of every kind: what the caller is told, and how often the platform was asked. */

const { devices, deviceFiles, screen, tasks } = endpoints;
const path = { deviceId: "dev-1" };
const task = { deviceId: "dev-1", task: "Open Notes" };
const GOOD = { json: "application/json", picture: "image/png", events: "text/event-stream", nothing: "" };

interface Kind {
  readonly call: (api: CloudApi, options: CallOptions) => Promise<unknown>;
  readonly answer: keyof typeof GOOD;
  /** How often it is sent where a failure may pass by itself. */
  readonly tries: 1 | 3;
  readonly writes: boolean;
}

async function drained(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

const KINDS: Readonly<Record<string, Kind>> = {
  "a read": {
    call: (api, options) => api.call(devices.get, { path, ...options }),
    answer: "json",
    tries: 3,
    writes: false,
  },
  "a read that is held until a device is ready": {
    call: (api, options) => api.call(devices.waitReady, { path, ...options }),
    answer: "json",
    tries: 1,
    writes: false,
  },
  "a picture": {
    call: (api, options) => api.call(screen.screenshot, { path, ...options }),
    answer: "picture",
    tries: 3,
    writes: false,
  },
  "a stream of events": {
    call: async (api, options) => drained(await api.call(tasks.attach, { path: { taskId: "t" }, ...options })),
    answer: "events",
    tries: 3,
    writes: false,
  },
  "a write with an idempotency key": {
    call: (api, options) => api.call(tasks.run, { body: task, headers: { idempotencyKey: "once" }, ...options }),
    answer: "json",
    tries: 3,
    writes: true,
  },
  "a billed create": {
    call: (api, options) => api.call(devices.create, { body: { name: "bench" }, ...options }),
    answer: "json",
    tries: 1,
    writes: true,
  },
  "a tap": {
    call: (api, options) => api.call(screen.tap, { path, body: { x: 1, y: 2 }, ...options }),
    answer: "nothing",
    tries: 1,
    writes: true,
  },
  "a terminate": {
    call: (api, options) => api.call(devices.terminate, { path, ...options }),
    answer: "nothing",
    tries: 1,
    writes: true,
  },
  "an upload": {
    call: (api, options) => {
      const body = { name: "a.bin", bytes: Uint8Array.of(0, 255) };
      return api.call(deviceFiles.upload, { path, query: { path: "/sdcard" }, body, ...options });
    },
    answer: "nothing",
    tries: 1,
    writes: true,
  },
  "a billed task that is streamed": {
    call: async (api, options) => drained(await api.call(tasks.stream, { body: task, ...options })),
    answer: "events",
    tries: 1,
    writes: true,
  },
};

/** What becomes of a call: an error with these fields, or `done` where the answer's body tells nothing that is needed. */
type Told = { readonly error: object } | "done";
interface Fault {
  readonly befall: (response: ServerResponse, kind: Kind) => void;
  readonly sent: (kind: Kind) => number;
  readonly told: (kind: Kind) => Told;
  readonly waited?: number;
}

const once = () => 1;
const asOftenAsMayBe = ({ tries }: Kind) => tries;
const error = (fields: object): Told => ({ error: { retryAfterMs: undefined, status: undefined, ...fields } });
const upstream = (message: string, mayHaveHappened: boolean): Told =>
  error({ code: "upstream_error", message: expect.stringContaining(message), mayHaveHappened });

function answer(response: ServerResponse, status: number, type: string, body: string, more: object = {}): void {
  response.writeHead(status, { ...(type === "" ? {} : { "content-type": type }), ...more }).end(body);
}

const LIMIT = 2000;
const PAGE = "<html><body>Sign in to the network</body></html>";

const FAULTS: Readonly<Record<string, Fault>> = {
  "a failure of the platform": {
    befall: (response) => answer(response, 503, "application/json", '{"message":"busy"}'),
    sent: asOftenAsMayBe,
    told: ({ writes }) =>
      error({
        code: "upstream_error",
        status: 503,
        message: expect.stringMatching(/ 503: busy$/),
        mayHaveHappened: writes,
      }),
  },
  "a page of a proxy with a failure": {
    befall: (response) => answer(response, 502, "text/html", PAGE),
    sent: asOftenAsMayBe,
    told: ({ writes }) =>
      error({
        code: "upstream_error",
        status: 502,
        message: expect.stringMatching(/ 502\.$/),
        mayHaveHappened: writes,
      }),
  },
  "a conflict": {
    befall: (response) => answer(response, 409, "application/json", "{}"),
    sent: once,
    told: () => error({ code: "conflict", status: 409, mayHaveHappened: false }),
  },
  "a wait that is asked for and within the limit": {
    befall: (response) => answer(response, 429, "", "", { "retry-after": "10" }),
    sent: asOftenAsMayBe,
    waited: 10_000,
    told: () => error({ code: "rate_limited", status: 429, retryAfterMs: 10_000, mayHaveHappened: false }),
  },
  "a wait that is asked for and beyond the limit": {
    befall: (response) => answer(response, 429, "", "", { "retry-after": "11" }),
    sent: once,
    told: () =>
      error({
        code: "rate_limited",
        status: 429,
        retryAfterMs: 11_000,
        hint: "Try again in 11 s.",
        mayHaveHappened: false,
      }),
  },
  "an answer that comes too late": {
    befall: () => outOfTime(),
    sent: once,
    told: ({ writes }) => error({ code: "timeout", mayHaveHappened: writes }),
  },
  "a connection that is cut before the answer": {
    befall: (response) => response.destroy(),
    sent: asOftenAsMayBe,
    told: ({ writes }) => upstream("the connection to Mobilerun failed", writes),
  },
  "a connection that is cut in the answer": {
    befall(response, kind) {
      response.writeHead(200, { "content-type": GOOD[kind.answer], "content-length": "1000" });
      response.write(kind.answer === "events" ? "data: 1\n\n" : "{", () => response.destroy());
    },
    // A stream that has begun is the caller's: what it told already would come twice.
    sent: (kind) => (kind.answer === "events" ? 1 : kind.tries),
    told({ answer: kind, writes }) {
      if (kind === "nothing") return "done";
      return upstream(kind === "events" ? "broke off its stream" : "the connection to Mobilerun failed", writes);
    },
  },
  "a page in place of the answer": {
    befall: (response) => answer(response, 200, "text/html; charset=utf-8", PAGE),
    sent: once,
    told: ({ answer: kind, writes }) => upstream(kind === "events" ? "no stream of events" : "text/html", writes),
  },
  "an answer of another type": {
    befall: (response) => answer(response, 200, "application/json", '{"id":{"secret":"s3cret"}}'),
    sent: once,
    told({ answer: kind, writes }) {
      if (kind === "nothing") return "done";
      const why = { json: "a shape that it does not have", picture: "application/json", events: "no stream of events" };
      return upstream(why[kind], writes);
    },
  },
  "an answer without end": {
    befall(response, { answer: kind }) {
      response.writeHead(200, { "content-type": GOOD[kind] });
      const more = () => {
        while (response.write("x".repeat(4 * LIMIT)));
      };
      response.on("drain", more);
      more();
    },
    sent: once,
    told: ({ answer: kind, writes }) => (kind === "nothing" ? "done" : upstream(`more than ${LIMIT} bytes`, writes)),
  },
};

/** Marks the timer that a call's time limit is. */
const TIME_LIMIT = 45_678;
let outOfTime = (): void => {};

/** Makes a call whose time is over when the test says so, and not by a clock. */
function timed(call: (options: CallOptions) => Promise<unknown>): Promise<unknown> {
  const timer = vi.spyOn(globalThis, "setTimeout");
  try {
    const pending = call({ timeoutMs: TIME_LIMIT });
    const [end, , ...given] = timer.mock.calls.find(([, ms]) => ms === TIME_LIMIT) ?? [];
    outOfTime = () => end?.(...(given as []));
    return pending;
  } finally {
    timer.mockRestore();
  }
}

let befall: (response: ServerResponse) => void;
let cloud: Awaited<ReturnType<typeof cloudAt>>;
beforeAll(async () => {
  const limits = { maxJsonBytes: LIMIT, maxBinaryBytes: LIMIT, maxEventBytes: LIMIT };
  cloud = await cloudAt((_, response) => befall(response), { limits });
});
afterAll(() => cloud[Symbol.asyncDispose]());

describe.each(Object.entries(KINDS))("%s", (_, kind) => {
  test.each(Object.entries(FAULTS))("meets %s", async (__, fault) => {
    const before = cloud.received.length;
    cloud.waited.length = 0;
    befall = (response) => fault.befall(response, kind);
    const told = await timed((options) => kind.call(cloud.api, options)).then(
      () => "done" as const,
      (thrown: unknown) => ({ error: thrown }),
    );
    const expected = fault.told(kind);
    expect(told).toEqual(expected === "done" ? "done" : { error: expect.objectContaining(expected.error) });
    if (told !== "done") {
      expect(told.error).toBeInstanceOf(CloudError);
      expect(String(told.error)).not.toMatch(new RegExp(`${KEY}|s3cret|Sign in`));
    }
    const sent = cloud.received.slice(before);
    expect(sent).toHaveLength(fault.sent(kind));
    expect(new Set(sent.map(({ headers, body }) => `${headers["idempotency-key"]} ${body}`)).size).toBe(1);
    expect(cloud.waited).toHaveLength(sent.length - 1);
    if (fault.waited !== undefined)
      expect(new Set(cloud.waited)).toEqual(new Set(sent.slice(1).map(() => fault.waited)));
  });
});
