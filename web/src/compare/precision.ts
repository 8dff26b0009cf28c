// How certain a figure is, from the course of a run in its record: the rules of python/drivelab/records/precision.py.
import { type Figure, PERCENTILES, type Table, figureOf } from "./model";

export type Counts = readonly (readonly [number, number])[];
export type Quantile = (share: number) => number | undefined;

const BATCH_STUDENT = 2.04;
const BATCH_FREEDOM = 31;
const STRETCHES = 24;
export const SAMPLES_MIN = 5;
const DIGITS_SHARE = 1e-3;
const NORMAL = 1.959964;
const DEEP = 2;

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
const number = (piece: Table, key: string) => (piece[key] as number | null | undefined) ?? 0;

/** IOPS with the record's interval, or the one estimated from its series, whichever is wider. */
export function ofBatches(value: number, halfWidth: number | undefined, pieces: readonly Table[], windowNs: number | undefined): Figure {
  if (halfWidth === undefined) return figureOf(value);
  let [error, freedom] = [halfWidth / BATCH_STUDENT, BATCH_FREEDOM];
  if (windowNs && pieces.length >= STRETCHES) {
    const begins = pieces.map((piece) => number(piece, "start_ns"));
    const ends = [...begins.slice(1), (begins[0] as number) + windowNs];
    const found = spread(pieces.map((piece, at) => [(ends[at] as number) - (begins[at] as number), number(piece, "ios")]));
    if (found !== undefined && found[0] > error) [error, freedom] = found;
  }
  return figureOf(value, { error, freedom, basis: "batches" });
}

/** A mean response time: the ratio of two sums over stretches of the run. */
export function ofSeries(value: number, pieces: readonly Table[]): Figure {
  const found = spread(pieces.map((piece) => [number(piece, "ios"), number(piece, "ios") * number(piece, "mean_latency_ns")]));
  return found === undefined ? figureOf(value) : figureOf(value, { error: found[0], freedom: found[1], basis: "series" });
}

/** The standard error of the ratio of the second sums to the first, as a share, with its degrees of freedom. */
function spread(pieces: readonly (readonly [number, number])[]): [number, number] | undefined {
  if (pieces.length < STRETCHES) return undefined;
  const [fine, coarse] = [variance(pieces, STRETCHES), variance(pieces, STRETCHES / 2)];
  if (fine === undefined || coarse === undefined) return undefined;
  return coarse > fine ? [Math.sqrt(2 * coarse - fine), STRETCHES / 2 - 1] : [Math.sqrt(fine), STRETCHES - 1];
}

function variance(pieces: readonly (readonly [number, number])[], count: number): number | undefined {
  const sums = Array.from({ length: count }, (): [number, number] => [0, 0]);
  pieces.forEach(([below, above], place) => {
    const stretch = sums[Math.floor((place * count) / pieces.length)] as [number, number];
    stretch[0] += below;
    stretch[1] += above;
  });
  const [belowAll, aboveAll] = [sum(sums.map(([below]) => below)), sum(sums.map(([, above]) => above))];
  if (belowAll <= 0 || aboveAll <= 0) return undefined;
  const ratio = aboveAll / belowAll;
  return (sum(sums.map(([below, above]) => (above - ratio * below) ** 2)) * count) / (count - 1) / aboveAll ** 2;
}

/** A rate with its error from fio's samples. */
export function ofSamples(value: number, mean: number, deviation: number, count: number): Figure {
  if (count < SAMPLES_MIN || mean <= 0) return figureOf(value);
  return figureOf(value, { error: deviation / mean / Math.sqrt(count), freedom: count - 1, basis: "samples" });
}

/** The mean of repeated runs. */
export function ofRepeats(values: readonly number[]): Figure {
  const k = values.length;
  const mean = sum(values) / k;
  if (k < 2 || mean === 0) return figureOf(mean);
  const deviation = Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / (k - 1));
  return figureOf(mean, { error: deviation / Math.abs(mean) / Math.sqrt(k), freedom: k - 1, basis: "repeats" });
}

/** The quantiles of counted response times. */
export function quantileOfCounts(counts: Counts): Quantile {
  const ordered = [...counts].sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  let all = 0;
  const sums = ordered.map(([, count]) => (all += count));
  return (share) => {
    if (sums.length === 0 || !(share > 0 && share < 1)) return undefined;
    const at = sums.findIndex((upto) => upto >= share * all);
    return (ordered[at < 0 ? ordered.length - 1 : at] as readonly [number, number])[0];
  };
}

/** Quantiles between printed ones, by linear interpolation over the share. */
export function quantileOfPrint(printed: ReadonlyMap<number, number>): Quantile {
  const known = [...printed].sort((one, other) => one[0] - other[0]);
  return (share) => {
    for (let at = 0; at + 1 < known.length; at++) {
      const [[left, low], [right, high]] = [known[at] as [number, number], known[at + 1] as [number, number]];
      if (left <= share && share <= right) return low + ((high - low) * (share - left)) / (right - left);
    }
    return undefined;
  };
}

/** The number of independent response times that would give the same error of the mean. */
export function independent(count: number, deviation: number, error: number | null, depth: number | undefined, isMixed: boolean): number | undefined {
  if (error === null) return undefined;
  const together = Math.max(depth || 1, 1);
  const most = count / (isMixed ? 2 * together - 1 : Math.min(together, DEEP));
  return error <= 0 ? most : Math.min(most, (deviation / error) ** 2);
}

/** A percentile; its error from the percentiles that are a statistical margin of ranks away. */
export function ofPercentile(value: number, name: string, quantile: Quantile, effective: number | undefined, freedom: number, basis: string): Figure {
  const share = PERCENTILES[name] as number;
  const bare = figureOf(value, { resolution: DIGITS_SHARE });
  if (effective === undefined || value <= 0 || effective * (1 - share) < 2) return bare;
  const margin = NORMAL * Math.sqrt((share * (1 - share)) / effective);
  const [low, high] = [quantile(share - margin), quantile(share + margin)];
  if (low === undefined || high === undefined || low <= 0) return bare;
  return figureOf(value, { error: Math.log(high / low) / (2 * NORMAL), freedom, resolution: DIGITS_SHARE, basis });
}

/** The standard deviation of counted times as a share of their mean. */
export function deviationShare(counts: Counts): number | undefined {
  const n = sum(counts.map(([, count]) => count));
  const total = sum(counts.map(([value, count]) => value * count));
  if (n < 2 || total <= 0) return undefined;
  const mean = total / n;
  return Math.sqrt(sum(counts.map(([value, count]) => count * (value - mean) ** 2)) / n) / mean;
}
