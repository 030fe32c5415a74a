import { z } from "zod";
import { PlanSchema, ReportSchema } from "./plan-schema.ts";
import { LayerV1, LayerV1Alpha1, ProfileV1, ProfileV1Alpha1 } from "./profile-schema.ts";
import { SnapshotSchema } from "./snapshot-schema.ts";

/** The schemas that the published files, the reference and the tools' descriptions are made of. */
interface PublishedSchema {
  /** The file is `NAME.schema.json`. */
  readonly name: string;
  readonly title: string;
  readonly schema: z.ZodType;
}

export const SCHEMAS: readonly PublishedSchema[] = [
  { name: "awesome-ios-sim-v1alpha1-profile", title: "Profile, awesome-ios-sim/v1alpha1", schema: ProfileV1Alpha1 },
  { name: "awesome-ios-sim-v1alpha1-layer", title: "Layer, awesome-ios-sim/v1alpha1", schema: LayerV1Alpha1 },
  { name: "simlock-v1-profile", title: "Profile, simlock/v1", schema: ProfileV1 },
  { name: "simlock-v1-layer", title: "Layer, simlock/v1", schema: LayerV1 },
  { name: "snapshot", title: "Snapshot", schema: SnapshotSchema },
  { name: "plan", title: "Plan", schema: PlanSchema },
  { name: "report", title: "Execution report", schema: ReportSchema },
];

export type JsonSchema = Readonly<Record<string, unknown>>;

const NOT_SAID =
  "What JSON Schema can't say is checked when the document is read: that applications, preferences, privacy and targets are unique by their keys, that " +
  "a push is at most 4096 bytes, that a time zone and a URL are ones, that a profile has a target where nothing else says which device is meant.";

/** The published form, JSON Schema 2020-12, of what is accepted before `${env:NAME}` is filled in. */
export function jsonSchemaOf({ name, title, schema }: PublishedSchema): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, { target: "draft-2020-12", io: "input" });
  return { $schema, $id: `urn:simlock:schema:${name}`, title, description: NOT_SAID, ...rest };
}
