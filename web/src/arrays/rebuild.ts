// How long a rebuild takes, extrapolated from parts of it: the rule of python/drivelab/arrays/simulation/rebuild.py, which
// a test holds equal. A rebuild is sampled at places in the middle of equal shares of the work; the mean time per byte
// there is that of the whole, and its error follows from the spread of the parts.
import type { Point, SampledPart, Sync } from "../core/answers";

const PARTS = 16;
/** Student's t for 95 % with twelve degrees of freedom. */
const T_95 = 2.18;
const RESOLUTION = 0.03;
/** Where caches fill slowly, with parts of ten seconds. */
const FILLED_RESOLUTION = 0.05;
const NS_PER_S = 1e9;
/** A rebuild shorter than this many times the sampled run is simulated whole, with this error: that of other seeds. */
const WHOLE_BELOW = 8;
const WHOLE_ERROR = 0.03;
/** With a smaller share of the requested rate, latencies of hosts grow without bound while it is rebuilt. */
const KEPT_UP = 0.95;
/** The error of short parts is itself uncertain: longer ones are this much longer than it says. */
const SPARE = 1.2;
const STEP_S = 10;
const LONG_S = 60;

/** The length of each part that counts, in seconds. */
export const PART_S = 10;
/** A way to simulate a rebuild: the length of each part in seconds; 0 for all of it. */
export type Way = number;
export const WHOLE: Way = 0;

/** How well a duration is to be known: half its interval as a share of it, and the longest part for that. */
export interface Precision {
  error: number;
  part_max_s: number;
}
export const USUAL: Precision = { error: 0.1, part_max_s: LONG_S };
/** For a duration on which a decision depends. */
export const FINE: Precision = { error: 0.05, part_max_s: 600 };

export interface Extrapolated {
  member_bytes: number;
  simulated_bytes: number;
  /** Null where a part made no progress; then there is a lower bound. */
  duration_ns: number | null;
  at_least_ns: number | null;
  relative_error: number | null;
  member_bytes_per_s: number | null;
  parts: { rebuilt: string; member_bytes_per_s: number }[];
  /** How it was simulated: parts of what length, how much virtual time, and whether the caches held what they will hold. */
  way: Way;
  simulated_s: number;
  is_steady: boolean;
  /** Whether hosts got the rate that they asked for. */
  kept_up: boolean;
}

/** How a rebuild is simulated, as lines of `[run]`. */
export function samplingLines(way: Way = PART_S): string[] {
  return way === WHOLE ? ['until = "rebuilt"', 'duration = "48h"'] : ['until = "sampled"', `places = ${PARTS}`, `stay = "${way}s"`];
}

/** How it must be simulated again after this result; undefined if its error is small enough. */
export function nextWay(found: Extrapolated | undefined, precision: Precision = USUAL): Way | undefined {
  if (found === undefined || found.way === WHOLE) return undefined;
  if ((found.duration_ns ?? Number.POSITIVE_INFINITY) < WHOLE_BELOW * found.simulated_s * NS_PER_S) return WHOLE;
  const error = found.relative_error;
  if (error === null) return found.way < LONG_S && found.is_steady ? LONG_S : undefined;
  if (error <= precision.error) return undefined;
  const longer = (found.way * SPARE * (error ** 2 - RESOLUTION ** 2)) / (precision.error ** 2 - RESOLUTION ** 2);
  const way = Math.min(STEP_S * Math.ceil(longer / STEP_S), precision.part_max_s);
  return way > found.way ? way : undefined;
}

/** A rebuild that was simulated whole; undefined if it did not end. */
function ofWhole(point: Point, sync: Sync, rate: number | undefined): Extrapolated | undefined {
  if (sync.ended_ns === null || sync.duration_ns === null) return undefined;
  return {
    member_bytes: sync.member_bytes_in_all,
    simulated_bytes: sync.member_bytes_in_all,
    parts: [],
    way: WHOLE,
    simulated_s: sync.duration_ns / NS_PER_S,
    is_steady: true,
    kept_up: rate === undefined || point.iops >= KEPT_UP * rate,
    duration_ns: sync.duration_ns,
    at_least_ns: null,
    relative_error: WHOLE_ERROR,
    member_bytes_per_s: (sync.member_bytes_in_all * NS_PER_S) / sync.duration_ns,
  };
}

/** The whole rebuild; undefined if nothing is rebuilt, or it was over too soon. `records` as in a RAID-Z pool; `rate` is
 *  what hosts ask for by the second, where they have a rate. */
