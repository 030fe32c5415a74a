import { atMost } from "./adb-options.ts";
import { checkJoined } from "./adb-shell.ts";
import { refuse } from "./refusal.ts";
import type { Reading } from "./reading.ts";

/** The user's adb server, and the ports on which emulators are looked for. */
const ADB_SERVER_PORT = 5037;
const EMULATOR_PORTS = { first: 5554, last: 5683 };
const TCP = /^tcp:(0|[1-9]\d{0,4})$/;

function isReserved(port: number, reading: Reading): boolean {
  return (
    port < 1024 ||
    port === ADB_SERVER_PORT ||
    (port >= EMULATOR_PORTS.first && port <= EMULATOR_PORTS.last) ||
    reading.setting.reservedPorts.has(port)
  );
}

/** The host's side of a forward or reverse: a TCP port that is nobody's. A unix socket would be any service of the host. */
function hostPort(spec: string, reading: Reading): number {
  const port = Number(TCP.exec(spec)?.[1] ?? Number.NaN);
  if (Number.isNaN(port) || port > 65_535) {
    refuse("host-network", spec, "on the host's side only a TCP port is let through.", "Use `tcp:PORT`, or `tcp:0`.");
  }
  if (port !== 0 && isReserved(port, reading)) {
    refuse("host-network", spec, "that port of the host is reserved.", "Use a port from 1024 on that is free.");
  }
  return port;
}

/** adb parts the two sides by a semicolon. */
function checkDeviceSide(spec: string): void {
  if (spec === "" || spec.includes(";")) {
    refuse("malformed", spec, "it names no socket of the device.", "For example `tcp:8081` or `localabstract:NAME`.");
  }
}

/** The server holds the forwards of all devices, and `-s` does not keep them apart (seen with 29 and 34). */
export function readForward(tokens: readonly string[], reading: Reading): readonly string[] {
  checkJoined("forward", tokens);
  const [first, second] = tokens;
  switch (first) {
    case "--list":
      atMost("forward", tokens, 1);
      return tokens;
    case "--remove-all":
      return refuse(
        "other-device",
        first,
        "adb removes the forwards of every device with it, whatever -s says.",
        "Use `forward --remove LOCAL` one by one; Simlock removes the rest at release.",
      );
    case "--remove":
      if (second === undefined || second === "") sideMissing("forward", "--remove LOCAL");
      checkOwner(second, reading);
      atMost("forward", tokens, 2);
      return tokens;
    default:
      return readNewForward(tokens, reading);
  }
}

function readNewForward(tokens: readonly string[], reading: Reading): readonly string[] {
  const asked = tokens[0] === "--no-rebind";
  const [local, remote] = asked ? tokens.slice(1) : tokens;
  checkNoOption("forward", local);
  if (local === undefined || remote === undefined) sideMissing("forward", "LOCAL REMOTE");
  const port = hostPort(local, reading);
  checkDeviceSide(remote);
  atMost("forward", tokens, asked ? 3 : 2);
  checkOwner(local, reading);
  const { forwards, device } = reading.setting;
  const ours = port !== 0 && "serial" in device && forwards.get(local) === device.serial;
  // Without it adb silently takes over a forward that another device made since the list was read.
  return asked || !ours ? ["--no-rebind", local, remote] : [local, remote];
}

function checkOwner(local: string, reading: Reading): void {
  const { forwards, device } = reading.setting;
  const owner = forwards.get(local);
  if (owner === undefined || ("serial" in device && owner === device.serial)) return;
  refuse(
    "other-device",
    local,
    "another device's forward is on it.",
    "Use `tcp:0`: adb picks a free port and prints it.",
  );
}

/** Reverses are kept by the device itself, so that listing and removing can't reach another. */
export function readReverse(tokens: readonly string[], reading: Reading): readonly string[] {
  checkJoined("reverse", tokens);
  const [first, second] = tokens;
  switch (first) {
    case "--list":
    case "--remove-all":
      atMost("reverse", tokens, 1);
      return tokens;
    case "--remove":
      if (second === undefined || second === "") sideMissing("reverse", "--remove REMOTE");
      atMost("reverse", tokens, 2);
      return tokens;
    default:
      return readNewReverse(tokens, reading);
  }
}

function readNewReverse(tokens: readonly string[], reading: Reading): readonly string[] {
  const asked = tokens[0] === "--no-rebind";
  const [remote, local] = asked ? tokens.slice(1) : tokens;
  checkNoOption("reverse", remote);
  if (remote === undefined || local === undefined) sideMissing("reverse", "REMOTE LOCAL");
  checkDeviceSide(remote);
  // The adb server's own port would give the device every other one; a unix socket the daemon itself (both seen).
  if (hostPort(local, reading) === 0) {
    refuse("host-network", local, "a reverse needs a port of the host.", "Name the port your program listens on.");
  }
  atMost("reverse", tokens, asked ? 3 : 2);
  return asked ? ["--no-rebind", remote, local] : [remote, local];
}

function sideMissing(verb: string, form: string): never {
  refuse("malformed", verb, `it needs ${form}.`, `Use \`${verb} ${form}\`.`);
}

function checkNoOption(verb: string, token: string | undefined): void {
  if (token?.startsWith("-") !== true) return;
  refuse("unknown-option", token, `\`${verb}\` has no such option here.`, `See \`adb help\` for ${verb}.`);
}
