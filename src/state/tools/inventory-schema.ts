import { z } from "zod";
import type { Inventory } from "../types.ts";
import type { ShapeOf } from "../documents/rule.ts";
import { InventoryDeviceSchema } from "../documents/snapshot-schema.ts";

export const InventorySchema = z.object({
  generatedAt: z.string().describe("ISO 8601, UTC."),
  developerDirectory: z.string().exactOptional(),
  runtimes: z.array(
    z.object({
      identifier: z.string(),
      name: z.string(),
      version: z.string().exactOptional(),
      isAvailable: z.boolean(),
    }),
  ),
  devices: z.array(InventoryDeviceSchema),
  deviceTypes: z
    .array(z.object({ identifier: z.string(), name: z.string() }))
    .exactOptional()
    .describe("What a simulator can be made as."),
} satisfies ShapeOf<Inventory>);