export function extrapolated(points: readonly Point[], records?: number, rate?: number): Extrapolated | undefined {
  const [point] = points;
  const sync = point?.array?.syncs.find((one: Sync) => one.kind === "rebuild");
  const sampled = point?.array?.sampled;
  if (point === undefined || sync === undefined) return undefined;
  if (sampled === undefined) return ofWhole(point, sync, rate);
  const parts = sampled.parts;
  if (parts.length < PARTS) return overSoon(point, sync, parts);
  const paces = parts.map((part) => part.counted_ns / (part.member_bytes || 2 ** 20));
  const [whole, mean] = [sync.member_bytes_in_all - sync.member_bytes_before, meanOf(paces)];
  const found = {
    member_bytes: sync.member_bytes_in_all,
    simulated_bytes: parts.reduce((all, part) => all + part.member_bytes, 0),
    parts: parts.map((part) => ({ rebuilt: `${100 * part.rebuilt}%`, member_bytes_per_s: (part.member_bytes * NS_PER_S) / part.counted_ns })),
    way: wayOf(parts),
    simulated_s: point.window_ns / NS_PER_S,
    is_steady: sampled.is_steady,
    kept_up: rate === undefined || iopsOf(parts) >= KEPT_UP * rate,
  };
  if (parts.some((part) => part.member_bytes === 0)) {
    return { ...found, duration_ns: null, at_least_ns: Math.round(whole * mean), relative_error: null, member_bytes_per_s: null };
  }
  const left = records ? leftOfPool(point.write.iops, (whole * mean) / NS_PER_S, records) : 1;
  return {
    ...found,
    duration_ns: Math.round(whole * mean * left),
    at_least_ns: null,
    relative_error: !found.kept_up || !sampled.is_steady ? null : Math.hypot((T_95 * standardError(paces, parts)) / mean, resolution(parts)),
    member_bytes_per_s: NS_PER_S / mean,
  };
}

const wayOf = (parts: readonly SampledPart[]): Way => (parts[0] === undefined ? 0 : Math.round(parts[0].counted_ns / NS_PER_S));

const sumOf = (parts: readonly SampledPart[], of: (part: SampledPart) => number) => parts.reduce((all, part) => all + of(part), 0);

const iopsOf = (parts: readonly SampledPart[]) => (sumOf(parts, ({ ios }) => ios) * NS_PER_S) / sumOf(parts, ({ counted_ns }) => counted_ns);

/** A rebuild that ended before it was seen everywhere. */
function overSoon(point: Point, sync: Sync, parts: readonly SampledPart[]): Extrapolated | undefined {
  if (sync.ended_ns === null) return undefined;
  return {
    member_bytes: sync.member_bytes_in_all,
    simulated_bytes: sumOf(parts, (part) => part.member_bytes),
    parts: [],
    way: wayOf(parts),
    simulated_s: point.window_ns / NS_PER_S,
    is_steady: point.array?.sampled?.is_steady ?? true,
    kept_up: true,
    duration_ns: sync.ended_ns,
    at_least_ns: null,
    relative_error: null,
    member_bytes_per_s: null,
  };
}

const meanOf = (values: readonly number[]) => values.reduce((all, value) => all + value, 0) / values.length;

const places = (parts: readonly SampledPart[]) => [...new Set(parts.map((part) => part.rebuilt))];

function resolution(parts: readonly SampledPart[]): number {
  const isFilled = places(parts).length < parts.length;
  return isFilled ? Math.max(RESOLUTION, FILLED_RESOLUTION * Math.min(1, (PART_S * NS_PER_S) / (parts[0] as SampledPart).counted_ns)) : RESOLUTION;
}

/** The share of a pool that must be rebuilt if all of it would take so long: hosts rewrite the rest meanwhile. */
function leftOfPool(writes: number, seconds: number, records: number): number {
  let left = 1;
  for (let round = 0; round < 50; round++) {
    const exponent = (writes * seconds * left) / records;
    left = exponent ? -Math.expm1(-exponent) / exponent : 1;
  }
  return left;
}

/** The standard error of the mean: within places, or from second differences. */
function standardError(paces: readonly number[], parts: readonly SampledPart[]): number {
  const groups = places(parts).map((place) => paces.filter((_, at) => parts[at]?.rebuilt === place));
  if (groups.length < paces.length) {
    const squares = groups.flatMap((group) => group.map((pace) => (pace - meanOf(group)) ** 2));
    return Math.sqrt(squares.reduce((all, square) => all + square, 0) / (paces.length - groups.length) / paces.length);
  }
  const bends = paces.slice(2).map((last, at) => (paces[at] as number) - 2 * (paces[at + 1] as number) + last);
  return Math.sqrt(bends.reduce((sum, bend) => sum + bend * bend, 0) / (6 * bends.length) / paces.length);
}
