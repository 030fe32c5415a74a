import { createFakeDriver } from "./fake-driver.ts";
import { runDaemon } from "./run-daemon.ts";

// A daemon in a process of its own, with devices that live in a file and so outlive it: `node fake-daemon.fixture.ts HOME WORLD`.
const [path = "", worldFile = ""] = process.argv.slice(2);
try {
  const daemon = await runDaemon({
    home: { path, virtual: false },
    version: "1.2.3",
    hostFacts: { cpus: 8, memoryBytes: 32 * 1024 ** 3 },
    signals: true,
    drivers: () => [createFakeDriver({ worldFile })],
  });
  process.stdout.write("listening\n");
  process.exitCode = await daemon.stopped;
} catch (error) {
  process.stdout.write(`${error instanceof Error && "code" in error ? String(error.code) : String(error)}\n`);
  process.exitCode = 1;
}
