#!/usr/bin/env node
// The command, in a checkout and in the published package. Plain JavaScript that an old Node can read: where Node is too old it starts itself
// again with the Node 24 that the checkout brings.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NEEDED = 24;
const self = fileURLToPath(import.meta.url);
const args = process.argv.slice(2);

// A server over HTTP runs for weeks beside others. V8 would let some 300 MB of garbage lie before it collects, and keep what its compiler
// threads once took. It reads these only when it starts. What is given on the command line or in NODE_OPTIONS goes before them.
const given = `${process.env.NODE_OPTIONS ?? ""} ${process.execArgv.join(" ")}`.replaceAll("_", "-");
const flags = args.includes("--http")
  ? ["--max-semi-space-size=2", "--heap-growing-percent=30", "--no-concurrent-recompilation"].filter(
      (flag) => !given.includes(flag.split("=", 1)[0]),
    )
  : [];

if (Number(process.versions.node.split(".")[0]) >= NEEDED) {
  // In the same process; where the system can't do that, it goes on as it is.
  if (flags.length > 0 && process.platform !== "win32") {
    process.execve?.(process.execPath, [process.execPath, ...process.execArgv, ...flags, self, ...args], process.env);
  }
  await import("../dist/main.js");
} else {
  const root = join(dirname(self), "..");
  const own = join(root, "node_modules", "node", "bin", "node");
  if (existsSync(own)) {
    const { spawn } = await import("node:child_process");
    const child = spawn(own, [...flags, self, ...args], { stdio: "inherit" });
    // A terminal sends Ctrl-C to both of us: only the child acts on it. A signal that came to us alone is handed on.
    const terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
    process.on("SIGINT", () => terminal || child.kill("SIGINT"));
    for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
    // The child watches us to know when whoever started it is gone. So we watch who started us.
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(watch);
      child.kill("SIGTERM");
    }, 500);
    child.on("exit", (code, signal) => {
      if (signal) {
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
      } else process.exit(code ?? 1);
    });
  } else {
    const error = {
      code: "USAGE",
      message: `Simlock needs Node ${NEEDED} or newer; this is ${process.versions.node}.`,
      hint: "Install Node 24 from https://nodejs.org, or run `npm ci` in the checkout: it brings its own.",
    };
    process.stderr.write(`${JSON.stringify({ error })}\n`);
    process.exitCode = 2;
  }
}
