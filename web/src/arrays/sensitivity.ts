// What a chance of loss depends on: each assumption at half and at twice its value, and where the pick turns. The rules are
// those of python/drivelab/arrays/plan/sensitivity.py; where it turns with the load is found in load-turns.ts.
import type { Core } from "../core/client";
import type { Losses } from "../core/losses";
import { type Asked, type Candidate, holds, knowsFailures, lossPercent, lossSpan, nameOf } from "./candidate";
import { rebuildOf, RunFailed, type Runs, stateOf } from "./evaluate";
import { before } from "./judge";
import { isKeptUp, loadText, scaled } from "./load";
import { isLaw, lossesAt, lossesOf, rebuildHours, times } from "./odds";
import { USUAL } from "./rebuild";

export const LOW = 0.5;
export const HIGH = 2;
/** The largest factor that is searched, in so many steps. */
export const FAR = 16;
const STEPS = 7;
/** The number of other candidates that are considered. */
const RIVALS = 4;
/** Why the pick turns where its chance of loss rises. */
const OVER = "over the limit of losses";

const NAMES: Record<string, string> = {
  afr: "annual failure rate",
  mttf: "mean time to failure",
  ure: "unreadable sectors",
  scrub: "time between scrubs",
  detection: "time to detect",
  replacement: "time to replace",
  batch: "share of bad batches",
  common: "time between common failures",
  wrong_drive: "wrong drive pulled",
  rebuild: "rebuild time",
  load: "load",
};
/** What is assumed where nothing is said: name, value, and the key that says it. */
const LEFT_OUT: readonly (readonly [string, string, string])[] = [
  ["time to detect", "0", "detection"],
  ["time to replace", "0", "replacement"],
  ["attended hours", "all", "attended"],
  ["hot spares", "0", "spares"],
  ["scrub", "none", "scrub"],
  ["failures that come together", "none", "common"],
  ["bad batches", "none", "batch"],
  ["wrong drive pulled", "never", "wrong_drive"],
];

/** A chance of loss in a year in percent for a varied assumption, and whether its interval lies beside that of now. */
export interface Varied {
  value: number;
  low: number;
  high: number;
  is_told: boolean;
}

/** From which factor on another candidate is the pick, the limit that is missed there, and that candidate. */
export interface Turn {
  factor: number;
  why: string | undefined;
  then: string | undefined;
}

export interface Assumption {
  key: string;
  name: string;
  value: string;
  /** At half and at twice its value; undefined where that is not known. */
  low: Varied | undefined;
  high: Varied | undefined;
  turns: Turn[];
}

/** Whether half or twice of it changes the chance by more than the intervals. */
export const isTold = ({ low, high }: Assumption): boolean => [low, high].some((one) => one?.is_told === true);

/** Default assumptions in force: name and value. */
export function leftOut({ failures }: Asked): [string, string][] {
  return LEFT_OUT.filter(([, , key]) => failures[key] === undefined).map(([name, value]) => [name, value]);
}

/** All assumptions on failures, those with the largest effect first; where the pick turns only if `one` is the pick. */
export async function assumptionsOf(core: Core, one: Candidate, pick: Candidate | undefined, candidates: readonly Candidate[], asked: Asked, progress: (share: number) => void): Promise<Assumption[]> {
  const hours = rebuildHours(one);
  const given: Record<string, string> = { ...asked.failures, ...(hours === undefined ? {} : { rebuild: hours }) };
  const found: Assumption[] = [];
  const entries = Object.entries(given);
  for (const [at, [key, text]] of entries.entries()) {
    progress(at / entries.length);
    if (NAMES[key] === undefined || (key === "ure" && text.trim().toLowerCase() === "none")) continue;
    found.push(await ofFailures(core, key, text, one, one === pick, candidates, asked));
  }
  return sorted(found);
}

/** Effects that are told before those that are not, the widest first. */
export function sorted(found: readonly Assumption[]): Assumption[] {
  const width = ({ low, high }: Assumption) => (low?.value && high?.value ? Math.abs(Math.log(high.value / low.value)) : 0);
  return [...found].sort((one, other) => Number(isTold(other)) - Number(isTold(one)) || width(other) - width(one));
}

async function ofFailures(core: Core, key: string, text: string, one: Candidate, isPick: boolean, candidates: readonly Candidate[], asked: Asked): Promise<Assumption> {
  const now = one.losses?.loss_in_a_year;
  const varied = async (factor: number): Promise<Varied | undefined> => {
    const found = (await lossesAt(core, one, asked, key, factor))?.loss_in_a_year;
    if (found === undefined || now === undefined) return undefined;
    return { value: 100 * (found.value ?? found.high), low: 100 * found.low, high: 100 * found.high, is_told: found.low > now.high || found.high < now.low };
  };
  const search = new Search(core, key, asked, candidates);
  const turns = asked.limits.loss_percent === undefined || !isPick ? [] : await search.turns(one);
  const value = isLaw(text) ? text : times(text.split("(")[0] as string, 1, 3);
  return { key, name: NAMES[key] as string, value, low: await varied(LOW), high: await varied(HIGH), turns };
}

