import { Option, type Command } from "commander";
import {
  DeviceClass,
  DeviceMode,
  leaseRequestShape,
  MODEL_XOR_CLASS,
  Platform,
  SimlockError,
} from "../contract/index.ts";
import { parseDuration } from "./duration.ts";
import { given } from "./given.ts";
import type { Ask } from "./invocation.ts";

export interface AskFlags {
  readonly platform?: Platform;
  readonly device?: string;
  readonly class?: DeviceClass;
  readonly os?: string;
  readonly mode?: DeviceMode;
  readonly imageTag?: string;
  readonly physical?: boolean;
  readonly timeout?: number;
  readonly wait: boolean;
  readonly ttl?: number;
  readonly allowDownload?: boolean;
  readonly idempotencyKey?: string;
}

/** The flags of a lease request, with the contract's own words where they fit a command line. */
export function addAskFlags(command: Command): Command {
  const shape = leaseRequestShape;
  return command
    .addOption(new Option("--platform <platform>", `${says(shape.platform)} Required.`).choices(Platform.options))
    .option("--device <model>", "A model of `simlock catalog`, in any letter case. Not together with --class.")
    .addOption(new Option("--class <class>", says(shape.class)).choices(DeviceClass.options))
    .option("--os <version>", says(shape.osVersion))
    .addOption(new Option("--mode <mode>", says(shape.mode)).choices(DeviceMode.options))
    .option("--image-tag <tag>", says(shape.imageTag))
    .option("--physical", "Only a real device that was enrolled with `simlock device add`.")
    .option("--no-physical", "Never a real device.")
    .option(
      "--timeout <duration>",
      "How long to wait for the device, like 5m. Without it: until there is one.",
      parseDuration,
    )
    .option("--no-wait", "Fail at once with NO_CAPACITY instead of waiting in the queue.")
    .option("--ttl <duration>", "How long the lease lasts without renewal, like 15m (the default).", parseDuration)
    .option("--allow-download", says(shape.allowDownload))
    .option("--idempotency-key <key>", says(shape.idempotencyKey));
}

/** Throws `USAGE`. */
export function askOf(flags: AskFlags): Ask {
  if (flags.platform === undefined) {
    throw new SimlockError("USAGE", "--platform is missing.", { hint: "Say --platform ios or --platform android." });
  }
  if (flags.device !== undefined && flags.class !== undefined) {
    throw new SimlockError("USAGE", `--device and --class exclude each other: ${MODEL_XOR_CLASS}.`);
  }
  return {
    platform: flags.platform,
    ...given("model", flags.device),
    ...given("class", flags.class),
    ...given("osVersion", flags.os),
    ...given("mode", flags.mode),
    ...given("imageTag", flags.imageTag),
    ...given("physical", flags.physical),
    ...given("timeoutMs", flags.timeout),
    ...(flags.wait ? {} : { noWait: true }),
    ...given("ttlMs", flags.ttl),
    ...given("allowDownload", flags.allowDownload),
    ...given("idempotencyKey", flags.idempotencyKey),
  };
}

function says(schema: { readonly description?: string | undefined }): string {
  return schema.description ?? "";
}
