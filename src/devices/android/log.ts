/** Where a driver tells what it does. Never with a secret. */
export type Log = (
  level: "debug" | "info" | "warn",
  message: string,
  details?: Readonly<Record<string, unknown>>,
) => void;
