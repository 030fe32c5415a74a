import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, expect, test } from "vitest";
import { KEY, served } from "./server.fixture.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Answer = { action: "accept" | "decline" | "cancel" };

async function connected(era: "modern" | "legacy", answer?: Answer) {
  const server = await served();
  closers.push(server.close);
  const asked: string[] = [];
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" },
    },
  );
  if (answer !== undefined) {
    client.setRequestHandler("elicitation/create", (request) => {
      asked.push(request.params.message);
      return { ...answer, ...(answer.action === "accept" ? { content: {} } : {}) };
    });
  }
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: { authorization: `Bearer ${KEY}` } },
  });
  await client.connect(transport);
  closers.push(() => client.close());
  return { server, client, asked };
}

for (const era of ["modern", "legacy"] as const) {
  test(`the official client of the ${era} era lists, calls and reads`, async () => {
    const { client, server } = await connected(era);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(["echo", "wait_for_it", "delete_it", "break"]);
    expect(tools[0]).toMatchObject({
      title: "Echo",
      annotations: { readOnlyHint: true },
      inputSchema: { type: "object" },
    });
    expect((await client.listTools()).tools).toEqual(tools);
    const result = await client.callTool({ name: "echo", arguments: { text: "hello" } });
    expect(result).toMatchObject({
      content: [{ type: "text", text: '{"text":"hello"}' }],
      structuredContent: { text: "hello" },
    });
    expect(await client.readResource({ uri: "test://guide" })).toMatchObject({ contents: [{ text: "Do." }] });
    expect(client.getInstructions()).toBe("Echo, wait, delete.");
    expect(server.audit).toMatchObject([{ toolName: "echo", outcome: "ok", requestId: expect.any(String) }]);
  });

  test(`a call of the ${era} era with a progress token is streamed`, async () => {
    const { client, server } = await connected(era);
    const heard: unknown[] = [];
    const told = Promise.withResolvers<void>();
    const result = client.callTool(
      { name: "wait_for_it", arguments: {} },
      {
        onprogress: (progress) => {
          heard.push(progress);
          told.resolve();
        },
      },
    );
    const call = await server.arrived();
    call.progress?.({ progress: 1, message: "half" });
    await told.promise;
    call.finish();
    expect(await result).toMatchObject({ structuredContent: { waited: true } });
    expect(heard).toMatchObject([{ progress: 1, message: "half" }]);
  });

  test(`a client of the ${era} era that gives up ends its call`, async () => {
    const { client, server } = await connected(era, { action: "decline" });
    const abort = new AbortController();
    const result = client.callTool({ name: "wait_for_it", arguments: {} }, { signal: abort.signal });
    const call = await server.arrived();
    const ended = new Promise((resolve) => call.signal.addEventListener("abort", resolve));
    abort.abort("enough");
    await expect(result).rejects.toThrow();
    await ended;
  });

  test(`the user is asked in the ${era} era before something is destroyed`, async () => {
    const yes = await connected(era, { action: "accept" });
    expect(await yes.client.callTool({ name: "delete_it", arguments: {} })).toMatchObject({
      structuredContent: { deleted: true },
    });
    expect(yes.asked).toEqual(["Allow delete_it? It is destructive."]);

    const no = await connected(era, { action: "decline" });
    const refused = await no.client.callTool({ name: "delete_it", arguments: {} });
    expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("[forbidden]") }] });

    const mute = await connected(era);
    const unasked = await mute.client.callTool({ name: "delete_it", arguments: {} });
    expect(unasked).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("cannot ask") }] });
  });
}
