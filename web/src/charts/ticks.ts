// Ticks whose labels all have room: the rules of python/drivelab/charts/ticks.py, which a test holds equal.

const CHAR = 6.2;
const LINE = 13;
const GAP = 6;
const FEW = 3;

/** The domain of a logarithmic axis of this length that contains `values` (all above 0), and its ticks. */
export function logAxis(values: readonly number[], length: number): { domain: [number, number]; ticks: number[] } {
  let low = Math.min(...values) / 1.25;
  let high = Math.max(...values) * 1.25;
  if (high / low < 4) {
    const middle = Math.sqrt(low * high);
    [low, high] = [middle / 2, middle * 2];
  }
  const digits = Math.log10(high / low) <= 0.9 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : [1, 2, 5];
  const every: number[] = [];
  for (let exponent = Math.floor(Math.log10(low)); exponent <= Math.ceil(Math.log10(high)); exponent++) {
    for (const digit of digits) every.push(Number(`${digit}e${exponent}`));
  }
  const inside = every.filter((tick) => low <= tick && tick <= high);
  const ticks = fitting(inside, [low, high], length, false);
  const last = ticks[ticks.length - 1];
  // A label at the very edge would extend beyond its panel, and push the title up.
  if (last !== undefined) high = Math.max(high, last * (high / low) ** 0.04);
  return { domain: [low, high], ticks };
}

/** The most ticks whose labels have room on a logarithmic axis of this domain and length. */
export function fitting(ticks: readonly number[], domain: readonly [number, number], length: number, across: boolean): number[] {
  const span = Math.log(domain[1]) - Math.log(domain[0]);
  if (span <= 0) return [...ticks];
  const hasRoom = (chosen: readonly number[]) =>
    chosen.every((right, at) => {
      const left = chosen[at - 1];
      if (left === undefined) return true;
      const gap = ((Math.log(right) - Math.log(left)) / span) * length;
      return gap >= (across ? (width(left) + width(right)) / 2 + GAP : LINE);
    });
  for (const chosen of thinner([...ticks])) if (hasRoom(chosen)) return [...chosen];
  return ticks.slice(0, 1);
}

function width(value: number): number {
  const text = value.toLocaleString("en-US", { minimumFractionDigits: 10, maximumFractionDigits: 10 });
  return CHAR * text.replace(/0+$/, "").replace(/\.$/, "").length;
}

/** Fewer and fewer of the ticks: the round ones of a decade stay longest, of equal steps every second, third, .. */
function* thinner(all: number[]): Generator<number[]> {
  let ticks = all;
  yield ticks;
  if (!hasEqualSteps(ticks)) {
    for (const digits of [[1, 2, 5], [1, 3], [1, 5], [1]]) {
      const chosen = ticks.filter((tick) => digits.includes(digit(tick)));
      const isLast = digits.length === 1;
      if (chosen.length > 1 || (chosen.length > 0 && isLast)) {
        yield chosen;
        if (isLast) ticks = chosen;
      }
    }
  }
  for (let step = 2; step < ticks.length; step++) yield ticks.filter((_, at) => at % step === 0);
  if (ticks.length > 0) yield ticks.slice(0, 1);
}

/** The leading digits of a number: 2 of 0.02, 1.5 of 1500. */
function digit(value: number): number {
  if (value <= 0) return 0;
  return Math.round((value / 10 ** Math.floor(Math.log10(value) + 1e-9)) * 1e6) / 1e6;
}

function hasEqualSteps(ticks: readonly number[]): boolean {
  if (ticks.length < FEW || Math.min(...ticks) <= 0) return ticks.length < FEW;
  const pairs = ticks.slice(1).map((right, at) => [ticks[at] as number, right] as const);
  const ratios = pairs.map(([left, right]) => right / left);
  const steps = pairs.map(([left, right]) => right - left);
  return Math.max(...ratios) < 1.01 * Math.min(...ratios) || Math.max(...steps) < 1.01 * Math.min(...steps);
}
