import type { Command } from "commander";
import { DEVICE_TOOLS, OPERATIONS, Platform, SimlockError } from "../contract/index.ts";
import { addAskFlags, askOf, type AskFlags } from "./ask-flags.ts";
import { parseDuration } from "./duration.ts";
import { given } from "./given.ts";
import type { RunInvocation, Understood } from "./invocation.ts";
import { wholeNumber } from "./whole-number.ts";
import { Option } from "commander";

/** The commands of an agent: get a device, use it, give it back, see what there is. */
export function declareLeasing(program: Command, understood: Understood): void {
  program.commandsGroup("Leasing:");
  const lease = addAskFlags(program.command("lease"))
    .summary("Lease a device and hold it until this command ends.")
    .description(
      `${OPERATIONS["lease.request"].summary} Prints the grant as one JSON line, then stays: it renews the lease and gives it back on Ctrl-C, ` +
        "a signal, or when the process that started it ends. Progress comes as JSON lines on standard error.",
    )
    .option("--detach", "Print the grant and end. The lease runs out unless `simlock renew` extends it.")
    .option("--bind-pid <pid>", "End the lease when this process ends.", wholeNumber(2))
    .option("--export-env", "Print shell `export` lines instead of JSON, for eval.")
    .action((flags: AskFlags & { detach?: boolean; bindPid?: number; exportEnv?: boolean }, command: Command) =>
      understood(command, {
        command: "lease",
        ask: { ...askOf(flags), ...given("bindPid", flags.bindPid) },
        detach: flags.detach === true,
        exportEnv: flags.exportEnv === true,
      }),
    );
  declareRenew(lease.command("renew [lease]"), understood);

  addAskFlags(program.command("with <command...>"))
    .usage("--platform <platform> [options] -- COMMAND [ARGS...]")
    .summary("Lease a device, run COMMAND with it, give it back.")
    .description(
      "Leases a device, runs COMMAND with the grant's environment and SIMLOCK_LEASE, gives the lease back, and exits with the command's own code.",
    )
    .passThroughOptions()
    .action((argv: string[], flags: AskFlags, command: Command) =>
      understood(command, { command: "with", ask: askOf(flags), argv }),
    );
  declareRenew(program.command("renew [lease]"), understood);

  program
    .command("release [lease]")
    .summary("Give a lease back.")
    .description(`${OPERATIONS["lease.release"].summary} Without an id: SIMLOCK_LEASE, or your only lease.`)
    .option("--force", "End a lease of somebody else (admin).")
    .option("--all", "End every lease on this machine (admin).")
    .option("--yes", "Do not ask.")
    .action((id: string | undefined, flags: { force?: boolean; all?: boolean; yes?: boolean }, command: Command) => {
      if (flags.all === true && (id !== undefined || flags.force === true)) {
        throw new SimlockError("USAGE", "--all ends every lease: it goes neither with a lease id nor with --force.");
      }
      if (flags.force === true && id === undefined) {
        throw new SimlockError("USAGE", "--force ends somebody else's lease: it must be named.", {
          hint: "See all leases with `simlock status`.",
        });
      }
      understood(command, {
        command: "release",
        lease: id,
        all: flags.all === true,
        force: flags.force === true,
        yes: flags.yes === true,
      });
    });

  program.commandsGroup("Using a device:");
  addRunFlags(program.command("run <tool> [args...]"))
    .usage("[options] -- TOOL [ARGS...]")
    .summary("Run one simctl, adb or devicectl command on the leased device.")
    .description(
      `${OPERATIONS["device.exec"].summary} Leave the device out: it is filled in, and a command that names another is refused. On a terminal ` +
        "the command gets it. Exits with the tool's own code; a failure of Simlock itself is an error line on standard error.",
    )
    .action((tool: string, args: string[], flags: RunFlags, command: Command) =>
      understood(command, runOf(tool, args, flags)),
    );
  for (const tool of DEVICE_TOOLS) {
    addRunFlags(program.command(`${tool} [args...]`))
      .usage(`[options] ARGS...`)
      .summary(`Short for \`simlock run -- ${tool}\`.`)
      .description(`Short for \`simlock run -- ${tool} ARGS...\`. Flags of Simlock stand before the first argument.`)
      .allowUnknownOption()
      .action((args: string[], flags: RunFlags, command: Command) => understood(command, runOf(tool, args, flags)));
  }

  program.commandsGroup("Looking:");
  program
    .command("status")
    .summary("Devices, leases, capacity, the queue.")
    .description(OPERATIONS["status.get"].summary)
    .option("--json", "Print it as JSON.")
    .action((_flags: object, command: Command) => understood(command, { command: "status" }));
  program
    .command("catalog")
    .summary("Models and OS versions that can be leased.")
    .description(OPERATIONS["catalog.get"].summary)
    .addOption(new Option("--platform <platform>", "Only this platform.").choices(Platform.options))
    .option("--refresh", "Read it anew from the platform's tools.")
    .option("--json", "Print it as JSON.")
    .action((flags: { platform?: Platform; refresh?: boolean }, command: Command) =>
      understood(command, { command: "catalog", platform: flags.platform, refresh: flags.refresh === true }),
    );
}

function declareRenew(command: Command, understood: Understood): void {
  command
    .summary("Extend a lease.")
    .description(`${OPERATIONS["lease.renew"].summary} Without an id: SIMLOCK_LEASE, or your only lease.`)
    .option("--ttl <duration>", "The new width of the lease, like 30m.", parseDuration)
    .action((id: string | undefined, flags: { ttl?: number }, self: Command) => {
      // `lease` demands its own flags of its subcommand too, and commander merges them: only our own count.
      understood(self, { command: "renew", lease: id, ttlMs: flags.ttl });
    });
}

interface RunFlags {
  readonly lease?: string;
  readonly dryRun?: boolean;
  readonly raw?: boolean;
  readonly stdin?: boolean;
}

function addRunFlags(command: Command): Command {
  return command
    .option("--lease <id>", "The lease. Default: SIMLOCK_LEASE, or your only lease.")
    .option("--dry-run", "Only print the decision: what would run, or what is refused and why.")
    .option("--raw", "Give the command this shell's own standard streams: exact bytes, no time limit.")
    .option("--stdin", "Read standard input to its end, however long that takes.")
    .option("--no-stdin", "Give the command no standard input.")
    .option("--json", "With --dry-run: print the decision as JSON.")
    .passThroughOptions();
}

function runOf(tool: string, args: readonly string[], flags: RunFlags & { json?: boolean }): RunInvocation {
  if (flags.json === true && flags.dryRun !== true) {
    throw new SimlockError("USAGE", "--json goes with --dry-run: a command's output is its tool's own.");
  }
  return {
    command: "run",
    tool,
    args,
    lease: flags.lease,
    dryRun: flags.dryRun === true,
    raw: flags.raw === true,
    stdin: flags.stdin === undefined ? "auto" : flags.stdin ? "wait" : "none",
  };
}
