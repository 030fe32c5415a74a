/** The executable: stands in for `xcrun`, started as `node xcrun.js simctl …` with SIMLOCK_VIRTUAL_MAC naming the Mac's folder. */
import { main } from "./main.ts";
import { thisProcess } from "./outside.ts";

process.exitCode = await main(process.argv.slice(2), thisProcess);
