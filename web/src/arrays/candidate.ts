// An array that could be bought: what is known of it so far, and the limits that it misses, as python/drivelab/arrays/plan
// has them.
import type { Losses } from "../core/losses";
import { general } from "../compare/numbers";
import type { Drive } from "./drive";
import type { Figures } from "./figures";
import type { Load } from "./load";
import type { Extrapolated } from "./rebuild";
import type { Made, State } from "./states";

export interface Failing {
  limit: "level" | "capacity" | "load" | "states" | "latency" | "iops" | "loss";
  text: string;
}

export interface Candidate {
  made: Made;
  /** Why these members cannot make the level; then nothing else is known. */
  reason: string | undefined;
  /** How many members may fail, whichever they are, and in the best case. */
  bears: { worst: number; best: number };
  capacity_bytes: number;
  /** Of a RAID-Z pool. */
  record_bytes: number | undefined;
  cost: number;
  states: Partial<Record<State, Figures>>;
  /** Undefined until it is simulated; null where there is none, or it is unknown. */
  rebuild: Extrapolated | null | undefined;
  /** With the simulated rebuild, or the least that it can be. */
  losses: Losses | undefined;
  /** Whether the losses are a bound: those of the fastest rebuild that there could be. */
  is_bound: boolean;
  /** Why runs of it have no result. */
  troubles: string[];
  failings: Failing[];
  /** Whether its chance of loss is over the limit however fast it is rebuilt. */
  is_hopeless: boolean;
  /** Whether everything that was asked is known of it. */
  is_judged: boolean;
}

/** What is asked of an array; undefined where there is no limit. */
export interface Limits {
  capacity_bytes: number;
  /** A latency by its name in the record, and the most that it may be, in ns. */
  latency: { name: string; most_ns: number } | undefined;
  iops: number | undefined;
  /** The chance of loss in a year, in percent. */
  loss_percent: number | undefined;
  /** The states in which the limits of latency and IOPS hold. */
  states: readonly State[];
}

/** The question: one kind of drive, levels and numbers of drives, a load, what fails, and the limits. */
export interface Asked {
  drive: Drive;
  load: Load;
  /** Keys of `drivelab durability` on failures and repairs, as typed; without a life of drives there is no chance of loss. */
  failures: Readonly<Record<string, string>>;
  /** Whether the rate of unreadable sectors is that of the drive's class. */
  is_ure_assumed: boolean;
  limits: Limits;
  spares: number;
  price: number;
  currency: string;
  seed: number;
  /** Whether an assumption is varied: then an array that misses a limit of its load is not rebuilt, and chances are told with
   *  two digits. */
  is_varied?: boolean;
}

export const knowsFailures = ({ failures }: Asked): boolean => "afr" in failures || "mttf" in failures;
/** Whether a member can be missing, and rebuilt. */
export const isRedundant = ({ bears }: Candidate): boolean => bears.worst > 0;
export const holds = (one: Candidate): boolean => one.is_judged && one.reason === undefined && one.failings.length === 0;
export const arrayName = ({ made }: Candidate): string => `${made.level} of ${made.members}`;
export const nameOf = (one: Candidate): string => `${arrayName(one)} x ${one.made.drive}`;

/** Names of latencies have a point where the record has an underscore. */
export const latencyName = (name: string): string => name.replace("_", ".");

/** So many digits, and all of those before the point. */
export function grouped(value: number, digits: number): string {
  const text = general(value, digits);
  if (text.includes("e")) return value >= 1 && value < 1e15 ? Math.round(value).toLocaleString("en-US") : text;
  const [whole, rest] = text.split(".") as [string, string | undefined];
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest === undefined ? "" : `.${rest}`);
}

export const terabytes = (bytes: number): string => (bytes >= 1e12 ? `${grouped(bytes / 1e12, 4)} TB` : `${grouped(bytes / 1e9, 4)} GB`);

export function milliseconds(ns: number): string {
  const ms = ns / 1e6;
  return ms >= 1000 ? `${Math.round(ms).toLocaleString("en-US")} ms` : `${general(ms, 3)} ms`;
}

export function money(amount: number, currency: string): string {
  return `${amount.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })} ${currency}`.replace(".00 ", " ");
}

/** A chance in percent, with as many digits as tell one that is nearly 100 from 100. */
export function chanceFigure(percent: number): string {
  if (percent < 99.95) return general(percent, 3);
  return percent < 99.9999 ? general(Math.floor(percent * 1e4) / 1e4, 6) : `>${general(99.9999)}`;
}

/** An estimate of a chance in percent, or its upper bound where no loss was seen. */
export const chanceText = ({ value, high }: { value: number | null; high: number }): string => (value === null ? `<${chanceFigure(100 * high)}` : chanceFigure(100 * value));

/** The chance of loss in a year in percent, or its upper bound. */
export const lossPercent = ({ loss_in_a_year: year }: Losses): number => 100 * (year.value ?? year.high);

/** Its interval in percent, with that of the rebuild. */
export function lossSpan(losses: Losses): readonly [number, number] {
  const parts = [losses.loss_in_a_year, ...(losses.loss_in_a_year_over_rebuilds ? [losses.loss_in_a_year_over_rebuilds] : [])];
  return [100 * Math.min(...parts.map(({ low }) => low)), 100 * Math.max(...parts.map(({ high }) => high))];
}