/** Where the pick turns when one assumption is multiplied. */
class Search {
  constructor(
    private readonly core: Core,
    private readonly key: string,
    private readonly asked: Asked,
    private readonly candidates: readonly Candidate[],
  ) {}

  /** A longer time to failure is better. */
  private get isBetter(): boolean {
    return ["mttf", "common"].includes(this.key);
  }

  private get limit(): number {
    return this.asked.limits.loss_percent ?? 0;
  }

  private async loss(one: Candidate, factor: number): Promise<number | undefined> {
    const found = await lossesAt(this.core, one, this.asked, this.key, factor);
    return found === undefined ? undefined : lossPercent(found);
  }

  async turns(one: Candidate): Promise<Turn[]> {
    return [await this.up(one), await this.down(one)].filter((turn) => turn !== undefined);
  }

  /** The factor beyond which the pick exceeds the limit. */
  private async up(one: Candidate): Promise<Turn | undefined> {
    let end = this.isBetter ? 1 / FAR : FAR;
    let worst = await this.loss(one, end);
    while (worst === undefined && Math.abs(Math.log(end)) > 0.1) {
      end = Math.sqrt(end);
      worst = await this.loss(one, end);
    }
    if (worst === undefined || worst <= this.limit) return undefined;
    const factor = await crossing(async (at) => ((await this.loss(one, at)) ?? 0) > this.limit, end);
    const own = one.losses === undefined ? 0 : lossPercent(one.losses);
    const others = this.candidates.filter((other) => holds(other) && other !== one && other.losses !== undefined && rebuildHours(other) !== undefined && lossPercent(other.losses) < own).sort(before);
    for (const other of others.slice(0, RIVALS)) {
      if (((await this.loss(other, factor)) ?? Number.POSITIVE_INFINITY) <= this.limit) return { factor, why: OVER, then: nameOf(other) };
    }
    return { factor, why: OVER, then: undefined };
  }

  /** The factor beyond which a cheaper candidate meets the limit. */
  private async down(one: Candidate): Promise<Turn | undefined> {
    const end = this.isBetter ? FAR : 1 / FAR;
    const own = (other: Candidate) => (other.losses === undefined ? 0 : lossPercent(other.losses));
    const rivals = this.candidates
      .filter((other) => other.losses !== undefined && rebuildHours(other) !== undefined && other.failings.length > 0 && other.failings.every(({ limit }) => limit === "loss") && before(other, one) < 0)
      .sort((a, b) => own(a) - own(b));
    const found: Turn[] = [];
    for (const other of rivals.slice(0, RIVALS)) {
      const best = await this.loss(other, end);
      if (best === undefined || best > this.limit) continue;
      const factor = await crossing(async (at) => ((await this.loss(other, at)) ?? 0) <= this.limit, end);
      found.push({ factor, why: undefined, then: nameOf(other) });
    }
    return found.sort((a, b) => Math.abs(Math.log(a.factor)) - Math.abs(Math.log(b.factor)))[0];
  }
}

/** The factor between 1 and `end` from which on a condition holds, to a few percent. */
async function crossing(hasTurned: (factor: number) => Promise<boolean>, end: number): Promise<number> {
  let [near, far] = [0, Math.log(end)];
  for (let step = 0; step < STEPS; step++) {
    const middle = (near + far) / 2;
    if (await hasTurned(Math.exp(middle))) far = middle;
    else near = middle;
  }
  return Math.exp(far);
}

/** The chance of loss under half and under twice the load: the array is simulated again under each. */
export async function ofLoad(runs: Runs, one: Candidate, asked: Asked, progress: (share: number) => void): Promise<Assumption | undefined> {
  if (scaled(asked.load, HIGH) === undefined) return undefined;
  const varied = async (factor: number, from: number): Promise<Varied | undefined> => {
    if (one.losses === undefined || !knowsFailures(asked)) return undefined;
    const load = scaled(asked.load, factor);
    const again = load && (await lossesUnder(runs, one, { ...asked, load }, (share) => progress(from + share / 2)));
    return again && variedOf(again, one.losses as Losses);
  };
  return { key: "load", name: NAMES["load"] as string, value: loadText(asked.load), low: await varied(LOW, 0), high: await varied(HIGH, 0.5), turns: [] };
}

function variedOf(again: Losses, now: Losses): Varied {
  const [[low, high], [lowNow, highNow]] = [lossSpan(again), lossSpan(now)];
  return { value: lossPercent(again), low, high, is_told: low > highNow || high < lowNow };
}

async function lossesUnder(runs: Runs, one: Candidate, asked: Asked, progress: (share: number) => void): Promise<Losses | undefined> {
  try {
    const healthy = await stateOf(runs, one.made, asked.load, "healthy", asked.seed);
    // If queues already grow without bound, a rebuild tells nothing.
    if (isKeptUp(asked.load, healthy) === false) return undefined;
    const again: Candidate = { ...one, rebuild: await rebuildOf(runs, one, asked, USUAL, undefined, progress) };
    const hours = rebuildHours(again);
    return hours === undefined ? undefined : await lossesOf(runs.core, again, asked, hours, true);
  } catch (error) {
    if (error instanceof RunFailed) return undefined;
    throw error;
  }
}
