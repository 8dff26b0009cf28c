// Builds the page into build/page: its scripts, its style, the core, and offline.js for a page that is opened from a folder.
// `node build.mjs CORE.wasm [OUT]`
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";
import { build } from "vite";

const root = dirname(fileURLToPath(import.meta.url));
const [core, out = join(root, "../build/page")] = process.argv.slice(2);
if (core === undefined) {
  console.error("node build.mjs CORE.wasm [OUT]: the core is missing; `make page` builds it and the page");
  process.exit(2);
}
const target = resolve(out);

/** One classic script: browsers load no modules from a folder. */
async function script(name, entry) {
  await build({
    root,
    configFile: false,
    logLevel: "warn",
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      outDir: target,
      emptyOutDir: false,
      copyPublicDir: false,
      target: "es2022",
      lib: { entry: join(root, entry), formats: ["iife"], name: `drivelab_${name}`, fileName: () => `${name}.js` },
    },
  });
}

await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });
await script("page", "src/page/main.ts");
await script("worker", "src/core/worker.ts");
await script("charts", "src/charts/draw.ts");
await script("editor", "src/editor/editor.ts");
await copyFile(core, join(target, "core.wasm"));
await copyFile(join(root, "index.html"), join(target, "index.html"));
await copyFile(join(root, "src/page/page.css"), join(target, "page.css"));
await copyFile(join(root, "../docs/pictures/gallery-depth.svg"), join(target, "depth.svg"));
const packed = {
  worker: await readFile(join(target, "worker.js"), "utf8"),
  core: deflateSync(await readFile(core), { level: 9 }).toString("base64"),
};
await writeFile(join(target, "offline.js"), `globalThis.drivelabOffline = ${JSON.stringify(packed)};\n`);
