import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { groupRuns } from "../../exec/end-group.ts";
import { UDID } from "../planning/profile.fixture.ts";
import { DeviceLock } from "./lock.ts";

const folder = mkdtempSync(join(tmpdir(), "sl-lock-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("what a killed holder left running is over when the next has the device", async () => {
  const fixture = fileURLToPath(new URL("./lock-holder.fixture.ts", import.meta.url));
  const holder = spawn(process.execPath, [fixture, UDID, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const [said] = (await once(holder.stdout, "data")) as [Buffer];
  const group = Number(said.toString("utf8"));
  const taken = DeviceLock.take(UDID, folder);
  await expect(taken).rejects.toMatchObject({
    code: "DEVICE_IN_USE",
    message: expect.stringContaining(`${holder.pid}`),
  });
  holder.kill("SIGKILL");
  await once(holder, "exit");
  expect(groupRuns(group)).toBe(true);
  const lock = await DeviceLock.take(UDID, folder);
  expect(groupRuns(group)).toBe(false);
  lock.release();
});

test("a device that was made is held too, and all of them are let go together", async () => {
  const lock = await DeviceLock.take("a", folder);
  await lock.add("b");
  await lock.add("b");
  for (const udid of ["a", "b"])
    await expect(DeviceLock.take(udid, folder)).rejects.toMatchObject({ code: "DEVICE_IN_USE" });
  lock.release();
  for (const udid of ["a", "b"]) (await DeviceLock.take(udid, folder)).release();
});
