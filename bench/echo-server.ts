import { createServer } from "node:net";

/** The floor of a round trip: a server that sends each line back, on a socket: `node bench/echo-server.ts SOCKET`. */
const [path = ""] = process.argv.slice(2);
createServer((socket) => {
  socket.on("data", (chunk) => socket.write(chunk));
  socket.on("error", () => {});
}).listen(path, () => process.stdout.write("listening\n"));
