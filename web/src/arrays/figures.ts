// What a load came to: the figures of python/drivelab/arrays/simulation/figures.py, and the interval of each latency as
// python/drivelab/runs/hdr.py has it.
import type { Latency, Point } from "../core/answers";
import { iopsRange } from "../record/ranges";

type Counts = readonly (readonly [number, number])[];
export type Ends = readonly [number, number];

/** Latencies that may have a limit, and the share of I/Os that does not exceed each; none for the mean. */
export const SHARES: Record<string, number | undefined> = { mean: undefined, p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99 };

const Z_95 = 1.96;
const BATCHES = 20;

export interface Figures {
  iops: number;
  iops_relative_error: number | null;
  iops_low?: number;
  iops_high?: number;
  bytes_per_s: number;
  latency_ns: Latency;
  /** The 95 % interval of each; undefined below 100 I/Os. */
  latency_interval_ns: Record<string, Ends | undefined>;
}

/** The figures of a run; `histograms` are those of its reads and of its writes. */
export function figuresOf(point: Point, histograms: readonly Counts[]): Figures {
  const intervals = Object.entries(SHARES).map(([name, share]) => [name, latencyInterval(point, histograms, share)] as const);
  return {
    iops: point.iops,
    iops_relative_error: point.iops_relative_error ?? null,
    ...iopsRange(point),
    bytes_per_s: point.bytes_per_s,
    latency_ns: point.latency_ns,
    latency_interval_ns: Object.fromEntries(intervals),
  };
}

/** The interval of a quantile of all response times, or of their mean without a share. Response times that follow each
 *  other are alike: their number counts for as much less as the means of batches spread more than independent ones would. */
export function latencyInterval(point: Point, histograms: readonly Counts[], share: number | undefined): Ends | undefined {
  const times = histograms.flat().sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const count = times.reduce((sum, [, often]) => sum + often, 0);
  const mean = point.latency_ns.mean;
  if (count < 100 || mean === null) return undefined;
  const variance = times.reduce((sum, [ns, often]) => sum + often * (ns - mean) ** 2, 0) / count;
  const effective = count / inflation(point, mean, variance);
  if (share === undefined) {
    const half = Z_95 * Math.sqrt(variance / effective);
    return [Math.max(mean - half, 0), mean + half];
  }
  const half = Z_95 * Math.sqrt((share * (1 - share)) / effective);
  return [atRank(times, (share - half) * count), atRank(times, Math.min(share + half, 1) * count)];
}

function atRank(times: Counts, rank: number): number {
  let upto = 0;
  for (const [ns, often] of times) {
    upto += often;
    if (upto >= rank) return ns;
  }
  return times[times.length - 1]?.[0] ?? 0;
}

/** By how much the means of batches spread more than those of independent response times; 1 at least. */
function inflation(point: Point, mean: number, variance: number): number {
  const pieces = (point.series ?? []).filter(({ ios }) => ios > 0);
  const size = Math.max(Math.floor(pieces.length / BATCHES), 1);
  const batches = [];
  for (let at = 0; at < pieces.length; at += size) batches.push(pieces.slice(at, at + size));
  if (batches.length < 4 || variance === 0) return 1;
  const spread = batches.reduce((sum, batch) => {
    const ios = batch.reduce((all, piece) => all + piece.ios, 0);
    const total = batch.reduce((all, piece) => all + piece.ios * (piece.mean_latency_ns ?? 0), 0);
    return sum + ios * (total / ios - mean) ** 2;
  }, 0);
  return Math.max(spread / (batches.length - 1) / variance, 1);
}
