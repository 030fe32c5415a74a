import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { failure } from "../failure.ts";
import { changeSession } from "../session.ts";
import { runningDevice } from "../selection.ts";

const SCENARIOS = ["Apple", "City Bicycle Ride", "City Run", "Freeway Drive"] as const;
const FORM =
  "<device> list | clear | set <lat>,<lon> | run <scenario> | start [--speed=<m/s>] [--distance=<m> | --interval=<s>] <lat>,<lon> <lat>,<lon> [...]";

/** `location DEVICE …`. There is no way to read it back, as on a Mac. */
export async function location(call: Call, args: readonly string[]): Promise<void> {
  const parsed = parseArguments("location", args, { values: ["--speed", "--distance", "--interval"] });
  const { udid } = runningDevice(call.set, operand(parsed, 0, "location", FORM));
  const action = operand(parsed, 1, "location", FORM);
  const words = parsed.operands.slice(2);
  const place = (text: string | undefined) => changeSession(call, udid, (session) => ({ ...session, location: text }));

  if (action === "list") call.out(`Available Scenarios:\n${SCENARIOS.map((name) => `    ${name}\n`).join("")}`);
  else if (action === "clear") place(undefined);
  else if (action === "set") place(coordinate(operand(parsed, 2, "location", FORM)));
  else if (action === "run") {
    const name = operand(parsed, 2, "location", FORM);
    if (!SCENARIOS.some((scenario) => scenario === name))
      throw failure("invalidValue", { what: "scenario", value: name });
    place(`scenario ${name}`);
  } else if (action === "start") {
    for (const option of ["--speed", "--distance", "--interval"]) positive(option, parsed.value(option));
    const route = words[0] === "-" ? await routeFromStdin(call) : words;
    if (route.length < 2) throw failure("usage", { why: "A route has two points at least." });
    place(`route ${route.map(coordinate).join(" ")}`);
  } else throw failure("usage", { why: `usage: simctl location ${FORM}` });
}

function coordinate(text: string): string {
  const match = /^(-?\d+(?:\.\d+)?),\s*(-?\d+(?:\.\d+)?)$/.exec(text);
  if (match === null || Math.abs(Number(match[1])) > 90 || Math.abs(Number(match[2])) > 180) {
    throw failure("invalidValue", { what: "coordinate", value: text });
  }
  return text;
}

function positive(option: string, text: string | undefined): void {
  if (text !== undefined && !(Number(text) > 0)) throw failure("invalidValue", { what: option, value: text });
}

async function routeFromStdin(call: Call): Promise<readonly string[]> {
  const bytes = await call.stdin(1 << 20);
  if (bytes === undefined) throw failure("usage", { why: "The route on standard input is longer than 1 MiB." });
  return Buffer.from(bytes)
    .toString("utf8")
    .split(/\s*\n\s*/)
    .filter((line) => line !== "");
}
