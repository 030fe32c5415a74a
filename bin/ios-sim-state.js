#!/usr/bin/env node
// `simlock state` with the commands, exit codes and errors of the command that it stands in for.
const given = process.argv.slice(2);
const asked = given.includes("--version") || given[0] === "version" ? ["--version"] : undefined;
const helped = given.length === 0 || given.includes("--help") || given[0] === "help" ? ["state", "--help"] : undefined;
process.argv.splice(2, given.length, ...(helped ?? asked ?? ["state", "--ios-sim-state", ...given]));
await import("./simlock.js");
