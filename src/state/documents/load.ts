import { dirname, resolve } from "node:path";
import { SimlockError } from "../../contract/index.ts";
import type { Layer, LayerSpec, Profile, Snapshot, Target } from "../types.ts";
import { boundProblem } from "./bounded.ts";
import {
  decodeSnapshot,
  extendsOf,
  layerOf,
  parseLayerDocument,
  parseProfileDocument,
  profileOf,
  targetsOf,
} from "./decode.ts";
import { PushPayload } from "./fields.ts";
import { filledState, layerSpecOf } from "./fill.ts";
import { overlay } from "./merge.ts";
import { problemAt, problemsOf, stateInvalid } from "./problems.ts";
import { type ParsedLayer, type ParsedSpec, V1 } from "./profile-schema.ts";
import type { Said } from "./provenance.ts";
import { readDocumentText } from "./read-text.ts";
import { pushProblems } from "./semantics.ts";
import { isFields } from "./substitute.ts";

/** The way out to the files and the environment. */
export interface DocumentPorts {
  /** The text of a file; throws what the file system says. */
  readText(path: string): Promise<string>;
  /** Fills in `${env:NAME}`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The device that a simlock/v1 profile means which names none: the caller's leased one. */
  readonly defaultTarget?: () => Promise<Target | undefined>;
}

/** `text`: what stands there, where it was read already, as from standard input; relative paths then begin at `path`'s folder all the same. */
export interface DocumentSource {
  readonly path: string;
  readonly text?: string;
}

export interface LoadedProfile {
  /** One for each target, with the same state. */
  readonly profiles: readonly Profile[];
  /** What it was made of, for `compose` to name sources by. */
  readonly said: readonly Said[];
  /** Every profile and layer that was read, in the order in which they are laid over one another. */
  readonly files: readonly string[];
}

/** Both are far beyond what people write, and end a chain that never would. */
const MAX_DEPTH = 16;
const MAX_FILES = 64;

/**
 * A profile with everything that it extends, its relative paths resolved and its push files read. Paths, in simlock/v1, are relative to the file they
 * stand in; v1alpha1 leaves them as they are. Throws STATE_INVALID, which names the file.
 */
export async function loadProfile(source: DocumentSource, ports: DocumentPorts): Promise<LoadedProfile> {
  const path = resolve(source.path);
  const chain = await readChain({ ...source, path }, ports, [], { files: 0 });
  const last = chain.at(-1);
  const named = chain.findLast((link) => link.targets.length > 0)?.targets ?? [];
  const meant = named.length > 0 || last?.apiVersion !== V1 ? undefined : await ports.defaultTarget?.();
  const targets = meant === undefined ? named : [meant];
  if (last === undefined || last.kind !== "SimulatorState" || targets.length === 0) {
    throw stateInvalid(`profile ${path}`, [
      problemAt(
        ["target"],
        "required: target or targets, here or in a profile that this one extends, unless you have leased a simulator",
      ),
    ]);
  }
  const spec = filledState(chain.map((link) => link.spec).reduce(overlay));
  return {
    profiles: targets.map((target) => profileOf(last, target, spec)),
    said: chain.map(({ name, path: file, spec: said, kind }) => ({
      source: { kind: kind === "SimulatorState" ? "profile" : "layer", name, file },
      spec: said,
    })),
    files: chain.map((link) => link.path),
  };
}

/** A layer with its relative paths resolved and its push files read. Throws STATE_INVALID. */
export async function loadLayer(source: DocumentSource, ports: DocumentPorts): Promise<Layer> {
  const path = resolve(source.path);
  const what = `layer ${path}`;
  const input = await readInput({ ...source, path }, what, ports);
  const parsed = parseLayerDocument(input, withEnvironment(what, ports));
  return layerOf(await withFiles(parsed, path, what, ports));
}

/** A saved snapshot. Throws STATE_INVALID. */
export async function loadSnapshot(source: DocumentSource, ports: DocumentPorts): Promise<Snapshot> {
  const what = `snapshot ${source.path}`;
  return decodeSnapshot(await readInput(source, what, ports), { what });
}

/** One document of a chain; the last one is the profile itself. */
interface Link {
  readonly kind: "SimulatorState" | "SimulatorStateLayer";
  readonly apiVersion: Profile["apiVersion"];
  readonly metadata: Profile["metadata"];
  readonly name: string;
  readonly path: string;
  readonly targets: readonly Target[];
  readonly spec: LayerSpec;
}

