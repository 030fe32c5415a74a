import { createServer } from "node:http";

/** Stands in for the platform at no cost: every path answers with one phone. `node bench/upstream.ts PORT`. */
const [port = "0"] = process.argv.slice(2);
const PHONE = JSON.stringify({
  id: "dev_17",
  name: "bench",
  state: "ready",
  deviceType: "android_cloud_phone",
  country: "DE",
  createdAt: "2026-03-01T09:00:00Z",
  updatedAt: "2026-03-01T09:00:00Z",
});
createServer((_request, response) => {
  response.writeHead(200, { "content-type": "application/json" }).end(PHONE);
}).listen(Number(port), "127.0.0.1", () => console.log("ready"));
