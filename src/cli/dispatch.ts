import type { Context } from "./context.ts";
import type { Invocation } from "./invocation.ts";

/** Carries an invocation out and resolves with the exit code. Each command is loaded only when it is the one. */
export async function dispatch(context: Context, invocation: Invocation): Promise<number> {
  switch (invocation.command) {
    case "lease":
      return (await import("./commands/lease.ts")).lease(context, invocation);
    case "with":
      return (await import("./commands/with.ts")).withLease(context, invocation);
    case "renew":
      return (await import("./commands/renew.ts")).renew(context, invocation);
    case "release":
      return (await import("./commands/release.ts")).release(context, invocation);
    case "run":
      return (await import("./commands/run.ts")).run(context, invocation);
    case "status":
      return (await import("./commands/status.ts")).status(context);
    case "catalog":
      return (await import("./commands/catalog.ts")).catalog(context, invocation);
    case "device add":
      return (await import("./commands/device.ts")).addDevice(context, invocation);
    case "device list":
      return (await import("./commands/device.ts")).listDevices(context);
    case "device remove":
      return (await import("./commands/device.ts")).removeDevice(context, invocation);
    case "doctor":
      return (await import("./commands/doctor.ts")).doctor(context, invocation);
    case "daemon start":
      return (await import("./commands/daemon.ts")).startDaemon(context);
    case "daemon stop":
      return (await import("./commands/daemon.ts")).stop(context);
    case "daemon restart":
      return (await import("./commands/daemon.ts")).restart(context);
    case "daemon status":
      return (await import("./commands/daemon.ts")).daemonStatus(context);
    case "daemon logs":
      return (await import("./commands/logs.ts")).logs(context, invocation);
    case "daemon run":
      return (await import("./commands/daemon-run.ts")).daemonRun(context);
    case "state":
      return (await import("./commands/state.ts")).state(context, invocation);
    case "mcp":
      return (await import("./commands/mcp.ts")).mcp(context, invocation);
    case "virtual mobilerun":
      return (await import("./commands/virtual.ts")).virtualMobilerun(context, invocation);
    case "instructions":
      return (await import("./commands/instructions.ts")).instructions(context);
    case "config get":
      return (await import("./commands/config.ts")).getConfig(context, invocation);
    case "config set":
      return (await import("./commands/config.ts")).setConfig(context, invocation);
    case "events":
      return (await import("./commands/events.ts")).events(context, invocation);
    case "demo":
      return (await import("./demo/demo.ts")).demo(context);
    case "version":
      return (await import("./commands/version.ts")).version(context);
  }
}
