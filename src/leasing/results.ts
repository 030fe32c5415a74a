import { fromWireError } from "../contract/index.ts";
import type { Draft } from "./draft.ts";
import type { Input } from "./protocol.ts";
import { reportStage, startFailedFor } from "./requests.ts";
import {
  booted,
  claimantOf,
  cleaned,
  cleaningFailed,
  created,
  destroyed,
  quarantine,
  serves,
  startFailed,
  stopped,
} from "./transitions.ts";

/** What an effect has come to. One that is late, or was overtaken, names an intent that is no longer open and changes nothing. */
export function effectDone(draft: Draft, done: Extract<Input, { kind: "effect-done" }>): void {
  const { state } = draft;
  const device = state.devices.get(done.deviceId);
  const intent = device?.intent;
  if (device === undefined || intent?.id !== done.intentId || intent.attempt !== done.attempt) return;
  const claimed = claimantOf(draft, device);
  const claimant = claimed !== undefined && serves(state, claimed, device) ? claimed : undefined;
  const { result } = done;
  if (result.ok) {
    if (result.kind !== intent.kind) throw new Error(`a ${intent.kind} was answered as a ${result.kind}`);
    switch (result.kind) {
      case "create":
        created(draft, device, intent, result.driverDeviceId);
        break;
      case "boot":
        booted(draft, device, intent, result.address, result.environment);
        break;
      case "clean":
        cleaned(draft, device, intent, result);
        break;
      case "shutdown":
        stopped(draft, device, intent);
        break;
      case "destroy":
        destroyed(draft, device, intent);
        break;
    }
    const now = state.devices.get(device.id);
    if (claimant !== undefined && now !== undefined && state.claims.get(claimant.id) === device.id) {
      reportStage(draft, claimant, now);
    }
    return;
  }
  switch (intent.kind) {
    case "create":
    case "boot":
      if (startFailed(draft, device, intent, result.error) && claimant !== undefined) {
        startFailedFor(draft, claimant, fromWireError(result.error));
      }
      return;
    case "clean":
      cleaningFailed(draft, device, intent, result.error);
      return;
    case "shutdown":
      quarantine(draft, device, result.error, "clean");
      return;
    case "destroy":
      quarantine(draft, device, result.error, "destroy");
      return;
  }
}
