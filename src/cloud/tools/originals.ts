import { randomUUID } from "node:crypto";

const SCHEME = "mobilerun://originals/";

export interface Original {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
}

/** Files that answers only link to, kept for their caller until newer ones need the room. */
export interface Originals {
  /** The URI under which the same subject can read it; nothing when it is too big to keep. */
  keep(subject: string, original: Original): string | undefined;
  read(subject: string, uri: string): Original | undefined;
}

const DEFAULT_BYTES = 32 * 1024 * 1024;

/** In memory, at most `maxBytes` in all; the oldest goes first. */
export function createOriginals(maxBytes = DEFAULT_BYTES): Originals {
  const kept = new Map<string, Original & { readonly subject: string }>();
  let total = 0;
  return {
    keep(subject, original) {
      if (original.bytes.byteLength > maxBytes) return undefined;
      total += original.bytes.byteLength;
      const uri = SCHEME + randomUUID();
      kept.set(uri, { ...original, subject });
      for (const [oldest, { bytes }] of kept) {
        if (total <= maxBytes) break;
        kept.delete(oldest);
        total -= bytes.byteLength;
      }
      return uri;
    },
    read(subject, uri) {
      const found = kept.get(uri);
      return found?.subject === subject ? { bytes: found.bytes, mimeType: found.mimeType } : undefined;
    },
  };
}
