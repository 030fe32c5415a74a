import type { ApiVersion, DesiredState, Layer, LayerSpec, Profile } from "../types.ts";
import { type DecodeOptions, decodeLayer } from "./decode.ts";
import { filledState } from "./fill.ts";
import { overlay } from "./merge.ts";
import { presetLayer } from "./presets.ts";
import { problemAt, stateInvalid } from "./problems.ts";
import { V1, V1ALPHA1 } from "./profile-schema.ts";
import { type Provenance, provenanceOf, type Said, type Source } from "./provenance.ts";
import { isFields } from "./substitute.ts";

/** One more document to lay over a profile. `file` is where it was read from, for provenance. */
export type Overlay = { readonly preset: string } | { readonly layer: Layer; readonly file?: string };

export interface Composed {
  readonly profile: Profile;
  readonly provenance: Provenance;
}

/**
 * Lays the overlays over the profile, first to last. Applications are laid over by bundle identifier, preferences by domain and key, privacy by service
 * and app, the status bar and localization by field; anything else is replaced. Name and target stay the profile's. Lists are sorted if there is an
 * overlay, and keep their order otherwise. `said`: what the profile itself was made of, where it was read from files.
 * Throws STATE_INVALID for an unknown preset.
 */
export function compose(profile: Profile, overlays: readonly Overlay[], said?: readonly Said[]): Composed {
  const base = said ?? [
    { source: { kind: "profile", name: profile.metadata.name }, spec: profile.spec } satisfies Said,
  ];
  const layers = overlays.map((entry): Said & { readonly apiVersion: ApiVersion } => {
    if ("preset" in entry) {
      const { spec, apiVersion } = presetLayer(entry.preset);
      return { source: { kind: "preset", name: entry.preset }, spec, apiVersion };
    }
    const { layer, file } = entry;
    const source: Source = { kind: "layer", name: layer.metadata.name, ...(file === undefined ? {} : { file }) };
    return { source, spec: layer.spec, apiVersion: layer.apiVersion };
  });
  const spec =
    layers.length === 0 ? profile.spec : filledState(laid([profile.spec, ...layers.map((layer) => layer.spec)]));
  const apiVersion = profile.apiVersion === V1ALPHA1 && fitsV1Alpha1(spec) ? V1ALPHA1 : V1;
  return { profile: { ...profile, apiVersion, spec }, provenance: provenanceOf(spec, [...base, ...layers]) };
}

function laid(specs: readonly LayerSpec[]): LayerSpec {
  const [first = {}, ...rest] = specs;
  return rest.reduce(overlay, first);
}

/** Several layers as one that has the same effect, whatever it is laid over. The first one's name stays. */
export function composeLayers(first: Layer, ...rest: readonly Layer[]): Layer {
  const apiVersion = [first, ...rest].some((layer) => layer.apiVersion === V1) ? V1 : V1ALPHA1;
  return { ...first, apiVersion, spec: laid([first, ...rest].map(({ spec }) => spec)) };
}

const V1ALPHA1_FIELDS = new Set(["power", "eraseBeforeApply", "applications", "preferences", "statusBar"]);
const V1ALPHA1_APPLICATION = new Set(["bundleIdentifier", "sourcePath", "presence", "running", "launchArguments"]);

/** Whether v1alpha1 has a form for all of it. */
export function fitsV1Alpha1(spec: DesiredState): boolean {
  return (
    Object.keys(spec).every((field) => V1ALPHA1_FIELDS.has(field)) &&
    spec.applications.every((entry) => Object.keys(entry).every((field) => V1ALPHA1_APPLICATION.has(field))) &&
    spec.preferences.every((entry) => entry.sensitive === undefined)
  );
}

/** `[{preset: name} | {layer: document}]`, as the tools take it; absent is none. Throws STATE_INVALID. */
export function decodeOverlays(input: unknown, options: DecodeOptions = {}): readonly Overlay[] {
  if (input === undefined) return [];
  if (!Array.isArray(input)) throw stateInvalid("list of overlays", [problemAt([], "must be a list")]);
  const entries: readonly unknown[] = input;
  return entries.map((entry, index): Overlay => {
    const keys = isFields(entry) ? Object.keys(entry) : [];
    const { preset, layer } = isFields(entry) ? entry : {};
    if (keys.length !== 1 || (preset === undefined && layer === undefined)) {
      throw stateInvalid("list of overlays", [
        problemAt([index], "must be an object with exactly one of preset and layer"),
      ]);
    }
    if (layer !== undefined) return { layer: decodeLayer(layer, { ...options, what: `layer of overlay ${index}` }) };
    if (typeof preset !== "string" || preset === "") {
      throw stateInvalid("list of overlays", [problemAt([index, "preset"], "must be the name of a preset")]);
    }
    presetLayer(preset);
    return { preset };
  });
}
