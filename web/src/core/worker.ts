// The worker that has the core: it answers one question after the other, and tells how far a step is. A worker without the
// core reads files.
import { type Read, read } from "../compare/reading";
import { Module } from "./module";

export type ToWorker = { module: WebAssembly.Module } | { file: File } | { id: number; question: string };
export type FromWorker =
  | { ready: true }
  | { failed: string }
  | { progress: number }
  | { read: Read }
  | { id: number; answer: string }
  | { id: number; defect: string };

const scope = self as unknown as DedicatedWorkerGlobalScope;
const tell = (message: FromWorker) => scope.postMessage(message);

let core: Module | undefined;

scope.onmessage = async (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if ("module" in message) {
    try {
      core = await Module.instantiate(message.module, (progress) => tell({ progress }));
      tell({ ready: true });
    } catch (error) {
      tell({ failed: String(error) });
    }
    return;
  }
  if ("file" in message) {
    try {
      tell({ read: read(await message.file.text(), message.file.name) });
    } catch (error) {
      tell({ read: { problem: `${message.file.name}: it cannot be read (${String(error)})` } });
    }
    return;
  }
  try {
    if (core === undefined) throw new Error("the core is not there");
    tell({ id: message.id, answer: core.call(message.question) });
  } catch (error) {
    tell({ id: message.id, defect: error instanceof Error ? error.message : String(error) });
  }
};
