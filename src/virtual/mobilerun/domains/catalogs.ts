import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import type { Handlers } from "../handler.ts";
import { paged } from "../paging.ts";
import { notFound } from "../problem.ts";

const MODELS = ["google/gemini-3.5-flash", "openai/gpt-5.1-mini"];

export function catalogHandlers(): Handlers<typeof endpoints.catalogs> {
  return {
    models: () => ({
      object: "list",
      data: MODELS.map((id) => ({ id, object: "model", created: 1_767_225_600, owned_by: id.split("/")[0] })),
    }),
    timezones: () => ({ data: [...Intl.supportedValuesOf("timeZone"), "UTC"] }),
    agents: () => [
      {
        id: 1,
        name: "General",
        description: "Does what it is told",
        icon: "sparkles",
        llmModel: MODELS[0],
        subagentModel: MODELS[0],
        maxSteps: 40,
        reasoning: false,
        vision: true,
      },
    ],
  };
}

export function profileHandlers(account: Account): Handlers<typeof endpoints.profiles> {
  const all = new Map<string, object>();
  const find = (id: string) => {
    const profile = all.get(id);
    if (profile === undefined) throw notFound("Profile", id);
    return profile;
  };
  return {
    list: ({ query }) => paged([...all.values()], query),
    get: ({ path }) => find(path.profileId),
    create({ body }) {
      const id = account.mint("prf");
      const at = account.now();
      const profile = { id, ...body, ...account.owner, createdAt: at, updatedAt: at };
      all.set(id, profile);
      return profile;
    },
    update({ path, body }) {
      const profile = { ...find(path.profileId), ...body, updatedAt: account.now() };
      all.set(path.profileId, profile);
      return profile;
    },
    remove({ path }) {
      find(path.profileId);
      all.delete(path.profileId);
    },
  };
}