async function readChain(
  source: DocumentSource,
  ports: DocumentPorts,
  above: readonly string[],
  read: { files: number },
): Promise<readonly Link[]> {
  const { path } = source;
  const [root = path] = above;
  if (above.includes(path)) {
    throw stateInvalid(`profile ${root}`, [
      problemAt(["extends"], `goes in a circle: ${[...above, path].join(" → ")}`),
    ]);
  }
  read.files += 1;
  if (above.length >= MAX_DEPTH || read.files > MAX_FILES) {
    throw stateInvalid(`profile ${root}`, [
      problemAt(["extends"], `leads through more than ${MAX_DEPTH} files deep or ${MAX_FILES} in all`),
    ]);
  }
  const isBase = above.length > 0;
  const input = await readInput(source, `profile ${path}`, ports);
  if (isBase && isFields(input) && input["kind"] === "SimulatorStateLayer") {
    const what = `layer ${path}`;
    const layer = await withFiles(parseLayerDocument(input, withEnvironment(what, ports)), path, what, ports);
    return [linkOf(layer, path, [])];
  }
  const what = `profile ${path}`;
  const parsed = parseProfileDocument(input, withEnvironment(what, ports));
  const links: Link[] = [];
  for (const base of extendsOf(parsed)) {
    links.push(...(await readChain({ path: resolve(dirname(path), base) }, ports, [...above, path], read)));
  }
  return [...links, linkOf(await withFiles(parsed, path, what, ports), path, targetsOf(parsed))];
}

function linkOf(
  parsed: Pick<Link, "kind" | "apiVersion" | "metadata"> & { readonly spec: ParsedSpec },
  path: string,
  targets: readonly Target[],
): Link {
  const { kind, apiVersion, metadata, spec } = parsed;
  return { kind, apiVersion, metadata, name: metadata.name, path, targets, spec: layerSpecOf(spec) };
}

function withEnvironment(what: string, { environment }: DocumentPorts) {
  return environment === undefined ? { what } : { what, environment };
}

async function readInput(source: DocumentSource, what: string, ports: DocumentPorts): Promise<unknown> {
  return readDocumentText(source.text ?? (await readFile(source.path, what, ports)), what);
}

async function readFile(path: string, what: string, ports: DocumentPorts): Promise<string> {
  try {
    return await ports.readText(path);
  } catch (thrown) {
    const why = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "it can't be read";
    throw new SimlockError("STATE_INVALID", `The ${what} is not readable: ${path}: ${why}.`, {
      hint: "Check the path; a relative one begins at the folder of the file that it stands in.",
      details: { path },
      cause: thrown,
    });
  }
}

/** The document with its paths made absolute and its push files in place. */
async function withFiles<T extends Pick<ParsedLayer, "apiVersion"> & { readonly spec: ParsedSpec }>(
  parsed: T,
  path: string,
  what: string,
  ports: DocumentPorts,
): Promise<T> {
  if (parsed.apiVersion !== V1) return parsed;
  const folder = dirname(path);
  const at = (relative: string): string => resolve(folder, relative);
  const { applications, media, rootCertificates, push, ...rest } = parsed.spec;
  const spec: ParsedSpec = {
    ...rest,
    ...(applications === undefined
      ? {}
      : {
          applications: applications.map((entry) =>
            entry.sourcePath === undefined ? entry : { ...entry, sourcePath: at(entry.sourcePath) },
          ),
        }),
    ...(media === undefined ? {} : { media: media.map(at) }),
    ...(rootCertificates === undefined ? {} : { rootCertificates: rootCertificates.map(at) }),
    ...(push === undefined
      ? {}
      : {
          push: await Promise.all(
            push.map(async ({ file, ...entry }, index) =>
              file === undefined ? entry : { ...entry, payload: await readPush(at(file), index, what, ports) },
            ),
          ),
        }),
  };
  return { ...parsed, spec };
}

/** Tools that send pushes write the app beside the payload, in this key; it is none of the payload's. */
const TARGET_KEY = "Simulator Target Bundle";

async function readPush(file: string, index: number, what: string, ports: DocumentPorts) {
  const input = await readDocumentText(await readFile(file, what, ports), `push ${file}`);
  const place = ["spec", "push", index, "file"];
  const bound = boundProblem(input);
  if (bound !== undefined) throw stateInvalid(`push ${file} of the ${what}`, [bound]);
  const payload = isFields(input)
    ? Object.fromEntries(Object.entries(input).filter(([key]) => key !== TARGET_KEY))
    : input;
  const parsed = PushPayload.safeParse(payload);
  const problems = parsed.success ? pushProblems(parsed.data, place) : problemsOf(parsed.error);
  if (!parsed.success || problems.length > 0) throw stateInvalid(`push ${file} of the ${what}`, problems);
  return parsed.data;
}
