import fc from "fast-check";
import { expect, test } from "vitest";
import { CloudError } from "./cloud-error.ts";
import { endpoints } from "./endpoints.ts";
import { requestUrl } from "./request-url.ts";

const base = new URL("https://api.example.test/v1/");
const { removeField } = endpoints.credentials;

test("whatever an id holds, the call reaches its own endpoint, or none", () => {
  const id = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(".", "..", "%2e%2e", "a/b", "..\\", "?", "#", ";"),
  );
  fc.assert(
    fc.property(id, id, (packageName, credentialName) => {
      const path = { packageName, credentialName, fieldType: "email" };
      let url: URL;
      try {
        url = requestUrl(base, removeField, path, {});
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(CloudError);
        return;
      }
      const parts = url.pathname.split("/").map(decodeURIComponent);
      expect(parts).toEqual([
        "",
        "v1",
        "credentials",
        "packages",
        packageName,
        "credentials",
        credentialName,
        "fields",
        "email",
      ]);
      expect([url.origin, url.search, url.hash]).toEqual(["https://api.example.test", "", ""]);
    }),
  );
});

test("whatever a query holds, it comes out as it went in", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (name) => {
      const url = requestUrl(base, endpoints.devices.list, {}, { name, page: 2, state: ["a", "b"], type: undefined });
      expect([...url.searchParams]).toEqual([
        ["name", name],
        ["page", "2"],
        ["state", "a,b"],
      ]);
    }),
  );
});
