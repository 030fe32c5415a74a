const MASK = "•••";

/**
 * Keys whose text is a secret wherever it stands, compared without case, dashes and underscores. Answers are built from named fields already;
 * this is for what users put into JSON of their own, such as an action's parameters or an event's payload.
 */
const SECRET_KEY =
  /^(.*(password|passwd|passphrase|privatekey|apikey|apitoken|accesstoken|refreshtoken|streamtoken|controltoken|clientsecret|sessiontoken|authtoken|bearertoken)|secret|.*secret(key)?|token|authorization|cookie|setcookie|presharedkey|backupcodes|twofactorsecret|otp|pin)$/;

const isSecretKey = (key: string): boolean => SECRET_KEY.test(key.toLowerCase().replaceAll(/[-_\s]/g, ""));

/** Deeper than any answer; what lies below is left out. */
const MAX_DEPTH = 64;

/** The same value with the text under secret keys masked. */
export function maskSecrets(value: unknown, depth = 0): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      isSecretKey(key) ? maskedText(inner, depth) : maskSecrets(inner, depth + 1),
    ]),
  );
}

/** All the text in it; what is no text (a flag, a schema's keywords below) can't be the secret itself. */
function maskedText(value: unknown, depth: number): unknown {
  if (typeof value === "string") return value === "" ? value : MASK;
  if (typeof value === "number") return MASK;
  if (Array.isArray(value)) return value.map((item) => maskedText(item, depth + 1));
  return maskSecrets(value, depth + 1);
}
