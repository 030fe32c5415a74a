import { randomUUID } from "node:crypto";

/** How many links of one key work; the oldest stop then, as signed ones do after a while. */
const KEPT = 1000;
const PREFIX = "/media/";

interface Linked {
  readonly pathname: string;
  readonly type: string;
  readonly body: Uint8Array;
}

/** Keeps bytes to be fetched; answers their URL. */
export type Link = (path: string, type: string, body: Uint8Array) => string;

export interface Links {
  ofKey(): Link;
  /** What a URL links to: its signature is all that is needed to read it. */
  find(url: URL): Linked | undefined;
}

/** Links to what the platform serves beside its API. `origin` answers where that is. */
export function createLinks(origin: () => string): Links {
  const bySignature = new Map<string, Linked>();
  return {
    ofKey() {
      const mine: string[] = [];
      return (path, type, body) => {
        const signature = randomUUID();
        const pathname = `${PREFIX}${path}`;
        bySignature.set(signature, { pathname, type, body });
        mine.push(signature);
        if (mine.length > KEPT) bySignature.delete(mine.shift() ?? "");
        return `${origin()}${pathname}?sig=${signature}`;
      };
    },
    find(url) {
      const found = bySignature.get(url.searchParams.get("sig") ?? "");
      return found?.pathname === url.pathname ? found : undefined;
    },
  };
}

export const isLink = (pathname: string) => pathname.startsWith(PREFIX);
