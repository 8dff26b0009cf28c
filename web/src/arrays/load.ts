// The load under which levels are compared: the rules of python/drivelab/arrays/simulation/loads.py, for loads in fio's words.
import type { Figures } from "./figures";
import { general } from "../compare/numbers";
import { quoted } from "../scenario/lines";

/** fio's words for what is accessed, and what they mean. */
export const KINDS: Record<string, string> = {
  randrw: "random reads and writes",
  randread: "random reads",
  randwrite: "random writes",
  read: "sequential reads",
  write: "sequential writes",
  rw: "sequential reads and writes",
};
/** How the requests of a rate may come, by fio's names. */
export const ARRIVALS: Record<string, string> = { poisson: "Poisson", linear: "evenly spaced" };
/** The requests that count in each state, and what runs before them. */
export const REQUESTS = 4000;
export const WARM_UP = "10s";
/** An array that achieves a smaller share of the requested rate, beyond statistical error, does not keep up. */
const KEEPS_UP_SHARE = 0.95;

export interface Load {
  rw: string;
  bs: string;
  /** The share of reads in percent, where there are both. */
  reads: number;
  /** Whether writes end only on the media. */
  sync: boolean;
  /** Requests per second; undefined where a number of requests is outstanding. */
  rate: number | undefined;
  process: string;
  depth: number;
}

export const isMixed = ({ rw }: Load): boolean => rw === "rw" || rw === "randrw";
export const isRandom = ({ rw }: Load): boolean => rw.startsWith("rand");
export const mayWrite = (load: Load): boolean => !load.sync && load.rw !== "read" && load.rw !== "randread";

/** As `:g` and `.6g` of Python print it. */
const rateText = (load: Load) => general(load.rate ?? 0);

/** Its lines of `[workload]`. */
export function workloadLines(load: Load): string[] {
  return [
    `rw = ${quoted(load.rw)}`,
    `bs = ${quoted(load.bs)}`,
    ...(isMixed(load) ? [`rwmixread = ${load.reads}`] : []),
    ...(load.sync ? ["sync = true"] : []),
    ...(load.rate === undefined ? [`iodepth = ${load.depth}`] : [`rate_iops = ${quoted(rateText(load))}`, `rate_process = ${quoted(load.process)}`]),
  ];
}

/** Its options on a command line. */
export function loadOptions(load: Load): [string, string][] {
  const rate: [string, string][] = [["rate-iops", rateText(load)], ...(load.process === "poisson" ? [] : [["rate-process", load.process] as [string, string]])];
  return [
    ["rw", load.rw],
    ["bs", load.bs],
    ...(isMixed(load) ? [["rwmixread", String(load.reads)] as [string, string]] : []),
    ...(load.rate === undefined ? [["iodepth", String(load.depth)] as [string, string]] : rate),
    ...(load.sync ? [["sync", ""] as [string, string]] : []),
  ];
}

/** The load in words. */
export function loadText(load: Load): string {
  const mix = isMixed(load) ? ` (${load.reads} % reads)` : "";
  const what = `${KINDS[load.rw] ?? load.rw} of ${load.bs}${mix}${load.sync ? ", writes with FUA" : ""}`;
  return load.rate === undefined ? `${what}, ${load.depth} outstanding` : `${what}, ${rateText(load)} ${ARRIVALS[load.process]} arrivals a second`;
}

/** What is assumed of the arrivals; undefined where there is no rate. */
export const arrivalsText = (load: Load): string | undefined => (load.rate === undefined ? undefined : `${ARRIVALS[load.process]} arrivals`);

/** Whether an array with these figures kept up with the requested rate; undefined where there is none. */
export function isKeptUp(load: Load, figures: Figures): boolean | undefined {
  if (load.rate === undefined) return undefined;
  // Arrivals may be random: three standard deviations of a count.
  const chance = 3 / Math.sqrt(Math.max(figures.latency_ns.n, 1));
  return figures.iops >= (1 - Math.max(1 - KEEPS_UP_SHARE, chance)) * load.rate;
}

/** The load with its rate, or its requests outstanding, multiplied; undefined where that changes nothing. */
export function scaled(load: Load, factor: number): Load | undefined {
  if (load.rate !== undefined) return { ...load, rate: Number(general(load.rate * factor)) };
  // Of two numbers that are equally near the even one, as Python rounds.
  const times = load.depth * factor;
  const near = Math.round(times) - times === 0.5 && Math.round(times) % 2 === 1 ? Math.floor(times) : Math.round(times);
  const depth = Math.max(near, 1);
  return depth === load.depth ? undefined : { ...load, depth };
}
