import { createFakeDriver } from "../src/daemon/fake-driver.ts";
import { runDaemon } from "../src/daemon/index.ts";

/** A daemon over devices that cost nothing, so that what is measured is Simlock: `node bench/fake-daemon.ts HOME MAX_RUNNING`. */
const [path = "", maxRunning = "1"] = process.argv.slice(2);
const daemon = await runDaemon({
  home: { path, virtual: false },
  version: "bench",
  hostFacts: { cpus: 2 * Number(maxRunning), memoryBytes: 1024 ** 4 },
  signals: true,
  drivers: () => [createFakeDriver({ cleansTo: "ready" })],
});
process.stdout.write("listening\n");
process.exitCode = await daemon.stopped;
