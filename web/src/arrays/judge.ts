// Which limits a candidate misses, and which of those that hold is the pick: the rules of python/drivelab/arrays/plan
// (evaluate.py, choice.py).
import { type Asked, type Candidate, type Failing, type Limits, chanceFigure, grouped, holds, isRedundant, latencyName, lossPercent, lossSpan, milliseconds, terabytes } from "./candidate";
import { isKeptUp } from "./load";
import { rebuildHours } from "./odds";
import { STATE_WORDS, type State } from "./states";

const where = (state: State) => (state === "healthy" ? "" : ` ${STATE_WORDS[state]}`);

/** All that it misses, as far as is known; `is_judged` says whether that is all. */
export function judge(one: Candidate, asked: Asked): void {
  const { limits } = asked;
  one.failings = [];
  if (one.reason !== undefined) {
    one.failings.push({ limit: "level", text: one.reason });
    return;
  }
  if (one.capacity_bytes < limits.capacity_bytes) one.failings.push({ limit: "capacity", text: `holds ${terabytes(one.capacity_bytes)}` });
  for (const state of new Set<State>(["healthy", ...limits.states])) judgeState(one, asked, state);
  judgeRebuild(one);
  for (const text of one.troubles) one.failings.push({ limit: "load", text });
  judgeLoss(one, asked);
}

function judgeState(one: Candidate, { limits, load }: Asked, state: State): void {
  const figures = one.states[state];
  const isLimited = limits.states.includes(state);
  if (figures === undefined) {
    if (state !== "healthy" && !isRedundant(one)) one.failings.push({ limit: "states", text: `loses data${where(state)}` });
    return;
  }
  if (isKeptUp(load, figures) === false) {
    one.failings.push({ limit: "load", text: `does ${grouped(figures.iops, 4)} of ${grouped(load.rate ?? 0, 4)} IOPS${where(state)}` });
  }
  if (!isLimited) return;
  if (limits.latency !== undefined) {
    const { name, most_ns: most } = limits.latency;
    const found = figures.latency_ns[name as "p99"];
    if (found === null || found > most) {
      const text = found === null ? "unknown, for too few requests finished" : milliseconds(found);
      one.failings.push({ limit: "latency", text: `${latencyName(name)} ${text}${where(state)}` });
    }
  }
  if (limits.iops !== undefined && figures.iops < limits.iops) one.failings.push({ limit: "iops", text: `${grouped(figures.iops, 4)} IOPS${where(state)}` });
}

function judgeRebuild({ rebuild, failings }: Candidate): void {
  if (!rebuild) return;
  if (rebuild.duration_ns === null) failings.push({ limit: "load", text: "hosts leave nothing to a rebuild" });
  else if (!rebuild.kept_up) failings.push({ limit: "load", text: "requests wait longer and longer while it is rebuilt" });
}

function judgeLoss(one: Candidate, { limits }: Asked): void {
  if (limits.loss_percent === undefined || one.losses === undefined) return;
  if (one.is_bound) {
    const least = one.losses.loss_in_a_year;
    if (100 * least.low > limits.loss_percent) {
      one.failings.push({ limit: "loss", text: `${least.value === null ? "<" : ""}${chanceFigure(lossPercent(one.losses))} % a year however fast it is rebuilt` });
    }
  } else if (lossPercent(one.losses) > limits.loss_percent) {
    const unknown = one.losses.loss_in_a_year.value === null ? "not known to be below " : "";
    one.failings.push({ limit: "loss", text: `${unknown}${chanceFigure(lossPercent(one.losses))} % a year` });
  }
}

/** Whether a better known rebuild could turn the verdict on the chance of loss. */
export function isUndecided(one: Candidate, { loss_percent: limit }: Limits): boolean {
  if (limit === undefined || one.losses === undefined || one.is_bound || rebuildHours(one) === undefined) return false;
  const [low, high] = lossSpan(one.losses);
  return low <= limit && limit <= high;
}

