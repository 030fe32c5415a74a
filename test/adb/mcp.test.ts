import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LeaseGrant, Status } from "../../src/contract/index.ts";
import { type McpAgent, TestHome } from "../support/virtual-home.ts";
import { describeInBed, openBed, type Bed, type BedDevice } from "./bed.ts";

/** The main job on real tools: two devices behind a real adb, one enrolled in a home that is not virtual, leased and used over MCP. */

let bed: Bed;
let mine: BedDevice;
let other: BedDevice;
let serial: string;
let otherSerial: string;
let host: TestHome;
let agent: McpAgent;

describeInBed("an attached device over MCP, with a real adb and a real adbd", () => {
  beforeAll(async () => {
    bed = await openBed();
    mine = await bed.device("mine");
    other = await bed.device("other");
    serial = await bed.connect(mine.port);
    otherSerial = await bed.connect(other.port);
    host = new TestHome({ virtual: false, config: { android: { adbServerPort: bed.serverPort } } });
    agent = await host.agent("anna");
  });
  afterAll(async () => {
    await host?.close();
    await bed?.close();
  });

  const adb = (...args: string[]) => agent.call("run_on_device", { tool: "adb", args });

  test("nothing attached serves anybody before it was enrolled", async () => {
    expect(await agent.call("lease_simulator", { platform: "android" })).toMatchObject({ code: "NO_DRIVER" });
    const listed = await host.run(["device", "list"]);
    expect(listed.stdout).toContain(serial);
    expect(listed.stdout).toContain(otherSerial);
    expect((await host.run(["device", "add", serial])).code).toBe(0);
    expect(await agent.call("lease_simulator", { platform: "android" })).toMatchObject({ code: "NO_DRIVER" });
  });

  test("is leased by who asks for a physical one, runs commands, and is told apart from its neighbour", async () => {
    const grant = (await agent.must("lease_simulator", {
      platform: "android",
      physical: true,
    })) as unknown as LeaseGrant;
    expect(grant.device).toMatchObject({ address: serial, physical: true });
    expect(grant.environment).toMatchObject({
      ANDROID_SERIAL: serial,
      ANDROID_ADB_SERVER_PORT: String(bed.serverPort),
    });
    expect((await adb("shell", "echo out; echo err >&2; exit 3")).facts).toEqual({
      exitCode: 3,
      stdout: "out\n",
      stderr: "err\n",
      truncated: false,
    });
    expect((await adb("-s", serial, "get-serialno")).facts).toMatchObject({ exitCode: 0 });
    expect(await adb("-s", otherSerial, "shell", "id")).toMatchObject({ code: "PASSTHROUGH_REFUSED" });
    expect(await adb("kill-server")).toMatchObject({ code: "PASSTHROUGH_REFUSED" });
    expect(await adb("shell")).toMatchObject({ code: "PASSTHROUGH_REFUSED" });
    const cat = await agent.must("run_on_device", { tool: "adb", args: ["shell", "cat"], stdin: "given" });
    expect(cat).toMatchObject({ exitCode: 0, stdout: "given" });
  });

  test("takes a file and gives it back", async () => {
    await writeFile(join(host.work, "a.bin"), Buffer.from([0, 255, 13, 10, 0]));
    expect((await adb("push", "a.bin", "/data/local/tmp/a.bin")).facts).toMatchObject({ exitCode: 0 });
    expect((await adb("pull", "/data/local/tmp/a.bin", "b.bin")).facts).toMatchObject({ exitCode: 0 });
    expect([...(await readFile(join(host.work, "b.bin")))]).toEqual([0, 255, 13, 10, 0]);
    expect(existsSync(join(mine.root, "data/local/tmp/a.bin"))).toBe(true);
    expect(existsSync(join(other.root, "data/local/tmp/a.bin"))).toBe(false);
  });

  test("is cleaned of its holder's files before the next one gets it", async () => {
    const { id: leaseId } = (await agent.must("lease_status")) as { id: string };
    await agent.must("release_simulator", { leaseId });
    const next = await host.agent("ben", "2026-07-28");
    const grant = (await next.must("lease_simulator", {
      platform: "android",
      physical: true,
    })) as unknown as LeaseGrant;
    expect(grant.device.address).toBe(serial);
    expect(
      await next.must("run_on_device", { tool: "adb", args: ["shell", "ls /data/local/tmp/a.bin"] }),
    ).not.toMatchObject({ exitCode: 0 });
    await next.close();
  });

  test("that goes away ends its lease; back under another serial, it serves again", async () => {
    const grant = (await agent.must("lease_simulator", {
      platform: "android",
      physical: true,
    })) as unknown as LeaseGrant;
    await bed.disconnect(serial);
    await mine.stop();
    const held = async () => {
      const status = (await host.json(["status", "--json"])) as unknown as Status;
      return status.leases?.some((lease) => lease.id === grant.lease.id) ?? true;
    };
    const limit = performance.now() + 60_000;
    while (await held()) {
      if (performance.now() > limit) throw new Error("the lease never ended");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await mine.start(mine.port + 1_000);
    const moved = await bed.connect(mine.port);
    expect(moved).not.toBe(serial);
    const again = (await agent.must("lease_simulator", {
      platform: "android",
      physical: true,
    })) as unknown as LeaseGrant;
    expect(again.device).toMatchObject({ id: grant.device.id, address: moved });
    expect((await adb("shell", "echo back")).facts).toMatchObject({ stdout: "back\n" });
  });
});
