// Scenarios of a published table, run by several workers at once; each run puts its figures where they belong.
import { Core, Problems, Stopped } from "../core/client";
import { combinedDigest } from "../record/record";
import type { Found } from "./found";

/** Workers at most: each has a core of its own in memory. */
const WORKERS_MAX = 4;

export interface Watching {
  /** The share of the work that is done. */
  progress(share: number): void;
  /** A run has ended, and its figures are there. */
  ran(): void;
}

export class Runner {
  private readonly cores: Core[];
  private wish = 0;
  private isBusy = false;

  constructor(core: Core, machine = navigator.hardwareConcurrency) {
    const count = Math.max(1, Math.min(WORKERS_MAX, machine || 1));
    this.cores = [core, ...Array.from({ length: count - 1 }, () => new Core())];
  }

  get workers(): number {
    return this.cores.length;
  }

  /** Runs scenarios that have not been run; returns whether all of them were. Throws where one fails. */
  async run(found: Found, scenarios: readonly number[], watching: Watching): Promise<boolean> {
    this.stop();
    const wish = this.wish;
    this.isBusy = true;
    const waiting = scenarios.filter((scenario) => !found.digests.has(scenario));
    const of = waiting.length;
    const shares = this.cores.map(() => 0);
    let done = 0;
    const tell = () => watching.progress(of === 0 ? 1 : (done + shares.reduce((sum, share) => sum + share, 0)) / of);
    const work = async (core: Core, place: number) => {
      for (let scenario = waiting.shift(); scenario !== undefined && wish === this.wish; scenario = waiting.shift()) {
        await one(core, found, scenario, (share) => {
          shares[place] = share;
          tell();
        });
        shares[place] = 0;
        done += 1;
        if (wish !== this.wish) return;
        watching.ran();
        tell();
      }
    };
    try {
      await Promise.all(this.cores.slice(0, Math.max(1, of)).map(work));
    } catch (error) {
      if (wish === this.wish) this.stop();
      if (!(error instanceof Stopped)) throw error;
    }
    if (wish === this.wish) this.isBusy = false;
    return wish === this.wish && done === of;
  }

  /** Ends whatever runs; what has finished is kept. */
  stop(): void {
    this.wish++;
    if (this.isBusy) for (const core of this.cores) core.stop();
    this.isBusy = false;
  }

  /** Ends whatever runs, and every worker of its own. */
  end(): void {
    this.stop();
    for (const core of this.cores.slice(1)) core.stop();
  }
}

async function one(core: Core, found: Found, scenario: number, progress: (share: number) => void): Promise<void> {
  const { experiment } = found;
  const { text, log } = experiment.scenarios[scenario] as { text: string; log: number };
  try {
    const outcome = await core.run({ text, origin: `${experiment.name}.toml`, log }, { progress: (done, of) => progress(done / of) });
    const [failure] = outcome.failures;
    if (failure !== undefined) throw new Error((JSON.parse(failure) as { message: string }).message);
    found.take(scenario, combinedDigest(outcome.points), outcome.points);
  } catch (error) {
    if (error instanceof Stopped) throw error;
    const why = error instanceof Problems || error instanceof Error ? error.message : String(error);
    const cell = experiment.cells.find((one) => one.scenario === scenario)?.id ?? `scenario ${scenario}`;
    throw new Error(`${experiment.name}, ${cell}: ${why}`);
  }
}
