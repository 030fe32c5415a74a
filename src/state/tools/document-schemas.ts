import { z } from "zod";
import { PRESET_NAMES } from "../documents/presets.ts";
import { LayerV1Alpha1, ProfileV1Alpha1, V1, V1ALPHA1 } from "../documents/profile-schema.ts";

/**
 * Documents as the tools take them. They are decoded by the documents' own rules, whose errors point at every problem; here is what an agent is shown.
 * One tool shows all of v1alpha1, the others the outline: a list of tools that repeats it would fill an agent's context.
 */
const NEWER = `${V1} takes more fields (appearance, contentSize, localization, privacy, location, pasteboard, push, …): see docs/state-reference.md.`;

const document = z.record(z.string(), z.unknown());

export const WholeProfile = document.meta({
  ...shown(ProfileV1Alpha1),
  description: `What the simulator should be like. Shown is ${V1ALPHA1}. ${NEWER}`,
});

export const OutlinedProfile = document.meta({
  ...outline("SimulatorState", {
    target: { type: "object", description: "Which simulator: udid, name or runtime; every given one must hold." },
  }),
  description: "What the simulator should be like, as simulator_compose takes it.",
});

export const WholeOverlays = overlays(shown(LayerV1Alpha1));
export const OutlinedOverlays = overlays(outline("SimulatorStateLayer", {}));

/** With every default written out. */
export const ComposedProfile = z.looseObject({
  apiVersion: z.enum([V1ALPHA1, V1]),
  kind: z.literal("SimulatorState"),
  metadata: z.object({ name: z.string(), description: z.string().exactOptional() }),
  target: z.looseObject({
    udid: z.string().exactOptional(),
    name: z.string().exactOptional(),
    runtime: z.string().exactOptional(),
  }),
  spec: z
    .looseObject({
      power: z.enum(["booted", "shutdown", "unchanged"]),
      eraseBeforeApply: z.boolean(),
      applications: z.array(z.looseObject({ bundleIdentifier: z.string(), presence: z.enum(["present", "absent"]) })),
      preferences: z.array(z.looseObject({ domain: z.string(), key: z.string(), value: z.json() })),
      statusBar: z.record(z.string(), z.union([z.string(), z.int()])).exactOptional(),
    })
    .describe(NEWER),
});

type Shown = Readonly<Record<string, unknown>>;

function overlays(layer: Shown) {
  const only = (name: string, value: unknown): Shown => ({
    type: "object",
    properties: { [name]: value },
    required: [name],
    additionalProperties: false,
  });
  return z
    .array(z.unknown())
    .optional()
    .meta({
      items: { oneOf: [only("preset", { type: "string", enum: PRESET_NAMES }), only("layer", layer)] },
      default: [],
      description: "Laid over the profile from first to last; later values win.",
    });
}

function outline(kind: string, more: Shown): Shown {
  const fields: Shown = {
    apiVersion: { type: "string", enum: [V1ALPHA1, V1] },
    kind: { const: kind },
    metadata: { type: "object", properties: { name: { type: "string", minLength: 1 } }, required: ["name"] },
    ...more,
    spec: { type: "object" },
  };
  return { type: "object", properties: fields, required: Object.keys(fields), additionalProperties: true };
}

/** As JSON Schema within another one. */
function shown(schema: z.ZodType): Shown {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest;
}
