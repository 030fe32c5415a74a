import { randomUUID } from "node:crypto";
import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import type { Pair } from "../device-set.ts";
import { failure } from "../failure.ts";
import { deviceFor, typeOf } from "../selection.ts";

/** `pair WATCH PHONE` prints the pair's UUID. A phone's first pair is its active one. */
export function pair(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("pair", args, {});
  const words = [0, 1].map((index) => operand(parsed, index, "pair", "<watch device> <phone device>"));
  const id = randomUUID().toUpperCase();
  call.set.write(() => {
    const [watch, phone] = words.map((word) => deviceFor(call.set, word));
    if (watch === undefined || phone === undefined) throw failure("pairWrong");
    const known = call.set.pairs();
    const fits = typeOf(watch).family === "Apple Watch" && typeOf(phone).family === "iPhone";
    const already = known.some((each) => each.watch === watch.udid);
    if (!fits || already) throw failure("pairWrong");
    const active = !known.some((each) => each.phone === phone.udid && each.active);
    call.set.putPair({ id, watch: watch.udid, phone: phone.udid, active });
  });
  call.out(`${id}\n`);
}

export function unpair(call: Call, args: readonly string[]): void {
  const word = operand(parseArguments("unpair", args, {}), 0, "unpair", "<pair UUID>");
  call.set.write(() => call.set.removePair(pairFor(call, word).id));
}

/** `pair_activate PAIR`: a phone has one active pair, so its other ones become inactive. */
export function pairActivate(call: Call, args: readonly string[]): void {
  const word = operand(parseArguments("pair_activate", args, {}), 0, "pair_activate", "<pair UUID>");
  call.set.write(() => {
    const chosen = pairFor(call, word);
    for (const each of call.set.pairs()) {
      if (each.phone === chosen.phone) call.set.putPair({ ...each, active: each.id === chosen.id });
    }
  });
}

function pairFor(call: Call, word: string): Pair {
  const found = call.set.pairs().find((each) => each.id === word.toUpperCase());
  if (found === undefined) throw failure("pairUnknown", { pair: word });
  return found;
}
