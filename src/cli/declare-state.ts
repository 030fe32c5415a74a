import { Option, type Command } from "commander";
import { SimlockError } from "../contract/index.ts";
import type { Understood } from "./invocation.ts";
import type { OverlayArgument, ProfileArguments, StateAction } from "./state/invocation.ts";

interface SourceFlags {
  readonly profile: string;
}
interface ComparedFlags extends SourceFlags {
  readonly snapshot?: string;
  readonly device?: string;
}

/** `simlock state`: what a simulator is like, as documents. The drop-in `ios-sim-state` takes the same commands. */
export function declareState(program: Command, understood: Understood): void {
  program.commandsGroup("Simulator state as documents:");
  const state = program
    .command("state")
    .summary("Declare a simulator's state: snapshot, diff, plan, apply.")
    .description("Declares what a simulator is like, compares, plans, and changes it only when it was confirmed.")
    .addOption(new Option("--ios-sim-state", "Exit codes and errors as that command gives them.").hideHelp());
  const understand = (command: Command, action: StateAction) => {
    const { compact, iosSimState } = command.optsWithGlobals<{ compact?: boolean; iosSimState?: boolean }>();
    understood(command, { command: "state", action, compact: compact === true, dropIn: iosSimState === true });
  };
  const sub = (name: string, summary: string, description: string = summary): Command =>
    state
      .command(name)
      .summary(summary)
      .description(description)
      .option("--compact", "JSON on one line.")
      .option("--json", "JSON on a terminal too.");

  sub("inventory", "The simulators, runtimes and device types of this machine.").action(
    (_flags: object, command: Command) => understand(command, { kind: "inventory" }),
  );
  sub("presets", "The built-in overlays. Needs neither Xcode nor a simulator.").action(
    (_flags: object, command: Command) => understand(command, { kind: "presets" }),
  );
  sub(
    "snapshot",
    "What a simulator is like now.",
    "Reads a simulator: power, apps and which run, status bar, appearance, language, privacy, and the preference domains that are named. Changes nothing, boots nothing.",
  )
    .option("--device <udid>", "The simulator. Default: the one that you have leased.")
    .option("--domain <name...>", "A preference domain to read. May be given more than once.")
    .option("--pasteboard", "Read the pasteboard too: it may hold what was copied on the Mac.")
    .action((flags: { device?: string; domain?: string[]; pasteboard?: boolean }, command: Command) =>
      understand(command, {
        kind: "snapshot",
        device: flags.device,
        domains: flags.domain ?? [],
        pasteboard: flags.pasteboard === true,
      }),
    );
  sub(
    "export",
    "A simulator's state as a profile.",
    "Writes a profile that asks for what a simulator is like now: a place to begin.",
  )
    .option("--device <udid>", "The simulator. Default: the one that you have leased.")
    .option("--snapshot <file>", "A saved snapshot instead; - is standard input.")
    .option("--domain <name...>", "A preference domain to take over. May be given more than once.")
    .addOption(new Option("--format <form>", "How it is written.").choices(["yaml", "json"]).default("yaml"))
    .action(
      (flags: { device?: string; snapshot?: string; domain?: string[]; format: "yaml" | "json" }, command: Command) =>
        understand(command, {
          kind: "export",
          device: flags.device,
          snapshot: flags.snapshot,
          domains: flags.domain ?? [],
          format: flags.format,
        }),
    );

  const composing = (name: string, summary: string, description: string = summary) => {
    const overlays: OverlayArgument[] = [];
    const command = sub(name, summary, description)
      .requiredOption("--profile <file>", "The profile, JSON or YAML; - is standard input.")
      .option("--layer <file>", "Lay this document over it. In the order of all --layer and --preset.", (file) => {
        overlays.push({ layer: file });
      })
      .option("--preset <name>", "Lay this preset over it.", (preset) => {
        overlays.push({ preset });
      });
    const source = (flags: SourceFlags): ProfileArguments => ({ profile: flags.profile, overlays });
    return { command, source };
  };
  const compared = (name: string, summary: string, description: string = summary) => {
    const { command, source } = composing(name, summary, description);
    command
      .option("--snapshot <file>", "Compare with a saved snapshot instead of reading the simulator.")
      .option("--device <udid>", "The simulator. Default: the profile's target, which must fit exactly one.");
    return { command, source };
  };

  const compose = composing("compose", "The whole profile, overlays laid over it, every default written out.");
  compose.command
    .addOption(new Option("--format <form>", "How it is written.").choices(["json", "yaml"]).default("json"))
    .action((flags: SourceFlags & { format: "json" | "yaml" }, command: Command) =>
      understand(command, { kind: "compose", source: compose.source(flags), format: flags.format }),
    );
  const lint = composing(
    "lint",
    "What is wrong, or doubtful, with a profile.",
    "Decodes a profile and its overlays, and tells of what is allowed but is hardly meant. Exit code 2 for a document that is not valid; with --exit-code, 3 where something is doubtful.",
  );
  lint.command
    .option("--exit-code", "Exit with 3 where there is a finding.")
    .action((flags: SourceFlags & { exitCode?: boolean }, command: Command) =>
      understand(command, { kind: "lint", source: lint.source(flags), exitCode: flags.exitCode === true }),
    );
  const diff = compared(
    "diff",
    "What of a simulator differs from a profile.",
    "Shows each field that differs, and what could not be told. Changes nothing. With --exit-code: 0 where nothing differs, 3 where something does or could not be told. What no device ever tells (location, root certificates, media, pushes, the opened URL) does not count.",
  );
  diff.command
    .option("--exit-code", "Exit with 3 where something differs: for drift checks.")
    .action((flags: ComparedFlags & { exitCode?: boolean }, command: Command) =>
      understand(command, {
        kind: "diff",
        source: diff.source(flags),
        snapshot: flags.snapshot,
        device: flags.device,
        exitCode: flags.exitCode === true,
      }),
    );
  const plan = compared(
    "plan",
    "The operations that would make a simulator be so.",
    "Answers the operations in their order, each with its risk, and warnings. Changes nothing: look at it, then pass it to apply.",
  );
  plan.command
    .addOption(new Option("--format <form>", "JSON to apply, or text to read.").choices(["json", "text", "markdown"]))
    .action((flags: ComparedFlags & { format?: "json" | "text" | "markdown" }, command: Command) =>
      understand(command, {
        kind: "plan",
        source: plan.source(flags),
        snapshot: flags.snapshot,
        device: flags.device,
        format: flags.format,
      }),
    );
  const verify = composing(
    "verify",
    "A verdict on each field of a profile.",
    "Reads the simulator and says of each field whether it is so. Changes nothing. With --exit-code: 3 where a field is different or could not be told; what no device ever tells does not count.",
  );
  verify.command
    .option("--device <udid>", "The simulator. Default: the profile's target.")
    .option("--exit-code", "Exit with 3 where a field is not as it should be.")
    .action((flags: SourceFlags & { device?: string; exitCode?: boolean }, command: Command) =>
      understand(command, {
        kind: "verify",
        source: verify.source(flags),
        device: flags.device,
        exitCode: flags.exitCode === true,
      }),
    );

  sub(
    "apply",
    "Carry a plan out, once it is confirmed.",
    "Carries a plan out with --confirm; without it, says what would be done. A plan that the simulator has moved away from is refused. One that was cut off goes on with --resume, or is taken back with --rollback.",
  )
    .option("--plan <file>", "The plan, as plan printed it; - is standard input.")
    .option("--confirm", "Change the simulator.")
    .option("--journal <file>", "Write the report there too.")
    .option("--allow-stale", "Apply it although the simulator is no longer as it was when it was planned.")
    .option("--resume <journal>", "Go on with the run of this journal.")
    .option("--rollback <journal>", "Take back what can be taken back of the run of this journal.")
    .action(
      (
        flags: {
          plan?: string;
          confirm?: boolean;
          journal?: string;
          allowStale?: boolean;
          resume?: string;
          rollback?: string;
        },
        command: Command,
      ) => {
        const { plan: file, resume, rollback } = flags;
        const given = [file, resume, rollback].filter((one) => one !== undefined);
        if (given.length !== 1) {
          throw new SimlockError("USAGE", "apply: give exactly one of --plan, --resume and --rollback.");
        }
        const journal = resume ?? rollback;
        if (journal !== undefined) {
          understand(command, {
            kind: "recover",
            journal,
            how: resume === undefined ? "rollback" : "resume",
            confirm: flags.confirm === true,
            report: flags.journal,
          });
          return;
        }
        understand(command, {
          kind: "apply",
          plan: file ?? "-",
          confirm: flags.confirm === true,
          report: flags.journal,
          allowStale: flags.allowStale === true,
        });
      },
    );
  const explained: OverlayArgument[] = [];
  sub(
    "explain",
    "A plan to read, or where each value of a profile comes from.",
    "With --plan: its operations as text for a review. With --profile: the document that each field comes from.",
  )
    .option("--plan <file>", "A plan; - is standard input.")
    .option("--profile <file>", "A profile; - is standard input.")
    .option("--layer <file>", "Lay this document over it. In the order of all --layer and --preset.", (file) => {
      explained.push({ layer: file });
    })
    .option("--preset <name>", "Lay this preset over it.", (preset) => {
      explained.push({ preset });
    })
    .addOption(new Option("--format <form>", "How a plan is written.").choices(["text", "markdown"]).default("text"))
    .action((flags: { plan?: string; profile?: string; format: "text" | "markdown" }, command: Command) => {
      const { plan: file, profile } = flags;
      if ((file === undefined) === (profile === undefined)) {
        throw new SimlockError("USAGE", "explain: give exactly one of --plan and --profile.");
      }
      if (file !== undefined && explained.length > 0) {
        throw new SimlockError("USAGE", "explain: a plan is read as it is; --layer and --preset go with --profile.");
      }
      understand(
        command,
        file === undefined
          ? { kind: "provenance", source: { profile: profile ?? "-", overlays: explained } }
          : { kind: "explain", plan: file, format: flags.format },
      );
    });
}
