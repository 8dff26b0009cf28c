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

/** The length of each part that counts, in seconds. */
export const PART_S = 10;

export interface Extrapolated {
  member_bytes: number;
  simulated_bytes: number;
  /** Null where a part made no progress; then there is a lower bound. */
  duration_ns: number | null;
  at_least_ns: number | null;
  relative_error: number | null;
  member_bytes_per_s: number | null;
  parts: { rebuilt: string; member_bytes_per_s: number }[];
}

/** How a rebuild is sampled, as lines of `[run]`. */
export function samplingLines(): string[] {
  return ['until = "sampled"', `places = ${PARTS}`, `stay = "${PART_S}s"`];
}

/** The whole rebuild; undefined if nothing is rebuilt, or it was over too soon. `records` as in a RAID-Z pool. */
export function extrapolated(points: readonly Point[], records?: number): Extrapolated | undefined {
  const [point] = points;
  const sync = point?.array?.syncs.find((one: Sync) => one.kind === "rebuild");
  const parts = point?.array?.sampled?.parts ?? [];
  if (point === undefined || sync === undefined || parts.length < PARTS) return undefined;
  const paces = parts.map((part) => part.counted_ns / (part.member_bytes || 2 ** 20));
  const [whole, mean] = [sync.member_bytes_in_all - sync.member_bytes_before, meanOf(paces)];
  const found = {
    member_bytes: sync.member_bytes_in_all,
    simulated_bytes: parts.reduce((all, part) => all + part.member_bytes, 0),
    parts: parts.map((part) => ({ rebuilt: `${100 * part.rebuilt}%`, member_bytes_per_s: (part.member_bytes * NS_PER_S) / part.counted_ns })),
  };
  if (parts.some((part) => part.member_bytes === 0)) {
    return { ...found, duration_ns: null, at_least_ns: Math.round(whole * mean), relative_error: null, member_bytes_per_s: null };
  }
  const left = records ? leftOfPool(point.write.iops, (whole * mean) / NS_PER_S, records) : 1;
  return {
    ...found,
    duration_ns: Math.round(whole * mean * left),
    at_least_ns: null,
    relative_error: !point.array?.sampled?.is_steady ? null : Math.hypot((T_95 * standardError(paces, parts)) / mean, resolution(parts)),
    member_bytes_per_s: NS_PER_S / mean,
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
