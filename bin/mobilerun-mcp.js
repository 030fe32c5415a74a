#!/usr/bin/env node
// `simlock mcp --toolset cloud` under the name of the server that it stands in for. `--http` serves it over HTTP.
if (process.argv[2] !== "--version") process.argv.splice(2, 0, "mcp", "--toolset", "cloud");
await import("./simlock.js");
