import { DEFAULT_CONFIG, type HostFacts, type IdPrefix, type MintId, type PlatformCatalog } from "../contract/index.ts";
import type { State } from "./book.ts";
import { createState } from "./create-state.ts";
import { decide } from "./decide.ts";
import type { Answer, Caller, Decision, Effect, EffectResult, Input, ReplyTo } from "./protocol.ts";
import type { Now, Settings, StoredState } from "./state.ts";

/** A small world to decide in: sequential ids, a clock that the test moves, and the effects that are open. */

export const SIMULATORS: PlatformCatalog = {
  platform: "ios",
  models: ["iPhone 17", "iPhone 16", "iPad Air 11-inch (M3)"],
  runtimes: ["26.1", "18.5"],
  defaultRuntime: "26.1",
  modelRuntimes: { "iPhone 17": ["26.1"], "iPhone 16": ["26.1", "18.5"], "iPad Air 11-inch (M3)": ["26.1", "18.5"] },
  modelAliases: { "iPhone 17": ["iPhone-17"] },
  modelClasses: { "iPhone 17": "phone", "iPhone 16": "phone", "iPad Air 11-inch (M3)": "tablet" },
  classDefaults: { phone: "iPhone 17", tablet: "iPad Air 11-inch (M3)" },
};

export const NO_EMULATORS: PlatformCatalog = {
  platform: "android",
  models: [],
  runtimes: [],
  modelRuntimes: {},
  modelAliases: {},
  modelClasses: {},
  classDefaults: {},
};

export const HOST: HostFacts = {
  os: "macOS",
  osVersion: "26.1",
  arch: "arm64",
  cpus: 8,
  memoryBytes: 32 * 1024 ** 3,
  tools: [],
};

export const ESTIMATE = { provisionMs: 500, bootMs: 60_000, reclaimMs: 34_000 };

export function countingMint(): MintId {
  let last = 0;
  return (prefix: IdPrefix) => `${prefix}_${(last += 1)}`;
}

export const agent = (principal: string): Caller => ({ principal, role: "agent" });
export const operator: Caller = { principal: "operator", role: "admin" };

export function settingsOf(over: { maxRunning?: number; maxDevices?: number } = {}): Settings {
  const { maxRunning = 2, maxDevices = maxRunning } = over;
  return {
    ...DEFAULT_CONFIG,
    capacity: { strategy: "fixed", maxRunning, ios: { maxDevices, maxRunning }, android: {} },
  };
}

export const FACTS: readonly Input[] = [
  { kind: "host", facts: HOST },
  { kind: "catalog", of: "simulator", catalog: SIMULATORS, estimate: ESTIMATE },
  { kind: "catalog", of: "android", catalog: NO_EMULATORS, estimate: ESTIMATE },
];

export class World {
  readonly mint: MintId;
  settings: Settings;
  state: State;
  now: Now = { wall: 1_000_000, mono: 0 };
  readonly answers = new Map<ReplyTo, Answer>();
  readonly decisions: Decision[] = [];
  open: Effect[] = [];
  /** The rows as the database would hold them. */
  readonly rows = { devices: new Map(), leases: new Map(), requests: new Map() } as const;
  #lastReply = 0;

  constructor(settings: Settings = settingsOf(), mint: MintId = countingMint()) {
    this.settings = settings;
    this.mint = mint;
    this.state = createState({ devices: [], leases: [], requests: [] }, settings);
    this.decide({ kind: "recovered", realities: [{ kind: "simulator", readable: true, devices: [] }] });
    this.learn();
  }

  /** What a daemon reads of its machine once it has recovered. */
  learn(): void {
    for (const fact of FACTS) this.decide(fact);
  }

  decide(...inputs: Input[]): Decision {
    const decision = decide(this.state, inputs, this.now, this.mint);
    for (const { table, key, row } of decision.changes) {
      if (row === undefined) this.rows[table].delete(key);
      else this.rows[table].set(key, row);
    }
    for (const { to, answer } of decision.replies) {
      if (this.answers.has(to)) throw new Error(`call ${to} was answered twice`);
      this.answers.set(to, answer);
    }
    this.open.push(...decision.effects);
    this.decisions.push(decision);
    return decision;
  }

  stored(): StoredState {
    return {
      devices: [...this.rows.devices.values()],
      leases: [...this.rows.leases.values()],
      requests: [...this.rows.requests.values()],
    };
  }

  nextReply(): ReplyTo {
    this.#lastReply += 1;
    return this.#lastReply;
  }

  request(principal: string, input: Partial<Extract<Input, { kind: "request" }>["input"]> = {}): ReplyTo {
    const replyTo = this.nextReply();
    this.decide({
      kind: "request",
      replyTo,
      caller: agent(principal),
      input: { platform: "ios", ...input },
      boundTo: undefined,
    });
    return replyTo;
  }

  release(principal: string, replyTo: ReplyTo): ReplyTo {
    const to = this.nextReply();
    this.decide({
      kind: "release",
      replyTo: to,
      caller: agent(principal),
      leaseId: this.granted(replyTo).lease.id,
      force: false,
    });
    return to;
  }

  granted(replyTo: ReplyTo) {
    const answer = this.answers.get(replyTo);
    if (answer?.kind !== "grant") throw new Error(`call ${replyTo} was answered ${JSON.stringify(answer)}`);
    return answer.grant;
  }

  errorCode(replyTo: ReplyTo): string | undefined {
    const answer = this.answers.get(replyTo);
    return answer?.kind === "error" ? answer.error.code : undefined;
  }

  pass(ms: number): void {
    this.now = { wall: this.now.wall + ms, mono: this.now.mono + ms };
    this.decide({ kind: "tick" });
  }

  /** Carries out the oldest open effect of a kind, or of any, the way a driver that works would. */
  finish(kind?: Effect["intent"]["kind"], result?: EffectResult): Effect {
    const at = this.open.findIndex((effect) => kind === undefined || effect.intent.kind === kind);
    const [effect] = at === -1 ? [] : this.open.splice(at, 1);
    if (effect === undefined) throw new Error(`no open effect ${kind ?? ""}`);
    this.settle(effect, result ?? workingResult(effect));
    return effect;
  }

  settle(effect: Effect, result: EffectResult): Decision {
    return this.decide({
      kind: "effect-done",
      deviceId: effect.device.id,
      intentId: effect.intent.id,
      attempt: effect.intent.attempt,
      result,
    });
  }

  finishAll(): void {
    for (let steps = 0; this.open.length > 0; steps += 1) {
      if (steps > 10_000) throw new Error("the effects never end");
      this.finish();
    }
  }
}

export function workingResult({ device, intent }: Effect): EffectResult {
  switch (intent.kind) {
    case "create":
      return { ok: true, kind: "create", driverDeviceId: `udid-${device.id}` };
    case "boot":
      return { ok: true, kind: "boot", address: `udid-${device.id}`, environment: {} };
    case "clean":
      return { ok: true, kind: "clean", state: device.physical ? "ready" : "shutdown", strategy: "erase" };
    default:
      return { ok: true, kind: intent.kind };
  }
}

export function failure(code = "TOOL_FAILED"): EffectResult {
  return { ok: false, error: { code, message: "it failed" } };
}
