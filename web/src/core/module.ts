// The WebAssembly module and its three functions. Nothing here knows what a question is about.

interface Exports {
  memory: WebAssembly.Memory;
  drivelab_allocate(length: number): number;
  drivelab_free(start: number, length: number): void;
  drivelab_call(start: number, length: number): number;
}

/** The core broke one of its own rules: the module is not to be called again. */
export class Defect extends Error {}

export class Module {
  private words = "";

  private constructor(private readonly exports: () => Exports) {}

  /** An instance; `progress` is called from time to time with the share of a step that is done. */
  static async instantiate(module: WebAssembly.Module, progress: (share: number) => void): Promise<Module> {
    let exports: Exports | undefined;
    const own = new Module(() => {
      if (exports === undefined) throw new Defect("the core is not there yet");
      return exports;
    });
    const text = (start: number, length: number) =>
      new TextDecoder().decode(new Uint8Array(own.exports().memory.buffer, start, length));
    const instance = await WebAssembly.instantiate(module, {
      env: {
        drivelab_progress: progress,
        drivelab_defect: (start: number, length: number) => {
          own.words = text(start, length);
        },
      },
    });
    exports = instance.exports as unknown as Exports;
    return own;
  }

  /** Asks a question, JSON to JSON. Throws Defect. */
  call(question: string): string {
    const core = this.exports();
    const bytes = new TextEncoder().encode(question);
    const start = core.drivelab_allocate(bytes.length);
    new Uint8Array(core.memory.buffer, start, bytes.length).set(bytes);
    let found: number;
    try {
      found = core.drivelab_call(start, bytes.length);
    } catch (error) {
      throw new Defect(this.words || String(error));
    }
    // The memory may have grown, and its buffer with it.
    const length = new DataView(core.memory.buffer).getUint32(found, true);
    const answer = new TextDecoder().decode(new Uint8Array(core.memory.buffer, found + 4, length));
    core.drivelab_free(found, length + 4);
    return answer;
  }
}
