import { z } from "zod";
import type { JsonValue, PreferenceValue } from "../types.ts";

/**
 * What may stand in an operation's arguments. They come from a file that anybody may have written and end up in a command line, so a word that simctl
 * or `defaults` would take for an option, a special device, or a path of this host is refused by its shape.
 */
const NO_OPTION = "must not begin with a dash: the tool would read it as an option";
const printable = (text: string): boolean => !/[\u0000-\u001f\u007f]/.test(text);

const word = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .refine((text) => !text.startsWith("-"), NO_OPTION)
    .refine(printable, "must not hold control characters");

/** Letters, digits, dots, dashes and underscores. */
export const BundleIdentifier = z
  .string()
  .max(255)
  .regex(/^[A-Za-z0-9_][A-Za-z0-9._-]*$/, "must be a bundle identifier: letters, digits, `.`, `-` and `_`");

/** A name: with a slash `defaults` would take it for a property list anywhere on this host. */
export const Domain = word(255).refine(
  (text) => !text.includes("/") && !text.startsWith("~"),
  "must be a domain's name and no path",
);

export const PreferenceKey = word(1_024);
export const HostPath = z
  .string()
  .min(1)
  .max(4_096)
  .refine((text) => !text.startsWith("-"), NO_OPTION)
  .refine((text) => !text.includes("\u0000"), "must not hold a NUL");
export const DeviceName = word(255);
/** A device type's or a runtime's identifier. */
export const Identifier = z
  .string()
  .max(255)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be an identifier");
export const UDID = z
  .string()
  .regex(/^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/, "must be a device's UDID, not a name or `booted`");
/** Stands for a device that is not made yet. */
export const NIL_UDID = "00000000-0000-0000-0000-000000000000";

export const AppArgument = z
  .string()
  .max(65_536)
  .refine((text) => !text.includes("\u0000"), "must not hold a NUL");
export const EnvironmentName = z
  .string()
  .max(255)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable");

/** The schemes that simctl opens are the apps' own, so any is taken. */
export const Link = z
  .string()
  .max(8_192)
  .regex(/^[A-Za-z][A-Za-z0-9+.-]*:\S+$/, "must be a URL with its scheme");

const scalars = [
  z
    .string()
    .max(1_048_576)
    .refine((text) => !text.includes("\u0000"), "must not hold a NUL"),
  z.number(),
  z.boolean(),
] as const;
/** A list goes out as XML, which has no form for these. */
const hasXmlForm = (each: boolean | number | string): boolean =>
  typeof each !== "string" || !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(each);
const list = z.array(z.union(scalars).refine(hasXmlForm, "must not hold control characters within a list")).max(10_000);
export const PreferenceData: z.ZodType<PreferenceValue> = z.union([...scalars, z.null(), list]);

export const LanguageTag = z
  .string()
  .max(64)
  .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, "must be a language: `de-DE`");
export const LocaleName = z
  .string()
  .max(128)
  .regex(/^[A-Za-z]{2,8}([_-][A-Za-z0-9]{1,8})*(@[A-Za-z0-9=;_-]+)?$/, "must be a locale: `de_DE`");
export const TimeZoneName = z
  .string()
  .max(64)
  .regex(/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/, "must be a time zone's name: `Europe/Berlin`");

const Point = z.strictObject({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) });
export const LocationShape = z.union([
  z.strictObject({ point: Point }),
  z.strictObject({
    route: z
      .strictObject({
        points: z.array(Point).min(2).max(1_000),
        speedMetersPerSecond: z.number().positive().max(100_000).optional(),
        distanceMeters: z.number().positive().optional(),
        intervalSeconds: z.number().positive().optional(),
      })
      .refine(
        (route) => route.distanceMeters === undefined || route.intervalSeconds === undefined,
        "takes distanceMeters or intervalSeconds, not both",
      ),
  }),
  z.strictObject({ clear: z.literal(true) }),
]);

export const MOST_PUSH_BYTES = 4_096;
export const PushPayload = z
  .record(z.string(), z.json())
  .refine((payload) => typeof payload["aps"] === "object" && payload["aps"] !== null, "must hold an object `aps`")
  .refine(
    (payload) => Buffer.byteLength(JSON.stringify(payload)) <= MOST_PUSH_BYTES,
    `must be at most ${MOST_PUSH_BYTES} bytes as JSON`,
  );
export type PushPayload = { readonly [key: string]: JsonValue };
