import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Config, SimlockError } from "../../contract/index.ts";
import { loadConfig, parseConfig } from "../../daemon/index.ts";
import { isTree, typedValue, valueAt, withValue } from "../config-keys.ts";
import { connect, nothingListens } from "../connect.ts";
import type { Context } from "../context.ts";
import type { Invocation } from "../invocation.ts";
import { writeJson } from "../io.ts";

/** What the running daemon goes by; without one, what the next will go by. */
export async function getConfig(
  context: Context,
  invocation: Extract<Invocation, { command: "config get" }>,
): Promise<number> {
  const config = await effective(context);
  const { key } = invocation;
  if (key === undefined) {
    await writeJson(context.io.stdout, config);
    return 0;
  }
  const value = valueAt(config, key);
  if (value === undefined && !isKnown(key)) throw unknownKey(key);
  await writeJson(context.io.stdout, value ?? null);
  return 0;
}

async function effective(context: Context): Promise<Config> {
  try {
    const client = await connect(context, { launch: false, admin: true });
    try {
      return await client.call("config.get", {});
    } finally {
      await client.close();
    }
  } catch (thrown) {
    if (!nothingListens(thrown)) throw thrown;
    return loadConfig(context.layout.config).config;
  }
}

/** Writes one key, once the whole file is known to be accepted with it. */
export async function setConfig(
  context: Context,
  invocation: Extract<Invocation, { command: "config set" }>,
): Promise<number> {
  const { key, value } = invocation;
  const path = context.layout.config;
  const next = `${JSON.stringify(withValue(await readTree(path), key, typedValue(value)), undefined, 2)}\n`;
  const { config, unknownKeys } = parseConfig(path, next);
  if (unknownKeys.includes(key) || !isKnown(key)) throw unknownKey(key);
  await mkdir(context.home.path, { recursive: true, mode: 0o700 });
  await writeOwned(path, next);
  await writeJson(context.io.stdout, {
    key,
    value: valueAt(config, key) ?? null,
    restart: await needsRestart(context),
  });
  return 0;
}

/** A running daemon goes by what it read at its start. */
async function needsRestart(context: Context): Promise<boolean> {
  try {
    await (await connect(context, { launch: false })).close();
    return true;
  } catch {
    return false;
  }
}

async function readTree(path: string): Promise<Readonly<Record<string, unknown>>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw new SimlockError("CONFIG_INVALID", `${path} can't be read.`, { cause: error });
  }
  // A file that is wrong already is told of before anything is written to it.
  parseConfig(path, text);
  const tree: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  return isTree(tree) ? tree : {};
}

/** A reader sees the old file or the new one, never a part. For the owner only: paths in it are nobody else's business. */
async function writeOwned(path: string, text: string): Promise<void> {
  const beside = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  const file = await open(beside, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await rename(beside, path);
    const folder = await open(dirname(path), "r");
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/** Whether the schema has this key, also one that has no value by default. */
function isKnown(key: string): boolean {
  let at: unknown = Config;
  for (const name of key.split(".")) {
    const shape = shapeOf(at);
    if (shape === undefined) return typeof at === "object" && at !== null && "keyType" in at;
    if (!Object.hasOwn(shape, name)) return false;
    at = shape[name];
  }
  return true;
}

/** The fields of an object schema, looked for under its default and optional wrappings. */
function shapeOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  if ("shape" in schema && isTree(schema.shape)) return schema.shape;
  if ("def" in schema && isTree(schema.def) && "innerType" in schema.def) return shapeOf(schema.def["innerType"]);
  return undefined;
}

function unknownKey(key: string): SimlockError {
  return new SimlockError("USAGE", `There is no configuration key "${key}".`, {
    hint: "See them all with `simlock config get`, and in docs/config.md.",
  });
}
