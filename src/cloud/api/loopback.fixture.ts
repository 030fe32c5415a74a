import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createCloudApi, type CloudApiOptions } from "./create-cloud-api.ts";

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export type Respond = (request: Received, response: ServerResponse, attempt: number) => void;

export const KEY = "dr_sk_test_0123456789";

/** A server on loopback that answers as a test says, and a client of it that notes how long it would have waited. */
export async function cloudAt(respond: Respond, options: Partial<CloudApiOptions> = {}) {
  const received: Received[] = [];
  const waited: number[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const one = {
        method: request.method ?? "",
        url: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks),
      };
      received.push(one);
      respond(one, response, received.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const api = createCloudApi({
    baseUrl: `${origin}/v1`,
    key: KEY,
    wait: async (ms) => {
      waited.push(ms);
    },
    ...options,
  });
  return {
    api,
    origin,
    received,
    waited,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
