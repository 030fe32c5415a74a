import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  type InputRequests,
  type McpServer,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";

const form = (message: string, field: string, type: "string" | "boolean" = "string") =>
  inputRequired.elicit({
    message,
    requestedSchema: {
      type: "object",
      properties: { [field]: type === "string" ? { type: "string" } : { type: "boolean" } },
      required: [field],
    },
  });
const sampling = (question: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text: question } }], maxTokens });

const NAME = form("What is your name?", "name");
const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });

/** What the user wrote into a field of a form, if he did. */
function said(context: ServerContext, key: string, field: string): string | undefined {
  const view = inputResponse(context.mcpReq.inputResponses, key);
  const value = view.kind === "elicit" && view.action === "accept" ? view.content?.[field] : undefined;
  return value === undefined ? undefined : String(value);
}

/** Tools and a prompt of the modern era: what they need to know they ask for in their answer, and are called again with it. */
export function registerRounds(server: McpServer, codec: RequestStateCodec): void {
  const tool = (name: string, handler: (context: ServerContext) => unknown) =>
    server.registerTool(name, { description: "Needs more than it was given.", inputSchema: z.object({}) }, ((
      _input: object,
      context: ServerContext,
    ) => handler(context)) as never);
  const ask = (inputRequests: InputRequests, requestState?: string) =>
    inputRequired({ inputRequests, ...(requestState === undefined ? {} : { requestState }) });

  tool("test_input_required_result_elicitation", (context) => {
    const name = said(context, "user_name", "name");
    return name === undefined ? ask({ user_name: NAME }) : text(`Hello, ${name}!`);
  });
  tool("test_input_required_result_sampling", ({ mcpReq }) => {
    const view = inputResponse(mcpReq.inputResponses, "capital_question");
    return view.kind === "sampling"
      ? text(JSON.stringify(view.result.content))
      : ask({ capital_question: sampling("What is the capital of France?", 100) });
  });
  tool("test_input_required_result_list_roots", ({ mcpReq }) => {
    const view = inputResponse(mcpReq.inputResponses, "client_roots");
    return view.kind === "roots" ? text(JSON.stringify(view.roots)) : ask({ client_roots: inputRequired.listRoots() });
  });
  for (const name of ["test_input_required_result_request_state", "test_input_required_result_tampered_state"]) {
    tool(name, async (context) => {
      const ok = said(context, "confirm", "ok");
      if (ok !== undefined && context.mcpReq.requestState<{ tool: string }>()?.tool === name) return text("state-ok");
      return ask({ confirm: form("Please confirm", "ok", "boolean") }, await codec.mint({ tool: name }, context));
    });
  }
  tool("test_input_required_result_multiple_inputs", async (context) => {
    const responses = context.mcpReq.inputResponses;
    const name = said(context, "user_name", "name");
    const greeting = inputResponse(responses, "greeting");
    const roots = inputResponse(responses, "client_roots");
    if (name !== undefined && greeting.kind === "sampling" && roots.kind === "roots") {
      return text(`${name}, ${JSON.stringify(greeting.result.content)}, ${JSON.stringify(roots.roots)}`);
    }
    const requests = {
      user_name: NAME,
      greeting: sampling("Generate a greeting", 50),
      client_roots: inputRequired.listRoots(),
    };
    return ask(requests, await codec.mint({ round: 1 }, context));
  });
  tool("test_input_required_result_multi_round", async (context) => {
    const state = context.mcpReq.requestState<{ round: number; name?: string }>();
    const name = said(context, "step1", "name") ?? state?.name;
    const color = said(context, "step2", "color");
    if (name !== undefined && color !== undefined && state?.round === 2) return text(`${name} likes ${color}.`);
    if (name !== undefined) {
      return ask(
        { step2: form("Step 2: What is your favorite color?", "color") },
        await codec.mint({ round: 2, name }, context),
      );
    }
    return ask({ step1: form("Step 1: What is your name?", "name") }, await codec.mint({ round: 1 }, context));
  });
  tool("test_input_required_result_capabilities", ({ mcpReq }) => {
    const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
    const declared = envelope[CLIENT_CAPABILITIES_META_KEY] as Readonly<Record<string, unknown>> | undefined;
    const requests = {
      ...(declared?.["elicitation"] === undefined ? {} : { user_name: NAME }),
      ...(declared?.["sampling"] === undefined ? {} : { greeting: sampling("Generate a greeting", 50) }),
    };
    const answered = Object.keys(mcpReq.inputResponses ?? {}).length > 0;
    return answered || Object.keys(requests).length === 0 ? text("Enough is known.") : ask(requests);
  });
  tool("test_missing_capability", () => ask({ question: sampling("Say something", 10) }));
  tool("test_streaming_elicitation", (context) => {
    const name = said(context, "user_name", "name");
    return name === undefined ? ask({ user_name: NAME }) : text(`Hello, ${name}!`);
  });
  server.registerPrompt("test_input_required_result_prompt", { description: "Needs more than it was given." }, ((
    context: ServerContext,
  ) => {
    const known = said(context, "user_context", "context");
    if (known === undefined) return ask({ user_context: form("What context should the prompt use?", "context") });
    return { messages: [{ role: "user", content: { type: "text", text: `Context: ${known}` } }] };
  }) as never);
}
