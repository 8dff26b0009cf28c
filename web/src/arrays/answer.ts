// The answer in lines, in the words of `drivelab plan` (python/drivelab/arrays/plan/answer.py, turns.py and ranges.py), but for
// the options that it names: a page has fields.
import { type Asked, type Candidate, chanceText, grouped, holds, knowsFailures, latencyName, lossPercent, lossSpan, milliseconds, money, nameOf, terabytes } from "./candidate";
import { assumedText } from "./drive";
import type { Figures } from "./figures";
import { general } from "../compare/numbers";
import { type Binding, bindingsOf, nearOf, OPTIONS, order, before } from "./judge";
import { arrivalsText, mayWrite } from "./load";
import { SPAN } from "./load-turns";
import { times } from "./odds";
import { type Assumption, FAR, isTold, leftOut, type Turn } from "./sensitivity";
import { STATE_WORDS } from "./states";

const NUMBERS: Record<number, string> = { 1: "one drive", 2: "two drives", 3: "three drives" };
const NOTHING = "none that was tried";
const CHANGES_MAX = 4;
const NS_PER_HOUR = 3600e9;
/** Python's default life of an array. */
const LIFE = "5 years";
const VOLATILE = "writes end in volatile caches";

const counted = (count: number, noun: string) => `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
/** A share in percent with a digit behind the point. */
const share = (value: number) => `${(100 * value).toFixed(1)}%`;

/** The latencies that are told: the one with a limit, otherwise mean and p99. */
export const latencyNames = ({ limits }: Asked): string[] => (limits.latency === undefined ? ["mean", "p99"] : [limits.latency.name]);

function latencies(figures: Figures, names: readonly string[]): string {
  const one = (name: string) => {
    const value = figures.latency_ns[name as "p99"];
    const span = figures.latency_interval_ns[name];
    const ends = span ? ` (${general(span[0] / 1e6, 3)} to ${general(span[1] / 1e6, 3)})` : "";
    return `${latencyName(name)} ${value === null ? "unknown" : milliseconds(value)}${ends}`;
  };
  return names.map(one).join(", ");
}

/** IOPS with half their interval, and their range where its drives were not measured. */
export function iopsText(figures: Figures): string {
  const error = figures.iops_relative_error ? ` ± ${share(figures.iops_relative_error)}` : "";
  const range = figures.iops_low === undefined ? "" : ` (range ${grouped(figures.iops_low, 4)} to ${grouped(figures.iops_high ?? 0, 4)})`;
  return `${grouped(figures.iops, 4)} IOPS${error}${range}`;
}

/** The rebuild in words; empty where there is none, or it is not known yet. */
export function rebuildText({ rebuild }: Candidate): string {
  if (!rebuild) return "";
  if (rebuild.duration_ns === null) return `more than ${grouped((rebuild.at_least_ns ?? 0) / NS_PER_HOUR, 3)} h`;
  return `${grouped(rebuild.duration_ns / NS_PER_HOUR, 3)} h${rebuild.relative_error === null ? ", error unknown" : ` ± ${share(rebuild.relative_error)}`}`;
}

/** The pick in a few lines: what it is and why, what it gives, costs and survives. */
export function pickLines(pick: Candidate, candidates: readonly Candidate[], asked: Asked, isEarly: boolean): string[] {
  const holding = candidates.filter(holds).length;
  const among = holding > 1 ? `the cheapest of ${holding} that hold` : "the only one that holds";
  const early = isEarly && mayWrite(asked.load) ? `; ${VOLATILE}` : "";
  return [
    `pick: ${nameOf(pick)}, ${terabytes(pick.capacity_bytes)} usable: ${among}, of ${counted(candidates.length, "candidate")}${early}`,
    `gives: ${gives(pick, asked)}`,
    `costs: ${costs(pick, asked)}`,
    `survives: ${survives(pick, asked)}`,
  ];
}

function gives(one: Candidate, asked: Asked): string {
  const names = latencyNames(asked);
  const parts = one.states.healthy ? [`${latencies(one.states.healthy, names)}, ${iopsText(one.states.healthy)}`] : [];
  for (const state of ["degraded", "rebuilding"] as const) {
    const figures = one.states[state];
    if (figures) parts.push(`${STATE_WORDS[state]} ${latencies(figures, names)}${asked.load.rate ? "" : `, ${grouped(figures.iops, 4)} IOPS`}`);
  }
  return parts.join("; ");
}

function costs(one: Candidate, { currency, spares }: Asked): string {
  const drives = counted(one.made.members + spares, "drive");
  const each = one.cost / (one.capacity_bytes / 1e12);
  return `${money(one.cost, currency)} (${drives} ${money(one.cost, currency)}), ${money(each, currency)} for a usable TB; exact`;
}

function survives(one: Candidate, asked: Asked): string {
  const bears = one.bears.worst;
  const parts = [bears === 0 ? "the failure of no drive" : `the failure of any ${NUMBERS[bears] ?? bears}`];
  const rebuild = rebuildText(one);
  if (rebuild) parts.push(`rebuilt in ${rebuild} beside this load`);
  if (one.losses === undefined || !knowsFailures(asked)) return [...parts, "chance of loss unknown: nothing says how often a drive fails"].join("; ");
  const [low, high] = lossSpan(one.losses);
  const span = low === high ? "exact" : `${general(low, 3)} to ${general(high, 3)} %`;
  const least = one.is_bound ? "at least " : "";
  return [...parts, `data lost within a year with a chance of ${least}${chanceText(one.losses.loss_in_a_year)} % (${span}), ${least}${chanceText(one.losses.loss_in_life)} % in ${LIFE}`].join("; ");
}

/** What is assumed that nobody said and that moves the figures most. */
export function assumesLine(asked: Asked): string | undefined {
  const parts = [arrivalsText(asked.load), asked.is_ure_assumed && knowsFailures(asked) ? assumedText(asked.drive.assumed) : undefined];
  const given = parts.filter((one) => one !== undefined);
  return given.length > 0 ? `assumes: ${given.join("; ")}` : undefined;
}

/** Why nothing holds: a line for each limit that alone rules out all, or one for those that do together. */
export function nothingLines(candidates: readonly Candidate[], asked: Asked): string[] {
  const found = bindingsOf(candidates, asked);
  const first = `nothing holds, of ${counted(candidates.length, "candidate")}`;
  if (found.length === 0) return [first];
  const missed = (nearest: Candidate, limit: Binding["limit"]) => nearest.failings.filter((one) => one.limit === limit).map(({ text }) => text).join("; ");
  // During a load that it cannot sustain nothing is rebuilt.
  const isUnknown = ({ limit, nearest }: Binding) => limit === "load" && asked.limits.loss_percent !== undefined && (nearest.losses === undefined || nearest.is_bound);
  const unknown = (one: Binding) => (isUnknown(one) ? ", as far as is known without its chance of loss" : "");
  if (found[0]?.is_alone) return [first, ...found.map((one) => `${OPTIONS[one.limit]} binds: without it ${nameOf(one.nearest)} holds${unknown(one)}; ${missed(one.nearest, one.limit)}`)];
  const options = found.map(({ limit }) => OPTIONS[limit]);
  const names = options.length > 1 ? `${options.slice(0, -1).join(", ")} and ${options[options.length - 1]} bind together` : `${options[0]} binds`;
  const nearest = (found[0] as Binding).nearest;
  return [first, `${names}: nearest is ${nameOf(nearest)}; ${nearest.failings.map(({ text }) => text).join("; ")}`];
}

/** What would change the pick: assumptions of its chance of loss, and more capacity. */
export function changesLine(pick: Candidate, candidates: readonly Candidate[], assumptions: readonly Assumption[], asked: Asked): string {
  const far = (factor: number) => Math.max(factor, 1 / factor);
  const turns = assumptions.flatMap((one) => one.turns.map((turn) => ({ factor: turn.factor, text: turnText(one, turn) }))).sort((a, b) => far(a.factor) - far(b.factor));
  const parts = turns.slice(0, CHANGES_MAX).map(({ text }) => text);
  if (parts.length === 0) parts.push(nothingTurns(assumptions, asked));
  const larger = candidates.filter((one) => holds(one) && one !== pick && one.capacity_bytes > pick.capacity_bytes).sort(before)[0];
  parts.push(`capacity above ${terabytes(pick.capacity_bytes)}: ${larger ? nameOf(larger) : "no candidate"}`);
  return `would change the pick: ${parts.join("; ")}`;
}

/** What was varied without another pick. */
function nothingTurns(assumptions: readonly Assumption[], { limits }: Asked): string {
  const varied = assumptions.filter(({ key }) => key !== "load").map(({ name }) => name);
  const names = varied.length > 1 ? `neither ${varied.join(" nor ")}` : `no ${varied[0]}`;
  const parts = varied.length > 0 && limits.loss_percent !== undefined ? [`${names} within ${FAR} times`] : [];
  if (assumptions.some(({ key }) => key === "load")) parts.push(`no load from ${SPAN[0]} to ${SPAN[1]} times`);
  return parts.join(", ") || "no price of a drive";
}

function turnText(one: Assumption, turn: Turn): string {
  return one.key === "load" ? turnPart(one, turn) : `${one.name} ${turnPart(one, turn)}`;
}

/** The same without the assumption's name. */
export function turnPart(one: Assumption, turn: Turn): string {
  const why = turn.why === undefined ? "" : ` (${turn.why})`;
  if (one.key === "load") return `${general(turn.factor)} times the load${why}: ${turn.then ?? NOTHING}`;
  return `${turn.factor > 1 ? "above" : "below"} ${times(one.value, turn.factor, 2)}${why}: ${turn.then ?? NOTHING}`;
}

/** Remarks on the pick: what lies within intervals and ranges, and what its chance of loss rests on. */
export function notesOf(pick: Candidate | undefined, candidates: readonly Candidate[], assumptions: readonly Assumption[], asked: Asked): string[] {
  const near = pick ? nearOf(pick, asked) : [];
  const told = near.length > 0 ? [`the limit lies within the interval of the pick's ${near.join(", ")}: another seed may turn the pick`] : [];
  told.push(...rangeRemarks(pick, candidates, asked));
  if (pick) told.push(...equals(pick, candidates));
  const left = leftOut(asked);
  if (knowsFailures(asked) && left.length > 0) told.push(`assumed for the chance of loss: ${left.map(([name, value]) => `${name} ${value}`).join(", ")}`);
  if (assumptions[0] && isTold(assumptions[0])) told.push(`the chance of loss depends most on: ${assumptions[0].name}`);
  const range = rangeNote(pick);
  if (range) told.push(range);
  const unresolved = assumptions.filter((one) => one.high !== undefined && !isTold(one)).map(({ name }) => name);
  if (unresolved.length > 0) told.push(`~: half and twice of ${unresolved.join(", ")} change the chance by less than its interval shows`);
  if (knowsFailures(asked) && asked.failures["afr"]?.includes("(")) told.push("the interval of the annual failure rate is left out here: drivelab plan takes it");
  return told;
}

