// Response times of several points as those of one: their histograms together.

type Counts = readonly (readonly [number, number])[];

export interface Times {
  n: number;
  mean: number | null;
  max: number | null;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  p99_9: number | null;
}

/** Of histograms that count values in ns. A percentile needs ten commands beyond it, as in the record. */
export function pooled(histograms: readonly Counts[]): Times {
  const counts = histograms.flat().sort(([one], [other]) => one - other);
  const n = counts.reduce((sum, [, often]) => sum + often, 0);
  const percentile = (share: number): number | null => {
    if (n * (1 - share) < 10) return null;
    let rank = 0;
    for (const [value, often] of counts) {
      rank += often;
      if (rank >= share * n) return value;
    }
    return null;
  };
  return {
    n,
    mean: n > 0 ? counts.reduce((sum, [value, often]) => sum + value * often, 0) / n : null,
    max: counts[counts.length - 1]?.[0] ?? null,
    p50: percentile(0.5),
    p95: percentile(0.95),
    p99: percentile(0.99),
    p99_9: percentile(0.999),
  };
}
