/** Which room may enter which, and only through its door. Tests may look anywhere for fixtures. */
const rooms = {
  contract: [],
  plist: [],
  tool: ["contract"],
  leasing: ["contract"],
  exec: ["contract"],
  devices: ["contract", "exec"],
  store: ["contract", "leasing"],
  client: ["contract"],
  mcp: ["contract", "tool", "client"],
  daemon: ["contract", "leasing", "exec", "devices", "store", "state", "mcp"],
  virtual: ["contract", "plist", "cloud"],
  state: ["contract", "exec", "plist", "tool"],
  cloud: ["contract", "tool"],
  "cloud-tools": ["tool", "mcp", "cloud"],
};
/** Tests and what only they start may look anywhere. */
const test = "\\.(test|fixture)\\.ts$";

module.exports = {
  forbidden: [
    {
      name: "no-circles",
      comment: "Two files that need each other are one idea, or one of them knows too much.",
      severity: "error",
      from: { pathNot: test },
      to: { circular: true, dependencyTypesNot: ["type-only"] },
    },
    {
      name: "only-through-the-door",
      comment: "A room is entered through its index.ts; src/mcp has a second door, since its first loads nothing.",
      severity: "error",
      from: { path: "^src/([^/]+)/", pathNot: test },
      to: { path: "^src/([^/]+)/", pathNot: ["^src/$1/", "^src/[^/]+/index\\.ts$", "^src/mcp/server\\.ts$"] },
    },
    {
      name: "nothing-from-outside",
      comment: "The product stands on src alone.",
      severity: "error",
      from: { path: "^src/", pathNot: test },
      to: { path: "^(test|bench|scripts|examples)/" },
    },
    ...Object.entries(rooms).map(([room, may]) => ({
      name: `${room}-enters-only-its-neighbours`,
      comment: `${room} may enter: ${may.join(", ") || "no other room"}.`,
      severity: "error",
      from: { path: `^src/${room}/`, pathNot: test },
      to: { path: "^src/([^/]+)/", pathNot: [room, ...may].map((name) => `^src/${name}/`) },
    })),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "types"] },
  },
};
