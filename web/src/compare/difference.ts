// The relative difference of a figure between two records, with its interval if both have an error: the rules of
// python/drivelab/comparison/difference.py.
import { type Axes, type Figure, axisText, last } from "./model";
import { student } from "./numbers";

export type Shown = "identical" | "more" | "less" | "none" | "unknown";
export type Judged = "within" | "beyond" | "open";

const RATES = ["iops", "bytes_per_s"];
const NEITHER = ["figure", "request_bytes", "in_flight", "busy"];
const LOG_MAX = 50;

export interface Difference {
  place: Axes;
  figure: string;
  first: number;
  other: number;
  /** Of the first record's figure; null if that is zero and the other is not. */
  share: number | null;
  low: number | null;
  high: number | null;
  error: number | null;
  freedom: number;
  shown: Shown;
  is_open: boolean;
}

export const isUncertain = (one: Difference): boolean => one.low !== null && Boolean(one.error);

/** Whether the other is better, if they differ; null for a figure without a better direction. */
export function isBetter(one: Difference): boolean | null {
  if (one.share === null || one.share === 0) return null;
  const name = last(one.figure);
  return NEITHER.includes(name) ? null : one.share > 0 === RATES.includes(name);
}

/** The judgement against a threshold; without an interval, from the figures alone. */
export function judged(one: Difference, threshold: number): Judged {
  if (one.share === null) return "beyond";
  if (one.is_open && one.low === null) return "open";
  const [low, high] = [one.low ?? one.share, one.high ?? one.share];
  if (low > threshold || high < -threshold) return "beyond";
  return -threshold <= low && high <= threshold ? "within" : "open";
}

/** Two figures of the same name at a place. `identical` says that both come from the same run. */
export function difference(place: Axes, figure: string, first: Figure, other: Figure, confidence: number, identical: boolean): Difference {
  const made = (share: number | null, ends: readonly [number, number] | null, error: number | null, shown: Shown): Difference => ({
    place, figure, first: first.value, other: other.value, share, low: ends?.[0] ?? null, high: ends?.[1] ?? null, error, freedom: jointFreedom([first, other]), shown, is_open: first.is_open || other.is_open,
  });
  if (identical && first.value === other.value) return made(0, [0, 0], 0, "identical");
  if (first.value === 0 || other.value === 0) return made(first.value === other.value ? 0 : first.value ? -1 : null, null, null, "unknown");
  const log = Math.log(other.value / first.value);
  if (first.error === null || other.error === null) return made(Math.expm1(log), null, null, "unknown");
  const half = margin(first, other, confidence);
  const ends = [Math.expm1(Math.max(log - half, -LOG_MAX)), Math.expm1(Math.min(log + half, LOG_MAX))] as const;
  return made(Math.expm1(log), ends, Math.hypot(first.error, other.error), ends[0] > 0 ? "more" : ends[1] < 0 ? "less" : "none");
}

/** Half the width of the interval of the log ratio. */
function margin(first: Figure, other: Figure, confidence: number): number {
  const variance = (first.error ?? 0) ** 2 + (other.error ?? 0) ** 2;
  const rounding = -Math.log1p(-Math.min(first.resolution, 0.99)) - Math.log1p(-Math.min(other.resolution, 0.99));
  return variance === 0 ? rounding : student(jointFreedom([first, other]), confidence) * Math.sqrt(variance) + rounding;
}

/** Degrees of freedom of a sum, after Welch and Satterthwaite; an error with infinite freedom adds nothing. */
function jointFreedom(parts: readonly { error: number | null; freedom: number }[]): number {
  const known = parts.filter((part) => part.error);
  const below = known.reduce((sum, part) => sum + (part.error as number) ** 4 / part.freedom, 0);
  return below > 0 ? known.reduce((sum, part) => sum + (part.error as number) ** 2, 0) ** 2 / below : Number.POSITIVE_INFINITY;
}

/** The confidence of each of `count` intervals that hold jointly with at least `confidence` (Bonferroni). */
export const eachOf = (count: number, confidence: number): number => 1 - (1 - confidence) / Math.max(count, 1);

/** Axes in which the places differ; the depth is omitted if iodepth is among them. */
export function varying(differences: readonly Difference[]): string[] {
  const names = [...new Set(differences.flatMap((one) => Object.keys(one.place)))];
  const found = names.filter((name) => new Set(differences.map((one) => axisText(one.place[name]))).size > 1);
  return found.filter((name) => name !== "depth" || !found.includes("iodepth"));
}
