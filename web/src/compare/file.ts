// A file read in a worker of its own, so that the page stays alive while it is parsed.
import { bareWorker } from "../core/loading";
import type { FromWorker, ToWorker } from "../core/worker";
import { RecordError, type Table } from "./model";
import { SIZE_MAX_BYTES } from "./reading";

/** The object in a file, and a note of what was left out. Throws RecordError. */
export async function tableOf(file: File): Promise<{ table: Table; note?: string }> {
  if (file.size > SIZE_MAX_BYTES) throw new RecordError(`${file.name}: it has ${Math.round(file.size / 2 ** 20)} MiB, and at most ${SIZE_MAX_BYTES / 2 ** 20} are read; a shorter log (--log) makes a shorter record`);
  const worker = await bareWorker();
  try {
    const answer = await new Promise<FromWorker>((resolve, reject) => {
      worker.onmessage = (event: MessageEvent<FromWorker>) => resolve(event.data);
      worker.onerror = () => reject(new RecordError(`${file.name}: it cannot be read; is there enough memory?`));
      worker.postMessage({ file } satisfies ToWorker);
    });
    if (!("read" in answer)) throw new RecordError(`${file.name}: it cannot be read`);
    if ("problem" in answer.read) throw new RecordError(answer.read.problem);
    return answer.read;
  } finally {
    worker.terminate();
  }
}
