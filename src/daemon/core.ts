import type { Config, Home } from "../contract/index.ts";
import type { Driver } from "../devices/index.ts";
import type { Answer, State } from "../leasing/index.ts";
import type { Store } from "../store/index.ts";
import type { Catalogs } from "./catalogs.ts";
import type { Clock } from "./clock.ts";
import type { Commands } from "./commands.ts";
import type { Health } from "./health.ts";
import type { HostFactsReader } from "./host-facts.ts";
import type { DaemonLog } from "./log.ts";
import type { DecisionLoop } from "./loop.ts";
import type { Passthroughs } from "./passthroughs.ts";
import type { RealityWatch } from "./reality.ts";
import type { StateWork } from "./state-work.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** What the handlers of a running daemon stand on. */
export interface Core {
  readonly home: Home;
  readonly version: string;
  readonly startedAt: number;
  readonly config: Config;
  readonly health: Health;
  readonly log: DaemonLog;
  readonly clock: Clock;
  readonly state: State;
  readonly store: Store;
  readonly loop: DecisionLoop;
  readonly drivers: readonly Driver[];
  readonly catalogs: Catalogs;
  readonly host: HostFactsReader;
  readonly reality: RealityWatch;
  readonly commands: Commands;
  readonly passthroughs: Passthroughs;
  readonly stateWork: StateWork;
  readonly subscriptions: Subscriptions;
}

/** The answer of the wanted kind. An error is thrown; another kind would be a fault of ours. */
export function answered<K extends Answer["kind"]>(answer: Answer, kind: K): Extract<Answer, { kind: K }> {
  if (answer.kind === "error") throw answer.error;
  if (!isKind(answer, kind)) throw new Error(`a call was answered with ${answer.kind} instead of ${kind}`);
  return answer;
}

function isKind<K extends Answer["kind"]>(answer: Answer, kind: K): answer is Extract<Answer, { kind: K }> {
  return answer.kind === kind;
}
