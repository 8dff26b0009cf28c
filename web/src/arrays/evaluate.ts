// The candidates of a question, and their runs: what is known at once, then the load in each state, then the rebuilds with
// the chances of loss that follow. Each part is told as soon as it is known.
import type { Point } from "../core/answers";
import { type Core, Problems } from "../core/client";
import { arrayName, type Asked, type Candidate, isRedundant, knowsFailures } from "./candidate";
import { figuresOf } from "./figures";
import { isUndecided, judge } from "./judge";
import { isRandom, type Load } from "./load";
import { fastestHours, lossesOf, rebuildHours } from "./odds";
import { type Extrapolated, extrapolated, FINE, nextWay, PART_S, type Precision, USUAL, type Way } from "./rebuild";
import { COPIES, GROUPS, type Made, type State, rebuildText, stateText, writesText } from "./states";

const ORIGIN = "which-array.toml";
const PAIRED = "a member on this drive is one of two actuators and fails with the other one, and levels are compared for members that fail one by one";
/** What a run of a state and one of a rebuild take of the progress. */
const STATE_PART = 1;
const REBUILD_PART = 6;

export interface Watching {
  /** Something more is known of a candidate. */
  told(): void;
  /** The share that is done, and what runs. */
  progress(share: number, what: string): void;
}

/** Why a run has no result, in the words of the core. */
export class RunFailed extends Error {}

/** Runs of scenarios, kept for the next question that has them. */
export class Runs {
  private readonly kept = new Map<string, Point>();

  constructor(
    readonly core: Core,
    private readonly most = 600,
  ) {}

  has(text: string): boolean {
    return this.kept.has(text);
  }

  /** The one point of a scenario. Throws Problems and RunFailed. */
  async point(text: string, progress: (share: number) => void = () => {}): Promise<Point> {
    const known = this.kept.get(text);
    if (known !== undefined) return known;
    const { points, failures } = await this.core.run({ text, origin: ORIGIN }, { progress: (done, of) => progress(done / of) });
    const [point] = points;
    if (point === undefined) throw new RunFailed((JSON.parse(failures[0] ?? "{}") as { message?: string }).message ?? "the run has no result");
    this.kept.set(text, point);
    const [oldest] = this.kept.keys();
    if (this.kept.size > this.most && oldest !== undefined) this.kept.delete(oldest);
    return point;
  }
}

/** Each level with each number of drives, with what is known without a run of its load. Throws Problems. */
export async function candidatesOf(core: Core, asked: Asked, levels: readonly string[], members: readonly number[]): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const count of members) for (const level of levels) found.push(await candidateOf(core, asked, { drive: asked.drive.name, level, members: count }));
  return found;
}

async function candidateOf(core: Core, asked: Asked, made: Made): Promise<Candidate> {
  const { lacks, bears } = await core.tolerance(made.level, made.members, COPIES, GROUPS);
  const one: Candidate = {
    made,
    reason: asked.drive.is_paired ? PAIRED : lacks === undefined ? undefined : `needs ${lacks}`,
    bears: bears ?? { worst: 0, best: 0 },
    capacity_bytes: 0,
    record_bytes: undefined,
    cost: (made.members + asked.spares) * asked.price,
    states: {},
    rebuild: undefined,
    losses: undefined,
    is_bound: true,
    troubles: [],
    failings: [],
    is_hopeless: false,
    is_judged: false,
  };
  if (one.reason === undefined) await layOut(core, one, asked);
  judge(one, asked);
  one.is_hopeless = one.failings.some(({ limit }) => limit === "loss");
  one.is_judged = one.reason !== undefined;
  return one;
}

/** Its capacity, and the least chance of loss that it can have. */
async function layOut(core: Core, one: Candidate, asked: Asked): Promise<void> {
  const text = stateText(one.made, asked.load, "healthy", asked.seed);
  try {
    const target = await core.target({ text, origin: ORIGIN });
    one.capacity_bytes = target.capacity_bytes;
    one.record_bytes = target.in_force?.array?.record_bytes;
  } catch (error) {
    // What is wrong with the load, below the target, is wrong for all of them.
    const load = text.split("\n").indexOf("[workload]") + 1;
    if (!(error instanceof Problems) || error.list.some(({ line }) => line >= load)) throw error;
    one.reason = error.list[0]?.message ?? "it cannot be";
    return;
  }
  if (knowsFailures(asked)) one.losses = await lossesOf(core, one, asked, isRedundant(one) ? fastestHours(one, asked) : undefined);
  one.is_bound = isRedundant(one);
}

