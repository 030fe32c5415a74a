import { createHash, X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { dataOf } from "../device-folder.ts";
import { failure } from "../failure.ts";
import { writeWhole } from "../faults.ts";
import { runningDevice } from "../selection.ts";

const FORM = "<device> add-root-cert <path> | add-cert <path> | reset";

/** `keychain DEVICE …`. Certificates are kept in DER, named by their SHA-256, below `data/Library/Keychains`. */
export function keychain(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("keychain", args, {});
  const { udid } = runningDevice(call.set, operand(parsed, 0, "keychain", FORM));
  const action = operand(parsed, 1, "keychain", FORM);
  const folder = join(dataOf(call.set, udid), "Library", "Keychains");
  if (action === "reset") {
    rmSync(folder, { recursive: true, force: true });
    return;
  }
  if (action !== "add-root-cert" && action !== "add-cert") {
    throw failure("usage", { why: `usage: simctl keychain ${FORM}` });
  }
  const path = operand(parsed, 2, "keychain", FORM);
  const der = derOf(path);
  const kind = join(folder, action === "add-root-cert" ? "roots" : "certificates");
  mkdirSync(kind, { recursive: true });
  writeWhole(join(kind, `${createHash("sha256").update(der).digest("hex")}.cer`), der);
}

function derOf(path: string): Uint8Array {
  const bytes = readFileSync(path);
  try {
    return new X509Certificate(bytes).raw;
  } catch {
    throw failure("invalidCertificate", { path });
  }
}
