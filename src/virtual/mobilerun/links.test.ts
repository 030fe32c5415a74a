import { expect, test } from "vitest";
import { createLinks } from "./links.ts";

test("a key has a limited number of links, of which the newest work, and takes none from another key", () => {
  const links = createLinks(() => "http://127.0.0.1:1");
  const [mine, other] = [links.ofKey(), links.ofKey()];
  const found = (url: string) => links.find(new URL(url))?.body.length;
  const theirs = other("t/s/0", "image/png", new Uint8Array(7));
  const made = Array.from({ length: 1001 }, (_, at) => mine(`t/s/${at}`, "image/png", new Uint8Array(1)));
  expect(made.map(found).filter((length) => length === undefined)).toHaveLength(1);
  expect([found(made[0] ?? ""), found(made[1] ?? ""), found(theirs)]).toEqual([undefined, 1, 7]);
});