const statesOf = (one: Candidate): State[] => (isRedundant(one) ? ["healthy", "degraded", "rebuilding"] : ["healthy"]);

/** Runs everything that is not known. Throws Stopped. */
export async function evaluate(runs: Runs, candidates: readonly Candidate[], asked: Asked, watching: Watching): Promise<void> {
  const possible = candidates.filter(({ reason }) => reason === undefined);
  const sum = possible.reduce((all, one) => all + statesOf(one).length * STATE_PART + (isRedundant(one) ? REBUILD_PART : 0), 0);
  let done = 0;
  const within = (size: number, what: string) => {
    const from = done;
    done += size;
    return (share: number) => watching.progress((from + size * Math.min(share, 1)) / sum, what);
  };
  for (const state of ["healthy", "degraded", "rebuilding"] as const) {
    for (const one of possible.filter((candidate) => statesOf(candidate).includes(state))) {
      const progress = within(STATE_PART, `${arrayName(one)}, ${state}`);
      await tried(one, async () => {
        one.states[state] = await stateOf(runs, one.made, asked.load, state, asked.seed, progress);
      });
      judge(one, asked);
      watching.told();
    }
  }
  for (const one of possible) {
    const progress = within(isRedundant(one) ? REBUILD_PART : 0, `${arrayName(one)}, its rebuild`);
    // If queues already grow without bound, a rebuild tells nothing.
    if (isRedundant(one) && one.failings.every(({ limit }) => limit !== "load" && !asked.is_varied)) {
      await tried(one, async () => {
        await rebuilt(runs, one, asked, USUAL, progress);
        if (!asked.is_varied && isUndecided(one, asked.limits)) await rebuilt(runs, one, asked, FINE, progress);
      });
    }
    one.rebuild ??= null;
    one.is_judged = true;
    judge(one, asked);
    watching.told();
  }
}

/** Does what may fail; why it failed is kept with the candidate. */
async function tried(one: Candidate, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof RunFailed)) throw error;
    one.troubles.push(error.message);
  }
}

/** A level under the load in a state. */
export async function stateOf(runs: Runs, made: Made, load: Load, state: State, seed: number, progress: (share: number) => void = () => {}) {
  const point = await runs.point(stateText(made, load, state, seed), progress);
  return figuresOf(point, await runs.core.histograms([point.read.histogram, point.write.histogram]));
}

/** Its rebuild, and the chance of loss with it. */
async function rebuilt(runs: Runs, one: Candidate, asked: Asked, precision: Precision, progress: (share: number) => void): Promise<void> {
  one.rebuild = (await rebuildOf(runs, one, asked, precision, one.rebuild ?? undefined, progress)) ?? null;
  const hours = rebuildHours(one);
  // Where its duration is unknown, the least that it can be stays.
  if (hours === undefined || !knowsFailures(asked)) return;
  one.losses = await lossesOf(runs.core, one, asked, hours, asked.is_varied);
  one.is_bound = false;
}

/** The rebuild under the load, in longer parts until it is known well enough; undefined where it has no result. */
export async function rebuildOf(runs: Runs, one: Candidate, { load, seed }: Asked, precision: Precision, known: Extrapolated | undefined, progress: (share: number) => void): Promise<Extrapolated | undefined> {
  let found = known;
  let way: Way | undefined = known === undefined ? PART_S : nextWay(known, precision);
  const records = one.record_bytes && isRandom(load) ? one.capacity_bytes / one.record_bytes : undefined;
  while (way !== undefined) {
    const point = await runs.point(rebuildText(one.made, load, way, seed), progress);
    const again = extrapolated([point], records, load.rate);
    // Longer parts that have no result leave the shorter ones.
    if (again === undefined) return found;
    [found, way] = [again, nextWay(again, precision)];
  }
  return found;
}

const EARLY_SHARE = 0.8;

/** Whether writes to a level are answered before they are on the media: asked of the model, with and without FUA. */
export async function isEarly(runs: Runs, made: Made): Promise<boolean> {
  const mean = async (isForced: boolean) => (await runs.point(writesText(made, isForced))).latency_ns.mean;
  try {
    const [cached, forced] = [await mean(false), await mean(true)];
    return cached !== null && forced !== null && cached < EARLY_SHARE * forced;
  } catch (error) {
    if (error instanceof Problems) return false;
    throw error;
  }
}
