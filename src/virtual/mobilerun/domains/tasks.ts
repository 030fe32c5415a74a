import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import { Special, type Handlers } from "../handler.ts";
import { contains, paged, sorted } from "../paging.ts";
import { Problem, notFound } from "../problem.ts";
import { streamUrl, type Tasks, type VirtualTask } from "../task.ts";
import { without } from "../without.ts";

const MODEL = "google/gemini-3.5-flash";

export function taskHandlers(account: Account, tasks: Tasks): Handlers<typeof endpoints.tasks> {
  const byKey = new Map<string, { body: string; task: VirtualTask }>();
  const started = (task: VirtualTask) => ({
    id: task.id,
    status: task.status,
    streamUrl: task.status === "queued" ? null : streamUrl(task),
  });
  const shown = (task: VirtualTask) => {
    const { order, dispatchedAt, ...rest } = without(task, "trajectory", "media", "messages");
    return {
      ...DEFAULTS,
      ...order,
      ...rest,
      dispatchedAt,
      claimedAt: dispatchedAt,
      creditsUsed: task.steps * 2,
      streamUrl: started(task).streamUrl,
      ...account.owner,
    };
  };
  const url = (path: { readonly taskId: string; readonly index: string }, kind: "s" | "u") => {
    const found = tasks.get(path.taskId).media[kind][/^\d{1,6}$/.test(path.index) ? Number(path.index) : -1];
    if (found === undefined) throw notFound("Media", path.index);
    return { url: found };
  };

  return {
    run({ body, headers }) {
      const key = headers.idempotencyKey;
      const known = key === undefined ? undefined : byKey.get(key);
      const text = JSON.stringify(body);
      if (known !== undefined) {
        if (known.body !== text) throw new Problem(409, "The idempotency key was used for another task");
        return started(known.task);
      }
      const task = tasks.run(body);
      if (key !== undefined) byKey.set(key, { body: text, task });
      return started(task);
    },
    list({ query }) {
      const found = tasks
        .all()
        .filter(
          (task) =>
            (query.status === undefined || task.status === query.status) && contains(task.order.task, query.query),
        );
      const page = paged(sorted(found, query.orderBy, query.orderByDirection), query);
      return { ...page, items: page.items.map(shown) };
    },
    get: ({ path }) => ({ task: shown(tasks.get(path.taskId)) }),
    status({ path }) {
      const task = tasks.get(path.taskId);
      const { status, steps, succeeded, message, output } = task;
      const lastResponse = task.trajectory.findLast(({ event }) => event.endsWith("ResponseEvent")) ?? null;
      const badly = status === "failed" || status === "cancelled";
      const execution = badly
        ? {
            terminationReason: status === "failed" ? "agent_failed" : "cancelled",
            retrySafety: "unknown",
            checkpoint: { steps, currentSubgoal: null, plan: null, progressSummary: null },
          }
        : null;
      return { status, steps, succeeded, message, output, lastResponse, execution };
    },
    trajectory: ({ path }) => ({ trajectory: tasks.get(path.taskId).trajectory }),
    cancel({ path }) {
      tasks.cancel(tasks.get(path.taskId));
      return { cancelled: true };
    },
    message({ path }) {
      tasks.say(tasks.get(path.taskId));
      return { sent: true };
    },
    screenshots: ({ path }) => ({ urls: tasks.get(path.taskId).media.s }),
    screenshot: ({ path }) => url(path, "s"),
    uiStates: ({ path }) => ({ urls: tasks.get(path.taskId).media.u }),
    uiState: ({ path }) => url(path, "u"),
    stream({ body, signal }) {
      const task = tasks.run(body);
      signal.addEventListener("abort", () => tasks.ended(task) || tasks.cancel(task), { once: true });
      return new Special(200, "text/event-stream", told(tasks, task, signal));
    },
    attach: ({ path, signal }) => new Special(200, "text/event-stream", told(tasks, tasks.get(path.taskId), signal)),
  };
}

async function* told(tasks: Tasks, task: VirtualTask, signal: AbortSignal): AsyncGenerator<string> {
  const gone = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  for (let at = 0; !signal.aborted; at += 1) {
    while (at === task.trajectory.length) {
      if (tasks.ended(task) || signal.aborted) return;
      await Promise.race([tasks.changed(task), gone]);
    }
    const one = task.trajectory[at];
    if (one !== undefined) yield `event: ${one.event}\ndata: ${JSON.stringify(one.data)}\n\n`;
  }
}

const DEFAULTS = {
  displayId: 0,
  llmModel: MODEL,
  subagentModel: MODEL,
  tmpDevice: false,
  agentId: 1,
  apps: [],
  credentials: [],
  files: [],
  maxSteps: 40,
  executionTimeout: 900,
  temperature: 0.2,
  reasoning: false,
  vision: true,
  stealth: false,
  accessibility: true,
  continueOnFailure: false,
  memoryNamespace: "default",
  vpnCountry: null,
  outputSchema: null,
};
