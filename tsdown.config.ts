import { defineConfig } from "tsdown";

/**
 * One bundle for the command, whose parts load on demand, one for the libraries. Dependencies are bundled too: starting `simlock mcp` from one
 * file is what makes it start fast.
 */
export default defineConfig([
  {
    entry: {
      main: "src/cli/main.ts",
      xcrun: "src/virtual/mac/xcrun.ts",
      "picture-worker": "src/cloud/tools/picture-worker.ts",
    },
    outDir: "dist",
    format: "esm",
    platform: "node",
    target: "node24",
    minify: true,
    clean: true,
    dts: false,
    fixedExtension: false,
    // The figures' library is loaded by the HTTP server alone, and the bundler renames the variables of one of its modules into each other.
    noExternal: (id) => !id.startsWith("prom-client"),
    inlineOnly: false,
  },
  {
    entry: { client: "src/client/index.ts", "cloud-tools": "src/cloud-tools/index.ts" },
    outDir: "dist",
    format: "esm",
    platform: "node",
    target: "node24",
    clean: false,
    dts: true,
    fixedExtension: false,
  },
]);
