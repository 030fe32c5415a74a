import { expect, test } from "vitest";
import { FakeClock } from "../test-support.ts";
import { Exchange } from "./exchange.ts";

function begun() {
  const clock = new FakeClock();
  const ends: string[] = [];
  const exchange = new Exchange({
    id: 7,
    clock,
    keepAliveMs: 15_000,
    streamTimeoutMs: 60_000,
    onEnd: () => ends.push("end"),
    onStream: () => ends.push("stream"),
  });
  return { clock, ends, exchange };
}
const progress = (at: number) => ({
  jsonrpc: "2.0" as const,
  method: "notifications/progress",
  params: { progressToken: 1, progress: at, message: "x".repeat(1000) },
});

test("an answer with nothing before it is one JSON body", async () => {
  const { exchange, ends } = begun();
  exchange.finish("{}", 404);
  expect(await exchange.reply).toEqual({ kind: "json", status: 404, body: "{}" });
  expect(ends).toEqual([]);
});

test("a reader who does not read misses progress, and neither the question nor the answer", async () => {
  const { exchange } = begun();
  for (let at = 0; at < 1000; at += 1) exchange.push(progress(at));
  exchange.push({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: {} });
  exchange.finish('{"answer":true}');
  const reply = await exchange.reply;
  if (reply.kind !== "stream") throw new Error("not a stream");
  const text = await new Response(reply.stream).text();
  expect(text.length).toBeLessThan(80_000);
  expect(text).toContain('"elicitation/create"');
  expect(text.endsWith('event: message\ndata: {"answer":true}\n\n')).toBe(true);
});

test("what happens after the end changes nothing, and leaves no timer behind", async () => {
  const { exchange, clock } = begun();
  let ended = 0;
  exchange.ended(() => (ended += 1));
  exchange.push(progress(1));
  expect(clock.pending).toBe(2);
  exchange.abandon();
  exchange.push(progress(2));
  exchange.finish("{}");
  exchange.abandon();
  expect([ended, clock.pending]).toEqual([1, 0]);
  exchange.ended(() => (ended += 1));
  expect(ended).toBe(2);
});

test("a reader who leaves ends the call", async () => {
  const { exchange, ends, clock } = begun();
  exchange.push(progress(1));
  const reply = await exchange.reply;
  if (reply.kind !== "stream") throw new Error("not a stream");
  await reply.stream.cancel();
  expect(ends).toEqual(["stream", "end"]);
  expect(clock.pending).toBe(0);
});
