/**
 * `npm run bench [NAME …]`: each figure against its own floor, measured in the same run under Node 24. Never a test: figures move with the machine, their
 * ratios hardly.
 */
import { decisionFigures } from "./decision.ts";
import { printTable, type Figure } from "./figure.ts";
import { grantFigures } from "./grant.ts";
import { httpFigures } from "./http.ts";
import { outputFigures } from "./output.ts";
import { planFigures } from "./plan.ts";
import { runOnDeviceFigures } from "./run-on-device.ts";
import { snapshotFigures } from "./snapshot.ts";
import { startFigures } from "./start.ts";

const BENCHES: Readonly<Record<string, () => Figure[] | Promise<Figure[]>>> = {
  grant: grantFigures,
  run: runOnDeviceFigures,
  output: outputFigures,
  decision: decisionFigures,
  plan: planFigures,
  http: httpFigures,
  start: startFigures,
  snapshot: snapshotFigures,
};

const wanted = process.argv.slice(2);
const figures: Figure[] = [];
for (const [name, measure] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`measuring: ${name}\n`);
  figures.push(...(await measure()));
}
printTable(figures);
