import { z } from "zod";
import { SimlockError } from "../../contract/index.ts";
import { POLICY_PROFILES, DEFAULT_PROFILE } from "../../tool/index.ts";

const DEFAULT_BASE_URL = "https://api.mobilerun.ai/v1";

const count = (fallback: number) => z.coerce.number().int().positive().default(fallback);
/** Only the words themselves: any text is true where a flag is merely coerced. */
const flag = (fallback: boolean) =>
  z
    .enum(["true", "false"])
    .default(fallback ? "true" : "false")
    .transform((word) => word === "true");
const httpUrl = () => z.url({ protocol: /^https?$/, error: "must be an http or https URL" });
const names = () =>
  z
    .string()
    .default("")
    .transform((list) =>
      list
        .split(",")
        .map((name) => name.trim().toLowerCase())
        .filter((name) => name !== ""),
    );

/** What the HTTP server reads from its environment: one declaration, from which values, checks and documentation are made. */
export const HTTP_ENVIRONMENT = z.object({
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, "must be a number")
    .transform(Number)
    .pipe(z.number().int().min(0).max(65_535))
    .default(8080)
    .describe("Port to listen on; 0 takes a free one."),
  MCP_HOST: z
    .string()
    .min(1)
    .default("127.0.0.1")
    .describe("Address to bind. Loopback unless it is set: 0.0.0.0 opens the server to the network."),
  NODE_ENV: z
    .enum(["development", "test", "production"])
    .default("development")
    .describe("Checked, and used for nothing."),
  LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error"])
    .default("info")
    .describe("The least important lines that are written to standard error. Audit lines are always written."),
  MOBILERUN_BASE_URL: httpUrl()
    .default(DEFAULT_BASE_URL)
    .describe("Where the platform's API is. Refused together with SIMLOCK_VIRTUAL, which brings an API of its own."),
  MCP_POLICY_PROFILE: z
    .enum(POLICY_PROFILES)
    .default(DEFAULT_PROFILE)
    .describe("What callers may do: see the profiles."),
  MCP_POLICY_FILE: z
    .string()
    .min(1)
    .optional()
    .describe("A file, JSON or YAML, with a profile of your own; instead of MCP_POLICY_PROFILE."),
  MCP_CONFIRM: flag(true).describe(
    "Whether the user is asked before a call that destroys or costs, where the client can ask. A profile file that lists what to ask about goes before it.",
  ),
  MCP_RESOURCE_URL: httpUrl()
    .default("http://localhost:8080")
    .describe("The address under which clients know this server. Never taken from request headers."),
  MCP_AUTH_SERVER_URL: httpUrl()
    .optional()
    .describe(
      "The authorization server whose tokens are meant for this one. Turns on the discovery documents of RFC 9728.",
    ),
  MCP_BODY_LIMIT_BYTES: count(1_048_576).describe("The largest request body, in bytes; above it 413."),
  MCP_REQUEST_TIMEOUT_MS: count(60_000).describe(
    "How long a request may wait for the first byte of its answer, in milliseconds. Then the call is aborted: 504.",
  ),
  MCP_STREAM_TIMEOUT_MS: count(900_000).describe(
    "How long an answer that is streamed may last, in milliseconds, from its first byte. Then the call is aborted.",
  ),
  MCP_RATE_LIMIT_PER_KEY_PER_MIN: count(60).describe(
    "Requests a minute for each credential, and as many at once; above it 429.",
  ),
  MCP_RATE_LIMIT_PER_IP_PER_MIN: count(120).describe(
    "Requests a minute for each client address, and as many at once; above it 429.",
  ),
  MCP_TRUST_PROXY: z
    .union([flag(false), z.coerce.number().int().min(1).max(8)])
    .default(false)
    .describe(
      "Whether client addresses are read from X-Forwarded-For: true behind one proxy of ours, a number behind several. The entry that the outermost of them wrote counts.",
    ),
  MCP_MAX_IN_FLIGHT: count(256).describe("Requests served at once; above it 503."),
  MCP_DRAIN_MS: count(10_000).describe("How long calls under way may go on when the server stops, in milliseconds."),
  MCP_ALLOWED_HOSTS: names().describe(
    "Names by which clients may address this server in Host, besides localhost, IP addresses and the name in MCP_RESOURCE_URL. Separated by commas.",
  ),
  MCP_ALLOWED_ORIGINS: names().describe(
    "Host names of web pages that may call this server, besides localhost and the name in MCP_RESOURCE_URL. Separated by commas.",
  ),
  MCP_METRICS: flag(true).describe("Whether GET /metrics answers with figures for Prometheus."),
});

export type HttpEnvironment = z.output<typeof HTTP_ENVIRONMENT>;

/** Variables that are called like ours and are none: one that is misspelt leaves a rule out without a word. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.keys(env).filter((name) => name.startsWith("MCP_") && !Object.hasOwn(HTTP_ENVIRONMENT.shape, name));
}

/**
 * Reads the environment, or says all that is wrong with it. An empty value counts as one that is wrong, not as one that is missing.
 * @throws {SimlockError} `CONFIG_INVALID`
 */
export function readHttpEnvironment(env: Readonly<Record<string, string | undefined>>): HttpEnvironment {
  const parsed = HTTP_ENVIRONMENT.safeParse(env);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new SimlockError("CONFIG_INVALID", `The environment is not valid: ${problems.join("; ")}`, {
    details: { problems },
    hint: "docs/http.md lists every variable.",
  });
}
