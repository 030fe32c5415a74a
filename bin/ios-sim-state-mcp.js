#!/usr/bin/env node
// `simlock mcp --toolset state` under the name of the server that it stands in for.
if (process.argv[2] !== "--version") process.argv.splice(2, 0, "mcp", "--toolset", "state");
await import("./simlock.js");
