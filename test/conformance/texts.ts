import { completable, ResourceTemplate, type McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { PNG } from "./content-tools.ts";

/** Resources and prompts. */
export function registerTexts(server: McpServer): void {
  const plain = { description: "For tests.", mimeType: "text/plain" };
  for (const [name, uri, text] of [
    ["static-text", "test://static-text", "This is the content of the static text resource."],
    ["watched", "test://watched-resource", "Watched."],
  ] as const) {
    server.registerResource(name, uri, plain, () => ({ contents: [{ uri, mimeType: "text/plain", text }] }));
  }
  const binary = "test://static-binary";
  server.registerResource("static-binary", binary, { description: "For tests.", mimeType: "image/png" }, () => ({
    contents: [{ uri: binary, mimeType: "image/png", blob: PNG }],
  }));
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { description: "For tests.", mimeType: "application/json" },
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: "application/json",
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  );

  const words = (text: string) => ({ role: "user" as const, content: { type: "text" as const, text } });
  server.registerPrompt("test_simple_prompt", { description: "A prompt." }, () => ({
    messages: [words("This is a simple prompt for testing.")],
  }));
  const completing = (description: string) =>
    completable(z.string().describe(description), (value) =>
      ["paris", "park"].filter((word) => word.startsWith(value)),
    );
  server.registerPrompt(
    "test_prompt_with_arguments",
    {
      description: "A prompt with arguments.",
      argsSchema: z.object({ arg1: completing("First test argument"), arg2: completing("Second test argument") }),
    },
    ({ arg1, arg2 }) => ({ messages: [words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "A prompt with a resource.", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        {
          role: "user",
          content: {
            type: "resource",
            resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
          },
        },
        words("Please process the embedded resource above."),
      ],
    }),
  );
  server.registerPrompt("test_prompt_with_image", { description: "A prompt with a picture." }, () => ({
    messages: [
      { role: "user", content: { type: "image", data: PNG, mimeType: "image/png" } },
      words("Please analyze the image above."),
    ],
  }));
}
