import { Option, type Command } from "commander";
import { OPERATIONS, SimlockError } from "../contract/index.ts";
import { parseDuration } from "./duration.ts";
import { TOOLSETS, type ToolsetName, type Understood } from "./invocation.ts";
import { wholeNumber } from "./whole-number.ts";

/** The commands of whoever runs the machine, and those that need no daemon. */
export function declareMachine(program: Command, understood: Understood): void {
  program.commandsGroup("Running the machine:");
  declareDevice(program, understood);
  program
    .command("doctor")
    .summary("What is missing on this host, and what has drifted.")
    .description(`${OPERATIONS["doctor.run"].summary} Findings do not change the exit code.`)
    .option("--fix", "Mend what has drifted (admin).")
    .option("--purge-orphans", "Remove devices that we made and no longer know (admin). Asks first.")
    .option("--yes", "Do not ask.")
    .option("--json", "Print it as JSON.")
    .action((flags: { fix?: boolean; purgeOrphans?: boolean; yes?: boolean }, command: Command) =>
      understood(command, {
        command: "doctor",
        fix: flags.fix === true,
        purgeOrphans: flags.purgeOrphans === true,
        yes: flags.yes === true,
      }),
    );
  declareDaemon(program, understood);
  declareConfig(program, understood);
  program
    .command("events")
    .summary("What happened.")
    .description(
      `${OPERATIONS["events.replay"].summary} One JSON object a line where the output is not a terminal (admin).`,
    )
    .option("--follow", "Stay, and print each event as it happens.")
    .option("--since <duration>", "Only the last while, like 10m.", parseDuration)
    .option("--json", "Print JSON lines on a terminal too.")
    .action((flags: { follow?: boolean; since?: number }, command: Command) =>
      understood(command, { command: "events", follow: flags.follow === true, sinceMs: flags.since }),
    );

  program.commandsGroup("Agents and first steps:");
  program
    .command("mcp")
    .summary("The MCP server on standard input and output, for an agent.")
    .description(
      "Serves the Model Context Protocol on standard input and output. One process is one agent's session. The environment configures the toolset cloud (MCP_POLICY_PROFILE, PORT and others): see docs/cloud.md and docs/http.md.",
    )
    .addOption(
      new Option("--toolset <names...>", "What it serves: leases and state, together if both are named, or cloud.")
        .choices([...TOOLSETS])
        .default(["leases"], "leases"),
    )
    .option(
      "--http",
      "Serve the toolset cloud over HTTP, for several callers: the environment configures it, see docs/http.md.",
    )
    .action((flags: { toolset: ToolsetName[]; http?: boolean }, command: Command) => {
      const toolsets = [...new Set(flags.toolset)];
      if (toolsets.includes("cloud") && toolsets.length > 1) {
        throw new SimlockError(
          "USAGE",
          "--toolset cloud stands alone: its tools are called under a policy of their own.",
          {
            hint: "Configure two servers, one for each.",
          },
        );
      }
      if (flags.http === true && (toolsets.length !== 1 || toolsets[0] !== "cloud")) {
        throw new SimlockError(
          "USAGE",
          "--http serves the toolset cloud alone: a lease or a simulator is one agent's.",
          {
            hint: "Say --toolset cloud --http.",
          },
        );
      }
      understood(command, { command: "mcp", toolsets, http: flags.http === true });
    });
  program
    .command("virtual")
    .summary("Stand-ins for what is not at hand.")
    .command("mobilerun")
    .summary("The Mobilerun API on this machine, in memory.")
    .description(
      "Stands in for the Mobilerun API on the loopback interface until it is ended. Any key that begins with dr_sk_ has phones of its own.",
    )
    .addOption(new Option("--port <number>", "The port; 0 takes a free one.").default(0).argParser(wholeNumber(0)))
    .action((flags: { port: number }, command: Command) =>
      understood(command, { command: "virtual mobilerun", port: flags.port }),
    );
  program
    .command("instructions")
    .summary("The rules that an agent must follow.")
    .description("Prints the rules that an agent must follow. Needs no daemon.")
    .option("--json", "Print them as JSON.")
    .action((_flags: object, command: Command) => understood(command, { command: "instructions" }));
  program
    .command("demo")
    .summary("Watch it work on a simulated Mac: under 30 seconds, leaves nothing behind.")
    .description(
      "Starts a daemon in a temporary virtual home and lets three agents lease, run, wait and release. It leaves nothing behind.",
    )
    .action((_flags: object, command: Command) => understood(command, { command: "demo" }));
  program
    .command("version")
    .summary("Print the version.")
    .action((_flags: object, command: Command) => understood(command, { command: "version" }));
}

