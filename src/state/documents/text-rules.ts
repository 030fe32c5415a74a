import { z } from "zod";

/**
 * The strings that documents hold. Most become one argument of simctl or of `defaults`, so one that would be read as an option, or as a word for
 * many devices, is refused here. Each rule is a pattern, so that the published schema says it too.
 */

const NO_OPTION = "must not begin with `-`, which the tool would take for an option, nor hold control characters";

/** Any text: an argument can't hold a NUL. */
export const text = () => z.string().regex(/^[^\u0000]*$/, "must not hold a NUL character");

/** A name that stands alone as an argument. */
export const argument = () =>
  z
    .string()
    .min(1)
    .max(255)
    .regex(/^(?!-)[^\u0000-\u001f\u007f]*$/, NO_OPTION);

/** A file of this host. */
export const path = () =>
  z
    .string()
    .min(1)
    .max(4096)
    .regex(/^(?!-)[^\u0000]*$/, "must not begin with `-` nor hold a NUL character; `./-name` is a file as well");

/** What follows an option, which simctl would take for the next one if it began as one. */
export const optionValue = () =>
  z
    .string()
    .max(256)
    .regex(/^(?!-)[^\u0000-\u001f\u007f]*$/, NO_OPTION);

export const bundleIdentifier = () =>
  z
    .string()
    .min(1)
    .max(255)
    .regex(
      /^(?![.-])[A-Za-z0-9._-]*$/,
      "must be a bundle identifier: letters, digits, `.`, `-` and `_`, and not begin with `-` or `.`",
    );

/** `all`, `booted` and `unavailable` stand for whatever devices there are. */
export const udid = () =>
  z
    .string()
    .min(1)
    .max(255)
    .regex(
      /^(?!-)(?!(?:[Aa][Ll][Ll]|[Bb][Oo][Oo][Tt][Ee][Dd]|[Uu][Nn][Aa][Vv][Aa][Ii][Ll][Aa][Bb][Ll][Ee])$)[^\u0000-\u001f\u007f]*$/,
      "must be the UDID of one device, not a word for several, and not begin with `-`",
    );

/** `defaults` takes a domain with a slash for a file, which may be one of the host. */
export const preferenceDomain = () =>
  z
    .string()
    .min(1)
    .max(255)
    .regex(
      /^(?![-~])[^\u0000-\u001f\u007f/]*$/,
      "must be a domain's name: without `/`, which would make it a file, and not beginning with `-` or `~`",
    );

export const environmentName = () =>
  z
    .string()
    .max(255)
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable");

export const preferenceKey = () =>
  z
    .string()
    .min(1)
    .max(1024)
    .regex(/^(?!-)[^\u0000-\u001f\u007f]*$/, NO_OPTION);
