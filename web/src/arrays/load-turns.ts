// From which load on another array is the pick: the pick is simulated under larger loads, and cheaper arrays that miss a limit
// under smaller ones (python/drivelab/arrays/plan/sensitivity.py).
import { type Asked, type Candidate, holds, isRedundant, nameOf } from "./candidate";
import { evaluate, type Runs } from "./evaluate";
import { before } from "./judge";
import { scaled } from "./load";
import type { Turn } from "./sensitivity";

const UP = [1.25, 1.5, 2, 3] as const;
const DOWN = [0.8, 0.5] as const;
/** The least and the most of the loads that are tried. */
export const SPAN = [0.5, 3] as const;
const RIVALS = 4;

/** Where the pick turns with the load. */
export async function loadTurns(runs: Runs, pick: Candidate, candidates: readonly Candidate[], asked: Asked, progress: (share: number) => void): Promise<Turn[]> {
  const steps = UP.length + DOWN.length;
  const turns: Turn[] = [];
  for (const [at, factor] of UP.entries()) {
    progress(at / steps);
    const again = await underLoad(runs, pick, asked, factor);
    if (again === undefined) break;
    if (holds(again)) continue;
    const others = candidates.filter((one) => holds(one) && one !== pick).sort(before);
    turns.push({ factor, why: again.failings[0]?.text, then: await firstThatHolds(runs, others.slice(0, RIVALS), asked, factor) });
    break;
  }
  const rivals = candidates.filter((one) => isRival(one, pick)).sort((one, other) => one.cost - other.cost);
  for (const [at, factor] of DOWN.entries()) {
    progress((UP.length + at) / steps);
    const holding = await allThatHold(runs, rivals.slice(0, RIVALS), asked, factor);
    if (holding.length === 0) continue;
    turns.push({ factor, why: undefined, then: nameOf(holding.sort(before)[0] as Candidate) });
    break;
  }
  return turns;
}

/** Whether it costs less and misses only limits that a smaller load may meet. */
function isRival(one: Candidate, pick: Candidate): boolean {
  return one.cost < pick.cost && !one.is_hopeless && one.failings.length > 0 && one.failings.every(({ limit }) => limit !== "capacity" && limit !== "level");
}

/** An array under the load multiplied by a factor; undefined if the load has no number to multiply. */
async function underLoad(runs: Runs, one: Candidate, asked: Asked, factor: number): Promise<Candidate | undefined> {
  const load = scaled(asked.load, factor);
  if (load === undefined) return undefined;
  // The chance of loss of an array that is rebuilt depends on the load: that of the load as asked does not count here.
  const isRebuilt = isRedundant(one);
  const again: Candidate = { ...one, states: {}, rebuild: undefined, losses: isRebuilt ? undefined : one.losses, is_bound: isRebuilt, troubles: [], failings: [], is_judged: false };
  await evaluate(runs, [again], { ...asked, load, is_varied: true }, { told: () => {}, progress: () => {} });
  return again;
}

async function firstThatHolds(runs: Runs, others: readonly Candidate[], asked: Asked, factor: number): Promise<string | undefined> {
  for (const other of others) {
    const again = await underLoad(runs, other, asked, factor);
    if (again !== undefined && holds(again)) return nameOf(again);
  }
  return undefined;
}

async function allThatHold(runs: Runs, others: readonly Candidate[], asked: Asked, factor: number): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const other of others) {
    const again = await underLoad(runs, other, asked, factor);
    if (again !== undefined && holds(again)) found.push(again);
  }
  return found;
}
