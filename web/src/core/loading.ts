// Where the core comes from: files beside the page, or, where the page was opened from a folder and browsers refuse to
// read files, a script with the same contents.

export interface Loaded {
  module: WebAssembly.Module;
  worker(): Worker;
}

/** What `offline.js` sets: the worker's script, and the module, deflated, in base64. */
interface Packed {
  worker: string;
  core: string;
}

const beside = (name: string) => new URL(name, document.baseURI).href;

export async function load(): Promise<Loaded> {
  return location.protocol === "file:" ? fromScript() : fromFiles();
}

/** A worker that has no core: it reads files. */
export async function bareWorker(): Promise<Worker> {
  if (location.protocol !== "file:") return new Worker(beside("worker.js"));
  await addScript("offline.js");
  const text = (globalThis as { drivelabOffline?: Packed }).drivelabOffline?.worker ?? "";
  return new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
}

async function fromFiles(): Promise<Loaded> {
  const response = await fetch(beside("core.wasm"));
  if (!response.ok) throw new Error(`core.wasm cannot be loaded: ${response.status} ${response.statusText}`);
  // Not every server knows the type of a module, and a stream of another type is refused.
  const module = await WebAssembly.compile(await response.arrayBuffer());
  return { module, worker: () => new Worker(beside("worker.js")) };
}

async function fromScript(): Promise<Loaded> {
  await addScript("offline.js");
  const packed = (globalThis as { drivelabOffline?: Packed }).drivelabOffline;
  if (packed === undefined) throw new Error("offline.js is not what it should be");
  const bytes = Uint8Array.from(atob(packed.core), (letter) => letter.charCodeAt(0));
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const module = await WebAssembly.compile(await new Response(inflated).arrayBuffer());
  const address = URL.createObjectURL(new Blob([packed.worker], { type: "text/javascript" }));
  return { module, worker: () => new Worker(address) };
}

/** Loads a script beside the page, once. */
export function addScript(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const known = document.querySelector(`script[data-name="${name}"]`);
    if (known instanceof HTMLScriptElement && known.dataset["state"] === "loaded") return resolve();
    const script = known instanceof HTMLScriptElement ? known : document.createElement("script");
    script.addEventListener("load", () => {
      script.dataset["state"] = "loaded";
      resolve();
    });
    script.addEventListener("error", () => reject(new Error(`${name} cannot be loaded`)));
    if (known === null) {
      script.dataset["name"] = name;
      script.src = beside(name);
      document.head.append(script);
    }
  });
}
