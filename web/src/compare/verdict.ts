// The result of a comparison in words: the rules of python/drivelab/comparison/verdict.py.
import { CONFIDENCE, type Beside, type Compared, figuresOf } from "./beside";
import { type Difference, type Shown, isBetter, isUncertain, judged, varying } from "./difference";
import { axisText } from "./model";
import { general, percent, student } from "./numbers";

const TITLES: Record<string, string> = { iops: "IOPS", bytes_per_s: "MB/s", mean: "mean latency", max: "max latency", p99_9: "p99.9", p99_99: "p99.99" };
const NAMED_MAX = 2;

export interface Verdict {
  lines: string[];
  holds: boolean;
  counts: { within: number; beyond: number; open: number; not_matched: number };
}

export function title(figure: string): string {
  for (const [before, words] of [["read.", "reads: "], ["write.", "writes: "]] as const) {
    if (figure.startsWith(before)) return words + title(figure.slice(before.length));
  }
  return TITLES[figure] ?? figure;
}

/** The verdict on all records compared with the first; `threshold` is a share. */
export function verdictOf(compared: Compared, threshold: number | undefined): Verdict {
  const counts = { within: 0, beyond: 0, open: 0, not_matched: 0 };
  const lines: string[] = [];
  for (const beside of compared.besides) {
    for (const name of figuresOf(beside)) lines.push(line(beside, name, beside.differences.filter((one) => one.figure === name)));
    counts.not_matched += beside.lonely.length;
    if (threshold !== undefined) for (const one of beside.differences) counts[judged(one, threshold)]++;
  }
  if (threshold === undefined) return { lines, holds: true, counts };
  lines.push(thresholdLine(compared, threshold, counts));
  return { lines, holds: counts.beyond === 0, counts };
}

/** One figure at all places. */
function line(beside: Beside, name: string, differences: readonly Difference[]): string {
  const [who, of] = [beside.other, beside.first];
  const before = `${title(name)}: `;
  if (differences.every((one) => one.shown === "identical")) return `${before}no difference: ${who} is the same as ${of}`;
  const group = (shown: Shown) => differences.filter((one) => one.shown === shown);
  if (group("none").length + group("identical").length === differences.length) {
    const widest = Math.max(...differences.map((one) => Math.max(Math.abs(one.low ?? 0), Math.abs(one.high ?? 0))));
    const at = differences.length > 1 ? ` at any of ${differences.length} points` : "";
    return `${before}no difference shown${at}; up to ${percent(widest).replace(/^\++/, "")} is not excluded`;
  }
  const parts: string[] = [];
  for (const [shown, word] of [["more", "above"], ["less", "below"]] as const) {
    const found = group(shown);
    if (found.length === 0) continue;
    const is = isBetter(found[0] as Difference);
    const better = is === null ? "" : is ? " (better)" : " (worse)";
    parts.push(`${who} ${word} ${of}${better}${places(found, differences)} by ${range(found)}`);
  }
  const unknown = group("unknown");
  if (unknown.length > 0) parts.push(`${who} against ${of}${places(unknown, differences)} ${range(unknown)}, without interval`);
  if (group("none").length > 0) parts.push(`no difference shown${places(group("none"), differences)}`);
  if (group("identical").length > 0) parts.push(`the same${places(group("identical"), differences)}`);
  const mean = differences.length > 1 ? geometric(differences) : "";
  return before + [...parts, ...(mean ? [mean] : [])].join("; ");
}

/** The places, by name if they are few. */
function places(found: readonly Difference[], differences: readonly Difference[]): string {
  if (differences.length === 1) return "";
  const axes = varying(differences);
  if (found.length > NAMED_MAX || found.length === differences.length || axes.length === 0) return ` at ${found.length} of ${differences.length} points`;
  return ` at ${found.map((one) => axes.filter((name) => name in one.place).map((name) => `${name} ${axisText(one.place[name])}`).join(" ")).join(" and ")}`;
}

/** Shares from the smallest to the largest; for a single one its interval as well. */
function range(found: readonly Difference[]): string {
  const shares = found.map((one) => one.share).filter((share): share is number => share !== null);
  if (shares.length === 0) return "from zero";
  const [one] = found as [Difference];
  if (found.length === 1 && one.low !== null && one.high !== null) return `${percent(shares[0] as number)} (${percent(one.low)} to ${percent(one.high)})`;
  return [...new Set([percent(Math.min(...shares)), percent(Math.max(...shares))])].join(" to ");
}

/** The geometric mean of the ratios, with an interval if each of them has an error. */
function geometric(differences: readonly Difference[]): string {
  const shares = differences.map((one) => one.share).filter((share): share is number => share !== null && share > -1);
  if (shares.length < differences.length) return "";
  const mean = shares.reduce((sum, share) => sum + Math.log1p(share), 0) / shares.length;
  const text = `geometric mean ${percent(Math.expm1(mean))}`;
  if (!differences.every(isUncertain)) return text;
  // Points of one record share random numbers, so their errors are treated as fully correlated.
  const half = differences.reduce((sum, one) => sum + (one.error ?? 0) * student(one.freedom, CONFIDENCE), 0) / differences.length;
  return `${text} (${percent(Math.expm1(mean - half))} to ${percent(Math.expm1(mean + half))})`;
}

/** How many figures are beyond the threshold, and the worst of them. */
function thresholdLine(compared: Compared, threshold: number, counts: Verdict["counts"]): string {
  const total = counts.within + counts.beyond + counts.open;
  let text = `threshold ${general(100 * threshold)} %: ${counts.within} of ${total.toLocaleString("en-US")} figure${total === 1 ? "" : "s"} within it`;
  const all = compared.besides.flatMap((beside) => beside.differences.map((one) => ({ beside, one })));
  if (counts.open > 0) text += `, ${counts.open} open (the interval reaches beyond${all.some(({ one }) => one.is_open) ? ", or is unknown" : ""})`;
  const far = all.filter(({ one }) => judged(one, threshold) === "beyond");
  const size = (one: Difference) => (one.share === null ? Number.POSITIVE_INFINITY : Math.abs(one.share));
  const [farthest] = [...far].sort((left, right) => size(right.one) - size(left.one));
  if (farthest === undefined) return text;
  const share = farthest.one.share === null ? "from zero" : percent(farthest.one.share);
  return `${text}, ${counts.beyond} beyond; the farthest is ${title(farthest.one.figure)} of ${farthest.beside.other}, ${share}`;
}
