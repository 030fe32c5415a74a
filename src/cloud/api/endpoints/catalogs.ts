import { z } from "zod";
import { domain, empty, get, json, post, put, remove } from "../endpoint.ts";
import {
  data,
  flagFields,
  given,
  list,
  number,
  page,
  paging,
  provenance,
  stamps,
  text,
  textFields,
} from "../shapes.ts";
import { DeviceSpec } from "./devices.ts";

const Model = z.object({ id: z.string(), object: text, created: number, owned_by: text });

const Agent = z.object({
  id: z.union([z.number(), z.string()]),
  ...textFields("name", "description", "icon", "llmModel", "subagentModel"),
  maxSteps: number,
  ...flagFields("reasoning", "vision"),
});

/** What the platform offers: models, time zones, agents. */
export const catalogs = domain("catalogs", {
  models: get("/models", { answer: json(z.object({ object: text, data: list(Model).optional() })) }),
  timezones: get("/timezones", { answer: json(data(list(z.string()))) }),
  agents: get("/agents", { answer: json(list(Agent)) }),
});

const Profile = z.object({
  id: z.string(),
  name: text,
  spec: z.record(z.string(), z.unknown()).nullish(),
  ...provenance,
  ...stamps,
});
const NewProfile = z.strictObject({ name: given, spec: DeviceSpec });

/** Specifications of devices, kept under a name. */
export const profiles = domain("profiles", {
  list: get("/profiles", { query: z.strictObject(paging), answer: json(page(Profile)) }),
  get: get("/profiles/{profileId}", { answer: json(Profile) }),
  create: post("/profiles", { body: json(NewProfile), answer: json(Profile) }),
  update: put("/profiles/{profileId}", { body: json(NewProfile), answer: json(Profile) }),
  remove: remove("/profiles/{profileId}", { answer: empty }),
});
