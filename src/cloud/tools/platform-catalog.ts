import { z } from "zod";
import { EventTypePage } from "../backend/workflows.ts";
import { Model } from "../backend/platform-catalog.ts";
import { MAX_SLICE, sliceFields, sliceOf } from "./bounds.ts";
import { bundle } from "./declare.ts";
import { page, pageSize } from "./inputs.ts";

const rest = { total: z.int(), offset: z.int(), hasMore: z.boolean(), nextOffset: z.int().optional() };

export const platformCatalog = bundle(
  {
    name: "platform_catalog",
    title: "What the platform offers",
    description: "The models that tasks can run on, the time zones that devices can have, and the types of app events.",
    by: "catalog",
    fields: { page, pageSize, ...sliceFields },
  },
  (operation) => ({
    models: operation({
      effects: ["read"],
      may: ["offset", "limit"],
      answer: z.object({ object: z.literal("list"), data: z.array(Model), ...rest }),
      async run({ offset, limit }, { backend, within }) {
        const { items: data, ...more } = sliceOf((await backend.platformCatalog.listModels(within)).data, {
          offset,
          limit,
        });
        return { object: "list" as const, data, ...more };
      },
    }),
    timezones: operation({
      effects: ["read"],
      may: ["offset", "limit"],
      answer: z.object({ data: z.array(z.string()), ...rest }),
      async run({ offset, limit = MAX_SLICE }, { backend, within }) {
        const all = (await backend.platformCatalog.listTimezones(within)).data;
        const { items: data, ...more } = sliceOf(all, { offset, limit });
        return { data, ...more };
      },
    }),
    app_event_types: operation({
      effects: ["read"],
      may: ["page", "pageSize"],
      answer: EventTypePage,
      run: ({ page, pageSize }, { backend, within }) =>
        backend.workflows.listAppEventCatalog({ page, pageSize }, within),
    }),
  }),
);
