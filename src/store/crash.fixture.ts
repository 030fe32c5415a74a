import { writeSync } from "node:fs";
import { deviceRow, leaseRow, putDevice, putLease, putRequest, renewed, requestRow } from "./rows.fixture.ts";
import { openStore } from "./store.ts";

/**
 * A process that commits until it is killed: `node crash.fixture.ts PATH`. Each commit writes one number into a device, a lease, a request and
 * two events, and each commit that returned is acknowledged with that number on stdout, in one write. Ends with exit code 3 when a commit fails.
 */
const path = process.argv[2] ?? "";
let events = 0;
const store = openStore({ path, mintEventId: () => `evt_${process.pid}_${(events += 1)}` });
const device = store.load().devices[0];
// Odd commits remove the lease and make another, so that a torn commit would leave none or two.
for (let n = (device?.createdAt ?? 0) + 1; ; n += 1) {
  try {
    store.commit(
      [
        { table: "leases", key: `lse_${n - 1}`, row: undefined },
        putDevice(deviceRow("dev_1", { createdAt: n, environment: { filler: "x".repeat(n % 3_000) } })),
        putLease(leaseRow(`lse_${n}`, "dev_1", "agent", { grantedAt: n })),
        putRequest(requestRow(`req_${n % 50}`, n, "agent", { createdAt: n })),
        { table: "requests", key: `req_${(n - 1) % 50}`, row: undefined },
      ],
      [renewed(`lse_${n}`, n), renewed(`lse_${n}`, n)],
      { wall: n },
    );
  } catch (error) {
    writeSync(2, String(error));
    process.exit(3);
  }
  if (n % 40 === 0) store.trimEvents({ before: n - 20, keep: 1_000 });
  writeSync(1, `${n}\n`);
}
