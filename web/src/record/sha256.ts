// SHA-256 of ASCII text (FIPS 180-4): browsers have it only for pages of secure origins, and a page of a plain host in
// one's own network is none.

const PRIMES = 64;
const CONSTANTS = roots(PRIMES, 1 / 3);
const START = roots(8, 1 / 2);

/** The first 32 bits of the fractional parts of roots of the first primes. */
function roots(count: number, power: number): Uint32Array {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate++) {
    let isPrime = true;
    for (let factor = 2; factor * factor <= candidate; factor++) if (candidate % factor === 0) isPrime = false;
    if (isPrime) found.push(fraction(candidate, power));
  }
  return Uint32Array.from(found);
}

/** 32 bits after the point, exact: the root of a whole number times a power of two, by bisection. */
function fraction(of: number, power: number): number {
  const cubic = power < 0.4;
  const shifted = BigInt(of) << BigInt(cubic ? 96 : 64);
  let low = 0n;
  let high = 1n << 40n;
  while (low < high) {
    const middle = (low + high + 1n) >> 1n;
    if ((cubic ? middle * middle * middle : middle * middle) <= shifted) low = middle;
    else high = middle - 1n;
  }
  return Number(low & 0xffffffffn);
}

const turned = (word: number, by: number) => (word >>> by) | (word << (32 - by));

/** The digest in hexadecimal. */
export function sha256(text: string): string {
  const state = Uint32Array.from(START);
  const blocks = (text.length + 9 + 63) >> 6;
  const bytes = new Uint8Array(blocks * 64);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  bytes[text.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setUint32(bytes.length - 4, text.length * 8);
  const words = new Uint32Array(64);
  for (let block = 0; block < bytes.length; block += 64) {
    for (let at = 0; at < 64; at++) {
      words[at] = at < 16 ? view.getUint32(block + at * 4) : next(words, at);
    }
    compress(state, words);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

function next(words: Uint32Array, at: number): number {
  const early = words[at - 15] as number;
  const late = words[at - 2] as number;
  const small = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
  const large = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
  return (words[at - 16] as number) + small + (words[at - 7] as number) + large;
}

function compress(state: Uint32Array, words: Uint32Array): void {
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let at = 0; at < 64; at++) {
    const choice = (e & f) ^ (~e & g);
    const first =
      (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + choice + (CONSTANTS[at] as number) + (words[at] as number)) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + majority) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, at) => {
    state[at] = (state[at] as number) + word;
  });
}
