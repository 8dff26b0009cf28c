// What the claims of all experiments need: numbers as Python formats them, the first of several extremes, and the model of first order.
import { fixed } from "../../compare/numbers";

/** A share as `:.1%`, with so many digits. */
export const share = (value: number, digits = 0): string => `${fixed(100 * value, digits)}%`;

/** A share with its sign, as `:+.1%`. */
export const change = (value: number, digits = 1): string => `${value < 0 || Object.is(value, -0) ? "" : "+"}${share(value, digits)}`;

/** A share in tenths of a percent with its sign; one that rounds to zero has none. */
export function changeText(value: number): string {
  const text = change(value);
  return text === "-0.0%" || text === "+0.0%" ? "0.0%" : text;
}

export const span = (values: readonly number[], digits = 1): string => `${change(Math.min(...values), digits)} to ${change(Math.max(...values), digits)}`;
export const rounded = (value: number, digits: number): number => Number(fixed(value, digits));
export const isWithin = (values: readonly number[], least: number, most: number): boolean => values.every((value) => least <= value && value <= most);
export const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** The first of those with the largest value. */
export function mostOf<Kind>(list: readonly Kind[], value: (one: Kind) => number): Kind {
  return list.reduce((best, one) => (value(one) > value(best) ? one : best));
}

/** The first of those with the smallest value. */
export function leastOf<Kind>(list: readonly Kind[], value: (one: Kind) => number): Kind {
  return list.reduce((best, one) => (value(one) < value(best) ? one : best));
}

/**
 * Time = latency + size / rate, fitted with the least squares of the relative residuals: for each size by how much it took
 * longer than the model says. Throws if larger requests take no longer.
 */
export function firstOrder(sizes: readonly number[], times: readonly number[]): number[] {
  const a = times.map((time) => 1 / time);
  const b = times.map((time, at) => (sizes[at] as number) / time);
  const dot = (one: readonly number[], other: readonly number[]) => sum(one.map((value, at) => value * (other[at] as number)));
  const [aa, ab, bb] = [dot(a, a), dot(a, b), dot(b, b)];
  const determinant = aa * bb - ab * ab;
  const latency = (sum(a) * bb - sum(b) * ab) / determinant;
  const inverse = (sum(b) * aa - sum(a) * ab) / determinant;
  if (inverse <= 0) throw new Error("larger requests take no longer than small ones: there is no rate to fit");
  return times.map((time, at) => time / (latency + inverse * (sizes[at] as number)) - 1);
}
