import { SimlockError, toSimlockError } from "../../contract/index.ts";
import {
  readMcpHttpEnvironment,
  runMcpStdio,
  serveMcpOverHttp,
  unknownMcpVariables,
  type Log,
} from "../../mcp/index.ts";
import { errorLines, type ErrorLines } from "../error-lines.ts";
import { checkVirtual, cloudHost } from "../cloud/host.ts";
import type { Context } from "../context.ts";
import { writeLine } from "../io.ts";
import { Stopped } from "../leasing.ts";
import { errorLine } from "../render/error.ts";
import { VERSION } from "../version.ts";

const API_KEY_PREFIX = "dr_sk_";
/** A virtual platform takes any key of this form. */
const VIRTUAL_KEY = "dr_sk_virtual";
/** What a configuration that is not valid exits with: whoever starts servers knows it from elsewhere. */
const EXIT_INVALID = 1;

/** The cloud tools for one agent, on standard input and output. */
export async function cloudOverStdio(context: Context): Promise<number> {
  return orInvalid(context, async () => {
    const { stdin, stdout, stderr, env } = context.io;
    const environment = await environmentOf(context);
    const key = env["MOBILERUN_CLOUD_API_KEY"] ?? (context.home.virtual ? VIRTUAL_KEY : undefined);
    if (key === undefined || key.trim() === "") {
      throw new SimlockError("CONFIG_INVALID", "MOBILERUN_CLOUD_API_KEY is not set.", {
        hint: "Set it to your API key, or try it without one: --virtual brings a platform of its own.",
      });
    }
    if (!key.trim().startsWith(API_KEY_PREFIX)) {
      throw new SimlockError(
        "CONFIG_INVALID",
        `MOBILERUN_CLOUD_API_KEY is not an API key: those begin with ${API_KEY_PREFIX}.`,
        {
          hint: "Copy the key again.",
        },
      );
    }
    const lines = errorLines(stderr);
    await warnOfUnknown(context, logTo(lines, environment.LOG_LEVEL));
    const host = await cloudHost(context, environment, lines);
    const exitCode = await runMcpStdio({
      toolset: async () => {
        const { gate, tools } = host.contextOf(key.trim());
        return { ...host.toolset, gate, ...(tools === undefined ? {} : { tools: [...tools.values()] }) };
      },
      version: VERSION,
      stdin,
      stdout,
      stderr,
    });
    await lines.close();
    return exitCode;
  });
}

/** The cloud tools over HTTP, each request with a key of its own, until a signal comes. */
export async function cloudOverHttp(context: Context): Promise<number> {
  return orInvalid(context, async () => {
    const environment = await environmentOf(context);
    const stopped = new Stopped({ parent: false });
    const lines = errorLines(context.io.stderr);
    const log = logTo(lines, environment.LOG_LEVEL);
    try {
      await warnOfUnknown(context, log);
      const host = await cloudHost(context, environment, lines);
      const service = await serveMcpOverHttp({
        environment,
        toolset: host.toolset,
        version: VERSION,
        failures: "text",
        credentials: "cloud",
        contextOf: (credential) => (credential?.kind === "api_key" ? host.contextOf(credential.key) : undefined),
        ready: () => host.ready(),
        log,
      });
      await stopped.promise;
      await service.close();
      return 0;
    } finally {
      stopped.dispose();
      await lines.close();
    }
  });
}

async function environmentOf(context: Context) {
  checkVirtual(context);
  return readMcpHttpEnvironment(context.io.env);
}

/** A client has variables of its own that begin so: they are no mistake, and one of ours that is misspelt is. */
async function warnOfUnknown({ io }: Context, log: Log): Promise<void> {
  for (const name of await unknownMcpVariables(io.env)) log("warn", "unknown_variable", { name });
}

const LEVELS = ["debug", "info", "warn", "error"] as const;

/** JSON lines on standard error. */
function logTo(lines: ErrorLines, least: (typeof LEVELS)[number]): Log {
  return (level, event, fields) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
    lines.write({ level, msg: event, ts: new Date().toISOString(), ...fields });
  };
}

async function orInvalid(context: Context, serve: () => Promise<number>): Promise<number> {
  try {
    return await serve();
  } catch (thrown) {
    const error = toSimlockError(thrown);
    if (error.code !== "CONFIG_INVALID") throw thrown;
    await writeLine(context.io.stderr, errorLine(error));
    return EXIT_INVALID;
  }
}
