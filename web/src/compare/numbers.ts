// Numbers as the package prints them, and the distributions that intervals need.

/** A value with so many digits, as Python's `g` format writes it. */
export function general(value: number, digits = 6): string {
  if (value === 0) return "0";
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e") as [string, string];
  const power = Number(exponent);
  const bare = (text: string) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (power >= -4 && power < digits) return bare(value.toFixed(Math.max(0, digits - 1 - power)));
  const sign = power < 0 ? "-" : "+";
  return `${bare(mantissa)}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** Digits behind the point that `toFixed` can write: enough to tell a number from one that is halfway between two. */
const DIGITS_MAX = 100;

/** So many digits behind the point; of two that are equally near the even one, as Python rounds. */
export function fixed(value: number, digits: number): string {
  const text = Math.abs(value).toFixed(DIGITS_MAX);
  const cut = text.indexOf(".") + 1 + digits;
  // What `toFixed` would round up: exactly halfway, above an even digit. 12.345 is not: the double is a little more.
  const isTie = cut > digits && /^50*$/.test(text.slice(cut)) && /[02468]\.?$/.test(text.slice(0, cut));
  if (!isTie) return value.toFixed(digits);
  return `${value < 0 ? "-" : ""}${text.slice(0, cut).replace(/\.$/, "")}`;
}

/** From here on a ratio is easier to read than a share. */
const TIMES = 9;
const NEAR_ALL = -0.9;

/** A signed share for people. */
export function percent(share: number): string {
  if (share >= TIMES) return share < 1e6 ? `x${general(1 + share, 3)}` : `x${(1 + share).toExponential(1).replace(/e\+(\d)$/, "e+0$1")}`;
  if (share > -1 && share < NEAR_ALL) return `${fixed(100 * share, Math.max(1 - Math.floor(Math.log10(100 * (1 + share))), 1))} %`;
  const text = fixed(100 * share, Math.abs(share) >= 0.995 ? 0 : 1);
  const signed = `${share >= 0 && !text.startsWith("-") ? "+" : ""}${text} %`;
  return signed === "-0.0 %" || signed === "+0.0 %" ? "0.0 %" : signed;
}

/** log(gamma(x)) for x > 0, after Lanczos (g = 607/128, 15 terms). */
function logGamma(x: number): number {
  const terms = [
    0.99999999999999709182, 57.156235665862923517, -59.597960355475491248, 14.136097974741747174, -0.49191381609762019978, 0.33994649984811888699e-4, 0.46523628927048575665e-4,
    -0.98374475304879564677e-4, 0.15808870322491248884e-3, -0.21026444172410488319e-3, 0.2174396181152126432e-3, -0.16431810653676389022e-3, 0.84418223983852743293e-4,
    -0.2619083840158140867e-4, 0.36899182659531622704e-5,
  ];
  const at = x + 607 / 128 - 0.5;
  const sum = terms.reduce((all, term, index) => all + (index === 0 ? term : term / (x - 1 + index)), 0);
  return (x - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI) + Math.log(sum);
}

/** The regularised incomplete beta function, by its continued fraction (Lentz). */
function incompleteBeta(a: number, b: number, x: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, 1 - x);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  const tiny = 1e-300;
  let [c, d, f] = [1, 0, 1];
  for (let step = 0; step <= 1000; step++) {
    const m = Math.floor(step / 2);
    const factor = step === 0 ? 1 : step % 2 === 0 ? (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)) : (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + factor * d;
    d = 1 / (Math.abs(d) < tiny ? tiny : d);
    c = 1 + factor / c;
    c = Math.abs(c) < tiny ? tiny : c;
    f *= c * d;
    if (Math.abs(1 - c * d) < 1e-15) break;
  }
  return front * (f - 1);
}

/** The share of Student's t beyond a value on both sides; of the normal distribution for infinite freedom. */
function beyond(value: number, freedom: number): number {
  if (freedom === Number.POSITIVE_INFINITY) return complementaryError(value / Math.SQRT2);
  return incompleteBeta(freedom / 2, 0.5, freedom / (freedom + value * value));
}

/** erfc for x >= 0: its series below 2, its continued fraction above. */
function complementaryError(x: number): number {
  if (x < 2) {
    let [term, sum] = [x, x];
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum) && n < 200; n++) {
      term *= (-x * x) / n;
      sum += term / (2 * n + 1);
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * sum;
  }
  let tail = 0;
  for (let n = 120; n > 0; n--) tail = n / 2 / (x + tail);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + tail);
}

const known = new Map<string, number>();

/** Half the width of an interval of this confidence, in standard errors. */
export function student(freedom: number, confidence: number): number {
  const key = `${freedom} ${confidence}`;
  const found = known.get(key) ?? halfWidth(freedom, confidence);
  known.set(key, found);
  return found;
}

function halfWidth(freedom: number, confidence: number): number {
  const share = 1 - confidence;
  let [low, high] = [0, 2];
  while (beyond(high, freedom) > share && high < 1e300) high *= 2;
  for (let step = 0; step < 200 && high - low > 1e-15 * high; step++) {
    const middle = (low + high) / 2;
    if (beyond(middle, freedom) > share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
