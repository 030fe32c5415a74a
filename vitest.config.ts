import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    projects: [
      // One registry of modules for all files of a worker: to load what a room is made of takes longer than most of its tests.
      { test: { name: "unit", isolate: false, include: ["src/**/*.test.ts"], testTimeout: 30_000 } },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts", "test/repository/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { test: { name: "inspector", include: ["test/inspector/**/*.test.ts"], testTimeout: 60_000 } },
      {
        test: {
          name: "conformance",
          include: ["test/conformance/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { test: { name: "adb", include: ["test/adb/**/*.test.ts"], testTimeout: 120_000, hookTimeout: 120_000 } },
      { test: { name: "stress", include: ["test/stress/**/*.test.ts"], testTimeout: 900_000, hookTimeout: 60_000 } },
    ],
  },
});
