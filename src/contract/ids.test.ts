import { expect, test } from "vitest";
import { DeviceId, EventId, mintId, RequestId } from "./ids.ts";

test("ids have their kind's prefix, the declared form, and never come twice", () => {
  const ids = Array.from({ length: 5_000 }, () => mintId("dev"));
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^dev_[0-9a-hjkmnp-tv-z]{16}$/);
  expect(DeviceId.safeParse(mintId("dev")).success).toBe(true);
  expect(RequestId.safeParse(mintId("req")).success).toBe(true);
  expect(EventId.safeParse(mintId("evt")).success).toBe(true);
});
