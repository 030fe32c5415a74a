import type { CloudServer } from "./cloud-server.ts";

/** Has a server's process open its debugger, so that its memory can be looked into. */
export const WATCHED = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

export interface Memory {
  /** Resident, in bytes. */
  readonly rss: number;
  /** What lives on the heap and what it holds outside of it, in bytes. */
  readonly live: number;
}

/** The memory of a server that was started with `WATCHED`. */
export class CloudMemory {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #asked = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown };
      this.#waiting.get(id)?.(result);
      this.#waiting.delete(id);
    });
  }

  static async of({ errors }: Pick<CloudServer, "errors">): Promise<CloudMemory> {
    // It says so each time it begins: a server over HTTP begins again in its own process, with the flags of one.
    const line = errors.lines.findLast((said) => said.startsWith("Debugger listening on "));
    const socket = new WebSocket(String(line).replace("Debugger listening on ", ""));
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve);
      socket.addEventListener("error", reject);
    });
    return new CloudMemory(socket);
  }

  async now(): Promise<Memory> {
    const expression = "process.memoryUsage()";
    const answer = await this.#ask("Runtime.evaluate", { expression, returnByValue: true });
    const { value } = (answer as { result: { value: NodeJS.MemoryUsage } }).result;
    return { rss: value.rss, live: value.heapUsed + value.external };
  }

  /** With all that nothing refers to collected first: what is left is kept. */
  async kept(): Promise<Memory> {
    // What a first collection finalizes, a second one frees.
    for (let round = 0; round < 2; round += 1) await this.#ask("HeapProfiler.collectGarbage", {});
    return this.now();
  }

  close(): void {
    this.#socket.close();
  }

  #ask(method: string, params: object): Promise<unknown> {
    this.#asked += 1;
    const id = this.#asked;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }
}