/** How far the rates of drives that nobody measured may lie from the prediction. */
function rangeNote(pick: Candidate | undefined): string | undefined {
  const { iops, iops_low: low, iops_high: high } = pick?.states.healthy ?? { iops: 0 };
  if (low === undefined || high === undefined || iops === 0) return undefined;
  const signed = (value: number) => `${value < 0 ? "" : "+"}${(100 * value).toFixed(0)}%`;
  return `IOPS range: ${signed(low / iops - 1)} to ${signed(high / iops - 1)} at most, for seeks, what the queue gains, or how many writes a cache holds were not measured on these drives; the intervals tell of chance alone`;
}

/** Whether the pick turns within the ranges of drives that nobody measured. */
function rangeRemarks(pick: Candidate | undefined, candidates: readonly Candidate[], asked: Asked): string[] {
  const told: string[] = [];
  const missed = pick ? missedAt(pick, asked, "iops_low") : [];
  if (missed.length > 0) told.push(`the pick's ${missed.join(" and ")} would miss the limit at the slow end of the IOPS range of its drives, which were not measured: measure one before you buy`);
  const isRanged = (one: Candidate) => asked.limits.states.some((state) => one.states[state]?.iops_high !== undefined);
  const close = candidates.filter(
    (one) =>
      one.failings.length > 0 &&
      one.failings.every(({ limit }) => limit === "iops" || limit === "latency") &&
      (pick === undefined || one.cost < pick.cost) &&
      missedAt(one, asked, "iops_high").length === 0 &&
      isRanged(one),
  );
  if (close.length > 0) told.push(`${pick ? "cost less than the pick, and " : ""}would hold at the fast end of the IOPS range of their drives, which were not measured: ${close.map(nameOf).join(", ")}`);
  return told;
}

