/**
 * cli: the `simlock` command and the composition root: it parses a command line, wires the rooms together, calls, and renders the answer. This
 * file is where the process begins.
 */
import { start } from "./start.ts";

const { env, stdin, stdout, stderr } = process;
const exitCode = await start(process.argv.slice(2), { env, cwd: process.cwd(), stdin, stdout, stderr });
// Nothing is left to wait for: whatever still holds the process open (a watched pipe, a half-closed socket) must not.
process.exit(exitCode);
