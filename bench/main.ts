/** `npm run bench`: each figure against its own floor, measured in the same run under Node 24. */
import { decisionFigures } from "./decision.ts";
import { printTable } from "./figure.ts";

const figures = [...decisionFigures()];
printTable(figures);