/** By price, chance of loss, and latency. */
export function order(one: Candidate): readonly [number, number, number] {
  // Equal chances differ by rounding.
  const loss = one.losses === undefined ? 0 : Number(lossPercent(one.losses).toPrecision(9));
  return [Math.round(one.cost * 1e6) / 1e6, loss, one.states.healthy?.latency_ns.mean ?? 0];
}

export function before(one: Candidate, other: Candidate): number {
  const [own, others] = [order(one), order(other)];
  const at = own.findIndex((value, place) => value !== others[place]);
  return at < 0 ? 0 : (own[at] as number) - (others[at] as number);
}

/** The cheapest that holds; of equal prices the one with the fewest losses, then the fastest. */
export function pickOf(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.filter(holds).sort(before)[0];
}

const LIMITS = ["capacity", "states", "load", "latency", "iops", "loss"] as const;
export const OPTIONS: Record<Failing["limit"], string> = { level: "the level", capacity: "the capacity", states: "the states", load: "the load", latency: "the latency", iops: "the IOPS", loss: "the chance of loss" };

/** A limit that rules out candidates, and the nearest of those. */
export interface Binding {
  limit: Failing["limit"];
  nearest: Candidate;
  /** Whether it would hold without this limit. */
  is_alone: boolean;
}

/** Each limit that alone rules out every candidate; where there is none, those of the candidate that misses the fewest. */
export function bindingsOf(candidates: readonly Candidate[], asked: Asked): Binding[] {
  const possible = candidates.filter((one) => one.reason === undefined);
  const least = (list: readonly Candidate[], of: (one: Candidate) => number) => list.reduce<Candidate | undefined>((best, one) => (best === undefined || of(one) < of(best) ? one : best), undefined);
  const alone = LIMITS.flatMap((limit): Binding[] => {
    const others = possible.filter(({ failings }) => failings.length > 0 && failings.every((one) => one.limit === limit));
    const nearest = least(others, (one) => miss(one, limit, asked));
    return nearest === undefined ? [] : [{ limit, nearest, is_alone: true }];
  });
  if (alone.length > 0) return alone;
  const missed = (one: Candidate) => [...new Set(one.failings.map(({ limit }) => limit))];
  const rank = (one: Candidate) => missed(one).length * 1e6 + Math.min(Math.max(...missed(one).map((limit) => miss(one, limit, asked))), 999_999);
  const nearest = least(possible.filter(({ failings }) => failings.length > 0), rank);
  return nearest === undefined ? [] : missed(nearest).map((limit) => ({ limit, nearest, is_alone: false }));
}

/** The factor by which a limit is missed. */
function miss(one: Candidate, limit: Failing["limit"], { limits, load }: Asked): number {
  const figures = limits.states.map((state) => one.states[state]);
  const iops = Math.max(Math.min(...figures.map((of) => of?.iops ?? 0)), 1e-9);
  switch (limit) {
    case "capacity":
      return limits.capacity_bytes / Math.max(one.capacity_bytes, 1);
    case "load":
      return (load.rate ?? 1) / iops;
    case "latency":
      return Math.max(...figures.map((of) => (of?.latency_ns[limits.latency?.name as "p99"] ?? Number.POSITIVE_INFINITY) / (limits.latency?.most_ns ?? 1)));
    case "iops":
      return (limits.iops ?? 0) / iops;
    case "loss":
      return one.losses === undefined ? Number.POSITIVE_INFINITY : lossPercent(one.losses) / (limits.loss_percent ?? 1);
    default:
      return 1;
  }
}

/** Which of the pick's figures may exceed their limits within their intervals. */
export function nearOf(one: Candidate, { limits }: Asked): string[] {
  const near: string[] = [];
  for (const state of limits.states) {
    const span = one.states[state]?.latency_interval_ns[limits.latency?.name ?? ""];
    if (limits.latency && span && span[1] > limits.latency.most_ns) near.push(latencyName(limits.latency.name));
  }
  if (limits.loss_percent !== undefined && one.losses && lossSpan(one.losses)[1] > limits.loss_percent) near.push("chance of loss");
  return [...new Set(near)];
}
