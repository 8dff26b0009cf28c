// Figures as people read them.

/** At least three digits, no more than the figure has. */
export function figure(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toPrecision(3);
}

export const ms = (ns: number | null | undefined): string => figure(ns === null || ns === undefined ? null : ns / 1e6);