function declareDevice(program: Command, understood: Understood): void {
  const device = program.command("device").summary("Attached devices: enrol, list, forget.");
  device
    .command("add <serial>")
    .summary("Enrol an attached device, so that it can be leased (admin).")
    .description(`${OPERATIONS["device.add"].summary} Its serial is what \`adb devices\` shows.`)
    .option("--shared", "Serve any request of its platform, not only those that ask for it.")
    .action((serial: string, flags: { shared?: boolean }, command: Command) =>
      understood(command, { command: "device add", serial, shared: flags.shared === true }),
    );
  device
    .command("list")
    .summary("Attached devices, and why one can't be leased.")
    .description(OPERATIONS["device.list"].summary)
    .option("--json", "Print it as JSON.")
    .action((_flags: object, command: Command) => understood(command, { command: "device list" }));
  device
    .command("remove <device>")
    .summary("Forget an enrolled device (admin).")
    .description(`${OPERATIONS["device.remove"].summary} Names it by its device id or its serial.`)
    .action((name: string, _flags: object, command: Command) =>
      understood(command, { command: "device remove", device: name }),
    );
}

function declareDaemon(program: Command, understood: Understood): void {
  const daemon = program.command("daemon").summary("The process behind it all. It starts by itself when needed.");
  const plain = [
    ["start", "Start the daemon, unless it runs."],
    ["stop", "Stop the daemon. Leases stand (admin)."],
    ["restart", "Stop the daemon, of whatever version, and start this one. Leases stand (admin)."],
    ["status", "Whether it runs. Never starts it."],
  ] as const;
  for (const [name, says] of plain) {
    daemon
      .command(name)
      .summary(says)
      .description(says)
      .option("--json", "Print it as JSON.")
      .action((_flags: object, command: Command) => understood(command, { command: `daemon ${name}` }));
  }
  daemon
    .command("logs")
    .summary("The end of the daemon's log.")
    .description("Prints the end of the daemon's log. Needs no daemon.")
    .option("--follow", "Stay, and print each line as it comes.")
    .option("--lines <n>", "How many lines to begin with.", wholeNumber(0), 100)
    .action((flags: { follow?: boolean; lines: number }, command: Command) =>
      understood(command, { command: "daemon logs", follow: flags.follow === true, lines: flags.lines }),
    );
  daemon
    .command("run", { hidden: true })
    .description("Be the daemon, in the foreground.")
    .action((_flags: object, command: Command) => understood(command, { command: "daemon run" }));
}

function declareConfig(program: Command, understood: Understood): void {
  const config = program.command("config").summary("The configuration file of the home.");
  config
    .command("get [key]")
    .summary("The configuration in effect, or one key of it (admin).")
    .description(
      "Prints the configuration that the daemon runs with as JSON; without a daemon, what the next one will run with.",
    )
    .action((key: string | undefined, _flags: object, command: Command) =>
      understood(command, { command: "config get", key }),
    );
  config
    .command("set <key> <value>")
    .summary("Write one key, like `lease.defaultTtlMs 600000`. `null` removes it.")
    .description("Checks the value, then writes it to the home's config.json. The daemon reads it when it starts.")
    .action((key: string, value: string, _flags: object, command: Command) =>
      understood(command, { command: "config set", key, value }),
    );
}
