/**
 * cloud: phones of the Mobilerun platform. Its API as a table of endpoints with a typed client, and the tools that are built on it.
 */
export * from "./api/index.ts";
