import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const string = { type: "string" } as const;
const titled = (...titles: readonly string[]) => titles.map((title, index) => ({ const: `value${index + 1}`, title }));

const WITH_DEFAULTS = {
  type: "object",
  properties: {
    name: { ...string, default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { ...string, enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  },
  required: [],
} as const;

const ENUMS = {
  type: "object",
  properties: {
    untitledSingle: { ...string, enum: ["option1", "option2", "option3"] },
    titledSingle: { ...string, oneOf: titled("First Option", "Second Option", "Third Option") },
    legacyEnum: {
      ...string,
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { ...string, enum: ["option1", "option2", "option3"] } },
    titledMulti: { type: "array", items: { anyOf: titled("First Choice", "Second Choice", "Third Choice") } },
  },
  required: [],
} as const;

/** Tools of the legacy era, which ask the client while they run: the questions go out on the stream of the call. */
export function registerAskingTools(server: McpServer): void {
  const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });

  server.registerTool(
    "test_sampling",
    { description: "Asks the client's model.", inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, { mcpReq }) => {
      const params = {
        messages: [{ role: "user" as const, content: { type: "text" as const, text: prompt } }],
        maxTokens: 100,
      };
      const { content } = await mcpReq.send({ method: "sampling/createMessage", params });
      const [first] = Array.isArray(content) ? content : [content];
      return text(`LLM response: ${first?.type === "text" ? first.text : ""}`);
    },
  );
  server.registerTool(
    "test_elicitation",
    { description: "Asks the user.", inputSchema: z.object({ message: z.string() }) },
    async ({ message }, { mcpReq }) => {
      const requestedSchema = {
        type: "object" as const,
        properties: {
          username: { ...string, description: "User's response" },
          email: { ...string, description: "User's email address" },
        },
        required: ["username", "email"],
      };
      const { action, content } = await mcpReq.send({
        method: "elicitation/create",
        params: { mode: "form", message, requestedSchema },
      });
      return text(`User response: action=${action}, content=${JSON.stringify(content)}`);
    },
  );
  for (const [name, schema] of [
    ["test_elicitation_sep1034_defaults", WITH_DEFAULTS],
    ["test_elicitation_sep1330_enums", ENUMS],
  ] as const) {
    server.registerTool(
      name,
      { description: "Asks with a form.", inputSchema: z.object({}) },
      async (_input, { mcpReq }) => {
        const requestedSchema = structuredClone(schema) as never;
        const { action, content } = await mcpReq.send({
          method: "elicitation/create",
          params: { mode: "form", message: "Please fill in the form.", requestedSchema },
        });
        return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
      },
    );
  }
}
