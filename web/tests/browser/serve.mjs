// A static host for the tests: the built page below a path of its own, on a port that the system chooses.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm" };
export const BELOW = "/some/where/";

/** Serves a folder; returns its address, and what closes it. */
export async function serve(folder) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    const name = path.startsWith(BELOW) ? path.slice(BELOW.length) || "index.html" : "..";
    try {
      if (normalize(name).startsWith("..")) throw new Error("outside");
      const content = await readFile(join(folder, name));
      response.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream" });
      response.end(content);
    } catch {
      response.writeHead(404);
      response.end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}${BELOW}`, close: () => new Promise((resolve) => server.close(resolve)) };
}
