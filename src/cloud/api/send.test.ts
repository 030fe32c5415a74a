import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { endpoints } from "./endpoints.ts";
import { cloudAt, sendJson } from "./loopback.fixture.ts";
import { letGo, readBytes } from "./read-answer.ts";
import { sendOverHttp } from "./send.ts";

const { deviceFiles, devices, screen } = endpoints;
const path = { deviceId: "dev-1" };
const tap = { path, body: { x: 1, y: 1 } };
const DEVICE = JSON.stringify({ id: "dev-1" });

test("an answer may come compressed, in the ways that were offered", async () => {
  await using cloud = await cloudAt(({ headers }, response, attempt) => {
    expect(headers["accept-encoding"]).toBe("gzip, br");
    const [encoding, body] = attempt === 1 ? ["gzip", gzipSync(DEVICE)] : ["br", brotliCompressSync(DEVICE)];
    response.writeHead(200, { "content-type": "application/json", "content-encoding": encoding }).end(body);
  });
  for (const _ of ["gzip", "br"]) expect(await cloud.api.call(devices.get, { path })).toEqual({ id: "dev-1" });
});

test("what is small compressed and large inside is cut off at the limit", async () => {
  const bomb = gzipSync(Buffer.alloc(20_000_000, 32));
  await using cloud = await cloudAt(
    (_, response) =>
      response
        .writeHead(200, {
          "content-type": "application/json",
          "content-encoding": "gzip",
          "content-length": bomb.length,
        })
        .end(bomb),
    { limits: { maxJsonBytes: 1_000_000 } },
  );
  await expect(cloud.api.call(devices.get, { path })).rejects.toThrow("answered with more than 1000000 bytes");
});

test("an encoding that was not offered is an error of the API, and a broken one a failed connection", async () => {
  await using cloud = await cloudAt((request, response) => {
    const encoding = request.method === "GET" ? "gzip" : "zstd";
    response.writeHead(200, { "content-type": "application/json", "content-encoding": encoding });
    response.end("not compressed at all");
  });
  await expect(cloud.api.call(screen.tap, tap)).rejects.toMatchObject({
    code: "upstream_error",
    message: "screen.tap: Mobilerun answered in an encoding that was not asked for.",
    mayHaveHappened: true,
  });
  expect(cloud.received).toHaveLength(1);
  await expect(cloud.api.call(devices.get, { path })).rejects.toThrow("the connection to Mobilerun failed");
  expect(cloud.received).toHaveLength(4);
});

test("a connection serves call after call, though nobody wanted the body of an answer", async () => {
  const connections = new Set<number | undefined>();
  await using cloud = await cloudAt((request, response) => {
    connections.add(response.socket?.remotePort);
    const { pathname } = new URL(request.url, "http://x");
    if (pathname.endsWith("/tap")) sendJson(response, 200, { done: true }, { "content-length": "13" });
    else if (pathname.endsWith("/reboot")) response.writeHead(204).end();
    else if (pathname.endsWith("/near")) response.writeHead(307, { location: "here", "content-length": "0" }).end();
    else if (pathname.endsWith("/gone"))
      response.writeHead(404, { "content-type": "text/html", "content-length": "4" }).end("gone");
    else sendJson(response, 200, { id: "dev-1" });
  });
  for (let round = 0; round < 2; round += 1) {
    await cloud.api.call(screen.tap, tap);
    await cloud.api.call(devices.reboot, { path });
    await cloud.api.call(devices.get, { path: { deviceId: "near" } });
    await expect(cloud.api.call(devices.get, { path: { deviceId: "gone" } })).rejects.toMatchObject({ status: 404 });
  }
  expect(cloud.received).toHaveLength(10);
  // What follows a redirect leaves before the redirect's own connection is free again.
  expect(connections.size).toBeLessThanOrEqual(2);
});

test("a body that nobody wanted and that does not end holds nobody up", async () => {
  const closed = Promise.withResolvers<void>();
  await using cloud = await cloudAt((_, response) => {
    response.on("close", () => closed.resolve());
    response.writeHead(200).write("never ");
  });
  await cloud.api.call(screen.tap, tap);
  await closed.promise;
});

test("an answer without a body is one, whatever encoding it claims", async () => {
  await using cloud = await cloudAt((request, response) => {
    response.writeHead(request.method === "HEAD" ? 200 : 204, { "content-encoding": "gzip" }).end();
  });
  for (const method of ["HEAD", "POST"]) {
    const { signal } = new AbortController();
    const answer = await sendOverHttp({ url: new URL(cloud.origin), method, headers: {}, body: undefined, signal });
    expect(await readBytes(answer, 10)).toHaveLength(0);
  }
  await cloud.api.call(screen.tap, tap);
});

test("a body that nobody wanted may be broken, and breaks nothing else", async () => {
  const cut = gzipSync(DEVICE).subarray(0, -4);
  await using cloud = await cloudAt((_, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip", "content-length": cut.length });
    response.end(cut);
  });
  const { signal } = new AbortController();
  const answer = await sendOverHttp({
    url: new URL(cloud.origin),
    method: "GET",
    headers: {},
    body: undefined,
    signal,
  });
  // Not with `once`: it would hear the error that nobody else does.
  const closed = new Promise((resolve) => answer.body.on("close", resolve));
  letGo(answer);
  await closed;
  await cloud.api.call(screen.tap, tap);
});

test("a body says its length, whatever the method", async () => {
  await using cloud = await cloudAt((_, response) => response.writeHead(200).end());
  const bytes = Uint8Array.of(1, 2, 3);
  await cloud.api.call(deviceFiles.upload, { path, query: { path: "/sdcard" }, body: { name: "a.bin", bytes } });
  await cloud.api.call(devices.terminate, { path });
  for (const { headers, body } of cloud.received) expect(headers["content-length"]).toBe(String(body.length));
});