/** The limits that a candidate misses at one end of its range. With a fixed number outstanding each waits in proportion. */
function missedAt(one: Candidate, { limits }: Asked, end: "iops_low" | "iops_high"): string[] {
  const missed = new Set<string>();
  let isRanged = false;
  for (const state of limits.states) {
    const figures = one.states[state];
    if (figures === undefined) continue;
    isRanged ||= figures[end] !== undefined;
    const rate = figures[end] ?? figures.iops;
    if (limits.iops !== undefined && rate < limits.iops) missed.add("IOPS");
    const value = limits.latency && figures.latency_ns[limits.latency.name as "p99"];
    if (limits.latency && value && rate && (value * figures.iops) / rate > limits.latency.most_ns) missed.add(latencyName(limits.latency.name));
  }
  return isRanged ? [...missed] : [];
}

/** Why others that hold at the pick's price are not the pick, and whether that is within the intervals. */
function equals(pick: Candidate, candidates: readonly Candidate[]): string[] {
  const names = new Map<string, string[]>();
  for (const other of candidates) {
    if (!holds(other) || other === pick || order(other)[0] !== order(pick)[0]) continue;
    const why = whyBefore(pick, other);
    names.set(why, [...(names.get(why) ?? []), nameOf(other)]);
  }
  return [...names].map(([why, list]) => `${list.join(", ")} cost${list.length === 1 ? "s" : ""} the same: the pick ${why}`);
}

function whyBefore(one: Candidate, other: Candidate): string {
  const [[, loss, mean], [, otherLoss, otherMean]] = [order(one), order(other)];
  if (one.losses && other.losses && loss !== otherLoss) return `loses data less often${lossSpan(one.losses)[1] < lossSpan(other.losses)[0] ? "" : ", by less than the intervals show"}`;
  return `${mean < otherMean ? "answers faster" : "was tried first"}${one.losses ? " and loses data as often" : ""}`;
}

/** By what the losses come, in percent of the chance; undefined where it is not known. */
export function causesOf({ losses }: Candidate): { sectors: number; drives: number } | undefined {
  if (losses === undefined) return undefined;
  const sectors = losses.share_by_sectors ?? 0;
  return { sectors: sectors * lossPercent(losses), drives: (1 - sectors) * lossPercent(losses) };
}

