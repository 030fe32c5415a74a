import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SimlockError, type LeaseGrant } from "../../contract/index.ts";
import {
  compose,
  loadLayer,
  loadProfile,
  loadSnapshot,
  readDocumentText,
  type Composed,
  type DocumentPorts,
  type DocumentSource,
  type Overlay,
  type Snapshot,
} from "../../state/index.ts";
import type { Context } from "../context.ts";
import { readStdin } from "../stdin.ts";
import type { ProfileArguments } from "./invocation.ts";

/** Larger than any document that a person or a tool writes. */
const MAX_BYTES = 32 * 1024 * 1024;

/** The documents of a command line: files by their path, and `-` for standard input, once. */
export class Sources {
  readonly #context: Context;
  readonly #ports: DocumentPorts;
  #stdinFor: string | undefined;

  constructor(context: Context) {
    this.#context = context;
    this.#ports = { readText: boundedText, environment: context.io.env };
  }

  /** One for each target, overlays laid over it. A profile without a target is for the device that `leased` tells of. */
  async profiles(
    { profile, overlays }: ProfileArguments,
    leased?: () => Promise<LeaseGrant | undefined>,
  ): Promise<readonly Composed[]> {
    const source = await this.#source(profile, "--profile");
    const target = leased && (async () => udidOf(await leased()));
    const loaded = await loadProfile(source, {
      ...this.#ports,
      ...(target === undefined ? {} : { defaultTarget: target }),
    });
    const laid = await Promise.all(overlays.map(async (overlay) => this.#overlay(overlay)));
    return loaded.profiles.map((one) => compose(one, laid, loaded.said));
  }

  async snapshot(path: string): Promise<Snapshot> {
    return loadSnapshot(await this.#source(path, "--snapshot"), this.#ports);
  }

  /** A plan or report as it was printed: JSON or YAML, not yet judged. */
  async document(path: string, flag: string): Promise<unknown> {
    const { text = await textOf(path) } = await this.#source(path, flag);
    return readDocumentText(text, path === "-" ? "standard input" : path);
  }

  async #overlay(overlay: ProfileArguments["overlays"][number]): Promise<Overlay> {
    if ("preset" in overlay) return overlay;
    const source = await this.#source(overlay.layer, "--layer");
    return { layer: await loadLayer(source, this.#ports), file: source.path };
  }

  async #source(path: string, flag: string): Promise<DocumentSource> {
    const { io } = this.#context;
    if (path !== "-") return { path: join(path.startsWith("/") ? "/" : io.cwd, path) };
    if (this.#stdinFor !== undefined) {
      throw new SimlockError("USAGE", `${flag}: standard input is read for ${this.#stdinFor} already.`, {
        hint: "Put one of the two documents in a file.",
      });
    }
    this.#stdinFor = flag;
    return { path: join(io.cwd, "standard-input"), text: await readStdin(io.stdin, { patient: true }) };
  }
}

function udidOf(lease: LeaseGrant | undefined): { readonly udid: string } | undefined {
  return lease === undefined ? undefined : { udid: lease.device.driverDeviceId };
}

async function textOf(path: string): Promise<string> {
  try {
    return await boundedText(path);
  } catch (cause) {
    if (cause instanceof SimlockError) throw cause;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    throw new SimlockError("USAGE", `${path} can't be read: ${code}.`, { cause, hint: "Name a file that is there." });
  }
}

/** Throws what the file system says where it can't be read: the documents room tells which document that was. */
async function boundedText(path: string): Promise<string> {
  const bytes = await readFile(path);
  if (bytes.byteLength <= MAX_BYTES) return bytes.toString("utf8");
  throw new SimlockError("USAGE", `${path} is larger than ${MAX_BYTES} bytes: that is no state document.`);
}
