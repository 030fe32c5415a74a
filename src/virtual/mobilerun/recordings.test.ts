import { PNG } from "pngjs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endpoints as e } from "../../cloud/index.ts";
import { KEY, readyDevice, virtualCloud } from "./mobilerun.fixture.ts";

let cloud: Awaited<ReturnType<typeof virtualCloud>>;
beforeAll(async () => {
  cloud = await virtualCloud();
});
afterAll(() => cloud.close());

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const END = Buffer.from("IEND");

/** The pictures in a movie, in their order. */
function pictures(movie: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = movie.indexOf(SIGNATURE); at >= 0; at = movie.indexOf(SIGNATURE, at + 1))
    found.push(movie.subarray(at, movie.indexOf(END, at) + 8));
  return found;
}

const bytesOf = async (endpoint: typeof e.recordings.video | typeof e.recordings.trajectory, path: Recorded) =>
  Buffer.from((await cloud.api.call(endpoint, { path })).bytes);
type Recorded = { deviceId: string; recordingId: string };

async function start(types?: string[]) {
  const device = await readyDevice(cloud);
  const body = types === undefined ? {} : { types };
  const { id: recordingId } = await cloud.api.call(e.recordings.start, { path: device, body });
  return { device, path: { ...device, recordingId } };
}

test("a recording is a movie of the screens that were seen, in their order, and tells what was done", async () => {
  const { api, clock } = cloud;
  const { device, path } = await start();
  const see = async () => Buffer.from((await api.call(e.screen.screenshot, { path: device })).bytes);
  const home = await see();
  clock.advance(1000);
  await api.call(e.deviceApps.start, { path: { ...device, packageName: "com.android.settings" }, body: {} });
  await api.call(e.screen.tap, { path: device, body: { x: 500, y: 350 } });
  clock.advance(1000);
  await api.call(e.screen.type, { path: device, body: { text: "s3cret" } });
  const typed = await see();
  clock.advance(1000);
  await expect(api.call(e.recordings.video, { path })).rejects.toMatchObject({ code: "conflict" });
  const { video, actions, status } = await api.call(e.recordings.stop, { path });
  const { bytes, contentType: type } = await api.call(e.recordings.video, { path });
  const movie = Buffer.from(bytes);
  expect({ status, actions, type }).toEqual({ status: "completed", actions: 3, type: "video/quicktime" });
  expect(video).toMatchObject({ durationMs: 3000, format: "mov", sizeBytes: movie.length, limited: false });
  expect(movie.toString("latin1", 4, 12)).toBe("ftypqt  ");
  const seen = pictures(movie);
  expect(seen).toHaveLength(4);
  expect([seen[0]?.equals(home), seen[3]?.equals(typed)]).toEqual([true, true]);
  expect(PNG.sync.read(seen[1] ?? Buffer.alloc(0))).toMatchObject({ width: 1080, height: 2340 });
  const trajectory = await bytesOf(e.recordings.trajectory, path);
  expect(JSON.parse(trajectory.toString())).toEqual({
    recordingId: path.recordingId,
    actions: [
      { at: 1000, action: "deviceApps.start", params: {} },
      { at: 1000, action: "screen.tap", params: { x: 500, y: 350 } },
      { at: 2000, action: "screen.type", params: null },
    ],
  });
});

test("a recording has the kinds that were asked for, and no other", async () => {
  const filmed = await start(["video"]);
  await cloud.api.call(e.screen.tap, { path: filmed.device, body: { x: 1, y: 1 } });
  expect((await cloud.api.call(e.recordings.stop, { path: filmed.path })).actions).toBe(0);
  await expect(bytesOf(e.recordings.trajectory, filmed.path)).rejects.toMatchObject({ code: "not_found" });
  const written = await start(["trajectory"]);
  expect((await cloud.api.call(e.recordings.stop, { path: written.path })).video).toBeNull();
  await expect(bytesOf(e.recordings.video, written.path)).rejects.toMatchObject({ code: "not_found" });
});

test("a recording sees a limited number of screens, says so, and is gone when its time is over", async () => {
  const { api, clock } = cloud;
  const { device, path } = await start();
  await api.call(e.deviceApps.openDeepLink, { path: device, body: { deepLink: "https://a.test/" } });
  for (let at = 0; at < 60; at += 1)
    await api.call(e.deviceApps.openDeepLink, { path: device, body: { deepLink: `https://a.test/${at}` } });
  const { video, expiresAt } = await api.call(e.recordings.stop, { path });
  expect(video).toMatchObject({ limited: true, limitReason: "frames" });
  expect(pictures(await bytesOf(e.recordings.video, path))).toHaveLength(60);
  clock.advance(Date.parse(expiresAt ?? "") - clock.now());
  await expect(api.call(e.recordings.get, { path })).rejects.toMatchObject({ code: "not_found" });
});

test("one key has a limited number of recordings, and may delete some for more", async () => {
  const api = cloud.client("dr_sk_collector");
  const path = await readyDevice({ api, clock: cloud.clock });
  const record = () => api.call(e.recordings.start, { path, body: { types: [] } });
  const made: string[] = [];
  for (let count = 0; count < 20; count += 1) {
    const { id: recordingId } = await record();
    made.push(recordingId);
    await api.call(e.recordings.stop, { path: { ...path, recordingId } });
  }
  await expect(record()).rejects.toMatchObject({ code: "conflict" });
  await api.call(e.recordings.remove, { path: { ...path, recordingId: made[0] ?? "" } });
  expect((await record()).status).toBe("recording");
});

test("what a task saw is served where its links say, to whoever has the link and to nobody else", async () => {
  const { api, clock } = cloud;
  const { deviceId } = await readyDevice(cloud);
  const { id: taskId } = await api.call(e.tasks.run, { body: { deviceId, task: "Look" } });
  clock.advance(10_000);
  const { urls } = await api.call(e.tasks.screenshots, { path: { taskId } });
  const { trajectory } = await api.call(e.tasks.trajectory, { path: { taskId } });
  const told = (trajectory ?? []).filter(({ event }) => event === "ScreenshotEvent");
  expect(told.map(({ data }) => (data as { url: string }).url)).toEqual(urls);
  const { url } = await api.call(e.tasks.uiState, { path: { taskId, index: "2" } });
  const [picture, tree] = await Promise.all([fetch(urls?.[0] ?? ""), fetch(url ?? "")]);
  expect([picture.headers.get("content-type"), tree.headers.get("content-type")]).toEqual([
    "image/png",
    "application/json",
  ]);
  expect(PNG.sync.read(Buffer.from(await picture.arrayBuffer()))).toMatchObject({ width: 1080, height: 2340 });
  // The client leaves out what its schema does not name.
  expect(await tree.json()).toMatchObject({ ...(await api.call(e.screen.uiState, { path: { deviceId } })) });

  const unsigned = new URL(urls?.[0] ?? "");
  unsigned.search = "";
  const other = new URL(urls?.[0] ?? "");
  other.pathname = other.pathname.replace("/s/0", "/s/1");
  for (const wrong of [unsigned, other]) {
    const response = await fetch(wrong, { headers: { authorization: `Bearer ${KEY}` } });
    expect([wrong.href, response.status]).toEqual([wrong.href, 404]);
    expect(await response.json()).toMatchObject({ status: 404 });
  }
  expect((await fetch(urls?.[0] ?? "", { method: "DELETE" })).status).toBe(405);
});
