import type { Finding, Mend } from "../../contract/index.ts";
import { spanOf } from "../duration.ts";
import type { Paint } from "./paint.ts";
import { safe } from "./table.ts";

/** What `simlock doctor` says to a person: what is missing with its remedy, what has drifted, what was or would be done. */
export function doctorText(
  report: { readonly findings: readonly Finding[]; readonly mends: readonly Mend[] },
  paint: Paint,
): string {
  if (report.findings.length === 0) return paint("green", "All is well.");
  const lines = report.findings.flatMap((finding) => findingLines(finding, paint));
  const done = report.mends.filter((mend) => mend.done);
  const would = report.mends.filter((mend) => !mend.done);
  if (done.length > 0) lines.push("", "Done:", ...done.map(mendLine));
  if (would.length > 0) {
    lines.push("", "Can be mended:", ...would.map(mendLine), "");
    const flags = [
      would.some((mend) => mend.action !== "destroy-orphan") ? "--fix" : undefined,
      would.some((mend) => mend.action === "destroy-orphan") ? "--purge-orphans" : undefined,
    ].filter(Boolean);
    lines.push(`Run simlock doctor ${flags.join(" ")} to do it.`);
  }
  return lines.join("\n");
}

const mendLine = (mend: Mend): string => `  ${mend.action} ${safe(mend.target)}`;

function findingLines(finding: Finding, paint: Paint): string[] {
  const warn = (text: string) => [`${paint("yellow", "!")} ${text}`];
  switch (finding.kind) {
    case "prerequisite-missing":
      return [
        `${paint("red", "Missing")} [${finding.platform}] ${safe(finding.prerequisite)}: ${safe(finding.message)}`,
        ...(finding.tried ?? []).map((path) => `    looked at ${safe(path)}`),
        `    ${paint("cyan", "remedy")} ${safe(finding.remedy)}`,
      ];
    case "driver-advisory":
      return [`${paint("cyan", "Note")} [${finding.platform}] ${safe(finding.code)}: ${safe(finding.message)}`];
    case "unreadable":
      return [`${paint("red", "Unreadable")} [${finding.platform}] ${safe(finding.message)}`];
    case "registry-device-missing":
      return warn(`[${finding.platform}] ${finding.deviceId} is known to us and not on the machine.`);
    case "orphan-device": {
      const name = finding.name === undefined ? "" : ` "${safe(finding.name)}"`;
      return warn(`[${finding.platform}] ${safe(finding.device)}${name} was made by us and is known no more.`);
    }
    case "expired-live-lease":
      return warn(`Lease ${finding.leaseId} on ${finding.deviceId} is past its deadline.`);
    case "foreign-state-change":
      return warn(
        `[${finding.platform}] ${finding.deviceId} is ${finding.observed}, and ought to be ${finding.expected}: somebody else changed it.`,
      );
    case "foreign-provenance-change":
      return warn(`[${finding.platform}] ${finding.deviceId} is not as we left it: ${finding.detail}.`);
    case "stalled-transition":
      return warn(
        `[${finding.platform}] ${finding.deviceId} is ${finding.state} for ${spanOf(finding.ageMs)}; ${spanOf(finding.thresholdMs)} would be long.`,
      );
    case "stranded-device":
      return warn(`[${finding.platform}] ${finding.deviceId} is stranded: ${safe(finding.problem)}.`);
  }
}
