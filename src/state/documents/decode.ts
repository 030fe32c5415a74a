import type { z } from "zod";
import type { ApiVersion, Layer, Profile, Snapshot, Target } from "../types.ts";
import { boundProblem } from "./bounded.ts";
import { filledState, layerSpecOf } from "./fill.ts";
import { type Problem, problemAt, problemsOf, stateInvalid } from "./problems.ts";
import {
  LayerV1,
  LayerV1Alpha1,
  type ParsedLayer,
  type ParsedProfile,
  ProfileV1,
  ProfileV1Alpha1,
  V1,
  V1ALPHA1,
} from "./profile-schema.ts";
import { repeatedTargets, semanticProblems } from "./semantics.ts";
import { SnapshotSchema } from "./snapshot-schema.ts";
import { isFields, substitute } from "./substitute.ts";

export interface DecodeOptions {
  /** How errors name the document: "profile" when left out. */
  readonly what?: string;
  /** Fills in `${env:NAME}` of simlock/v1; where it is left out, such a document is refused. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const PROFILES = { [V1ALPHA1]: ProfileV1Alpha1, [V1]: ProfileV1 } as const;
const LAYERS = { [V1ALPHA1]: LayerV1Alpha1, [V1]: LayerV1 } as const;

/** A profile for one device, filled in. Throws STATE_INVALID with the JSON pointer of every problem. */
export function decodeProfile(input: unknown, options: DecodeOptions = {}): Profile {
  const profiles = decodeProfiles(input, options);
  const [only] = profiles;
  if (only !== undefined && profiles.length === 1) return only;
  throw stateInvalid(
    options.what ?? "profile",
    [problemAt(["targets"], `names ${profiles.length} devices, where one is meant`)],
    "Give it one target, or use it where a profile may name several devices.",
  );
}

/** A profile for each device that the document names, in its order. Throws STATE_INVALID. */
export function decodeProfiles(input: unknown, options: DecodeOptions = {}): readonly Profile[] {
  const what = options.what ?? "profile";
  const parsed = parseProfileDocument(input, options);
  const needsFiles = [
    ...(extendsOf(parsed).length > 0 ? [problemAt(["extends"], NEEDS_A_FILE)] : []),
    ...pushFiles(parsed),
  ];
  if (needsFiles.length > 0)
    throw stateInvalid(what, needsFiles, "Read the profile from a file, or write everything into it.");
  const targets = targetsOf(parsed);
  if (targets.length === 0) throw stateInvalid(what, [problemAt(["target"], "required: target or targets")]);
  const spec = filledState(layerSpecOf(parsed.spec));
  return targets.map((target) => profileOf(parsed, target, spec));
}

const NEEDS_A_FILE = "other files are read only where the document itself is read from a file";

function pushFiles({ spec }: { readonly spec: ParsedLayer["spec"] }): readonly Problem[] {
  const push = "push" in spec ? spec.push : undefined;
  return (push ?? []).flatMap(({ file }, index) =>
    file === undefined ? [] : [problemAt(["spec", "push", index, "file"], NEEDS_A_FILE)],
  );
}

export function profileOf(
  { apiVersion, metadata }: { readonly apiVersion: ApiVersion; readonly metadata: Profile["metadata"] },
  target: Target,
  spec: Profile["spec"],
): Profile {
  return { apiVersion, kind: "SimulatorState", metadata, target, spec };
}

export function extendsOf(parsed: ParsedProfile): readonly string[] {
  const said = "extends" in parsed ? parsed.extends : undefined;
  return said === undefined ? [] : typeof said === "string" ? [said] : said;
}

/** None when the profile leaves them to what it extends. */
export function targetsOf(parsed: ParsedProfile): readonly Target[] {
  if ("targets" in parsed && parsed.targets !== undefined) return parsed.targets;
  return parsed.target === undefined ? [] : [parsed.target];
}

/** A layer. Throws STATE_INVALID. */
export function decodeLayer(input: unknown, options: DecodeOptions = {}): Layer {
  const what = options.what ?? "layer";
  const parsed = parseLayerDocument(input, { ...options, what });
  const needsFiles = pushFiles(parsed);
  if (needsFiles.length > 0)
    throw stateInvalid(what, needsFiles, "Read the layer from a file, or write the payload into it.");
  return layerOf(parsed);
}

export function layerOf({ apiVersion, kind, metadata, spec }: ParsedLayer): Layer {
  return { apiVersion, kind, metadata, spec: layerSpecOf(spec) };
}

export function parseProfileDocument(input: unknown, { what = "profile", environment }: DecodeOptions): ParsedProfile {
  const prepared = prepare(input, what, environment);
  const parsed = parse<ParsedProfile>(PROFILES[prepared.apiVersion], prepared.value, what);
  const targets = "targets" in parsed ? (parsed.targets ?? []) : [];
  refuseAny(what, [...semanticProblems(parsed.spec), ...repeatedTargets(targets)]);
  return parsed;
}

export function parseLayerDocument(input: unknown, { what = "layer", environment }: DecodeOptions): ParsedLayer {
  const prepared = prepare(input, what, environment);
  const parsed = parse<ParsedLayer>(LAYERS[prepared.apiVersion], prepared.value, what);
  refuseAny(what, semanticProblems(parsed.spec));
  return parsed;
}

/** A saved snapshot. What it says beyond what we know is passed over. Throws STATE_INVALID. */
export function decodeSnapshot(input: unknown, { what = "snapshot" }: Pick<DecodeOptions, "what"> = {}): Snapshot {
  refuseAny(what, boundProblem(input));
  const parsed = parse<z.output<typeof SnapshotSchema>>(SnapshotSchema, withoutNulls(input), what);
  return { ...parsed, apiVersion: "awesome-ios-sim/snapshot-v1alpha1" };
}

function prepare(
  input: unknown,
  what: string,
  environment: DecodeOptions["environment"],
): { readonly apiVersion: ApiVersion; readonly value: unknown } {
  refuseAny(what, boundProblem(input));
  if (!isFields(input)) throw stateInvalid(what, [problemAt([], "must be an object")]);
  const { apiVersion } = input;
  if (apiVersion === V1ALPHA1) return { apiVersion, value: withoutNulls(input) };
  if (apiVersion === V1) {
    const { value, problems } = substitute(input, environment);
    refuseAny(what, problems);
    return { apiVersion, value };
  }
  const versions = `${V1ALPHA1} and ${V1}`;
  const said =
    typeof apiVersion === "string"
      ? `the version ${JSON.stringify(apiVersion.slice(0, 80))} is not supported; supported are ${versions}`
      : `required: ${V1ALPHA1} or ${V1}`;
  throw stateInvalid(what, [problemAt(["apiVersion"], said)]);
}

function parse<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw stateInvalid(what, problemsOf(result.error));
}

function refuseAny(what: string, problems: readonly Problem[] | Problem | undefined): void {
  const list = problems === undefined ? [] : "pointer" in problems ? [problems] : problems;
  if (list.length > 0) throw stateInvalid(what, list);
}

/**
 * v1alpha1 takes null for a field that is not set; its own decoder does. Not within values that are themselves JSON: a preference's `value`, which is
 * deleted by null, and a status bar, whose members are never null.
 */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => withoutNulls(entry));
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, entry]) => {
      if (key === "value" || key === "statusBar") return entry === null && key !== "value" ? [] : [[key, entry]];
      return entry === null ? [] : [[key, withoutNulls(entry)]];
    }),
  );
}
