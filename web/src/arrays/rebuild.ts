// How long a rebuild takes, extrapolated from parts of it: the rule of python/drivelab/arrays/simulation/rebuild.py, which
// a test holds equal. A rebuild is simulated at places in the middle of equal shares of the work; the mean time per byte
// there is that of the whole, and its error follows from the spread about the neighbours' trend.
import type { Point, Sync } from "../core/answers";

const WINDOWS = 16;
/** Student's t for 95 % with two degrees of freedom fewer than windows. */
const T_95 = 2.145;
const RESOLUTION = 0.015;
const NS_PER_S = 1e9;

/** How long each window is simulated before it counts, and how long it counts. */
export const WINDOWS_WAY = { settled_s: 10, window_s: 10 } as const;

export interface Extrapolated {
  member_bytes: number;
  simulated_bytes: number;
  /** Null where a window made no progress; then there is a lower bound. */
  duration_ns: number | null;
  at_least_ns: number | null;
  relative_error: number | null;
  member_bytes_per_s: number | null;
  windows: { rebuilt: string; member_bytes_per_s: number }[];
}

/** The progress at which the windows begin. */
export function places(): string[] {
  return Array.from({ length: WINDOWS }, (_, window) => `${(100 * (2 * window + 1)) / (2 * WINDOWS)}%`);
}

/** The whole rebuild; undefined if nothing is rebuilt, or a window has no result. `records` as in a RAID-Z pool. */
export function extrapolated(points: readonly Point[], records?: number): Extrapolated | undefined {
  const first = points[0];
  if (first === undefined || points.length < WINDOWS || !points.every((point) => rebuilds(point).length > 0)) return undefined;
  const whole = Math.max(...rebuilds(first).map((sync) => sync.member_bytes_in_all));
  const windows = points.map(windowOf);
  const paces = windows.map((window) => window.ns / (window.bytes || 2 ** 20));
  const sum = paces.reduce((all, pace) => all + pace, 0);
  const found = {
    member_bytes: whole,
    simulated_bytes: windows.reduce((all, window) => all + window.bytes, 0),
    windows: windows.map((window, at) => ({ rebuilt: String(points[at]?.axes["target.array.rebuilt"]), member_bytes_per_s: (window.bytes * NS_PER_S) / window.ns })),
  };
  if (windows.some((window) => window.bytes === 0)) {
    return { ...found, duration_ns: null, at_least_ns: Math.round((whole * sum) / WINDOWS), relative_error: null, member_bytes_per_s: null };
  }
  const mean = sum / WINDOWS;
  const left = records ? leftOfPool(points, (whole * mean) / NS_PER_S, records) : 1;
  return {
    ...found,
    duration_ns: Math.round(whole * mean * left),
    at_least_ns: null,
    relative_error: Math.hypot((T_95 * standardError(paces)) / mean, RESOLUTION),
    member_bytes_per_s: NS_PER_S / mean,
  };
}

const rebuilds = (point: Point): Sync[] => (point.array?.syncs ?? []).filter((sync) => sync.kind === "rebuild");

/** The progress once queues have filled: bytes of a member, between ends of requests. */
function windowOf(point: Point): { bytes: number; ns: number } {
  const sync = rebuilds(point)[0] as Sync;
  const series = point.array?.series ?? [];
  const piece = series.length > 1 ? (series[1] as { start_ns: number }).start_ns - (series[0] as { start_ns: number }).start_ns : 0;
  const ends = series.map((one) => [one.start_ns + piece, Math.round((one.rebuilt ?? 0) * sync.member_bytes_in_all)] as const);
  const steps = ends.filter((end, at) => at > 0 && end[1] > (ends[at - 1] as readonly [number, number])[1]);
  const settled = steps.filter((step) => step[0] >= WINDOWS_WAY.settled_s * NS_PER_S);
  // Near the end of a small member the window may be all that is left.
  const isShort = settled.length < 2 && sync.ended_ns !== null;
  const counted = isShort ? [[0, sync.member_bytes_before] as const, ...steps] : settled;
  const [start, end] = [counted[0], counted[counted.length - 1]];
  if (counted.length < 2 || start === undefined || end === undefined) return { bytes: 0, ns: WINDOWS_WAY.window_s * NS_PER_S };
  return { bytes: end[1] - start[1], ns: end[0] - start[0] };
}

/** The share of a pool that must be rebuilt if all of it would take so long: hosts rewrite the rest meanwhile. */
function leftOfPool(points: readonly Point[], seconds: number, records: number): number {
  const writes = points.reduce((sum, point) => sum + point.write.iops, 0) / points.length;
  let left = 1;
  for (let round = 0; round < 50; round++) {
    const exponent = (writes * seconds * left) / records;
    left = exponent ? -Math.expm1(-exponent) / exponent : 1;
  }
  return left;
}

/** The standard error of the mean, from second differences. */
function standardError(paces: readonly number[]): number {
  const bends = paces.slice(2).map((last, at) => (paces[at] as number) - 2 * (paces[at + 1] as number) + last);
  return Math.sqrt(bends.reduce((sum, bend) => sum + bend * bend, 0) / (6 * bends.length) / paces.length);
}
