/**
 * plist: Apple's property lists, read in their three forms and written in two. Pure. Integers are kept apart from reals, so that a value that went out
 * as one type doesn't come back as another.
 */
export { dateText, openstep, realText } from "./openstep.ts";
export { isDictionary, isList } from "./plist-value.ts";
export type { PlistDictionary, PlistValue } from "./plist-value.ts";
export { readPlist } from "./read-plist.ts";
export { readXmlPlist, writeXmlPlist } from "./xml-plist.ts";
