/** Holds a device with a command that does not end, until it is killed; says the command's process group: `node lock-holder.fixture.ts UDID FOLDER`. */
import { callTool } from "../../exec/index.ts";
import type { RunSimctl } from "../types.ts";
import { DeviceLock } from "./lock.ts";

const [udid = "", folder = ""] = process.argv.slice(2);
const run: RunSimctl = ({ onStarted, timeoutMs }) =>
  callTool({
    file: "sleep",
    args: ["600"],
    env: { PATH: process.env["PATH"] ?? "" },
    timeoutMs,
    maxBytes: 1_000,
    onStarted: (group) => {
      onStarted?.(group);
      console.log(group);
    },
  });
const lock = await DeviceLock.take(udid, folder);
await lock.noted(run)({ args: [], timeoutMs: 600_000 });
