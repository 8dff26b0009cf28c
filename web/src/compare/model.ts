// A record in the form in which records are compared: points at their places, figures with their errors. The rules here
// and in the files beside this one are those of python/drivelab/records and python/drivelab/comparison; a test compares
// what both say of the same files.
import { general } from "./numbers";

export const PERCENTILES: Record<string, number> = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, p99_9: 0.999, p99_99: 0.9999 };
export const FIGURES = ["iops", "bytes_per_s", "mean", ...Object.keys(PERCENTILES), "max"] as const;
export const DIRECTIONS = ["read", "write", "trim"] as const;
export const OPTIONAL_AXES = [
  "bsrange", "bssplit", "ba", "bs_unaligned", "bs_is_seq_rand", "rate_iops", "rate", "rate_process", "thinktime", "thinktime_blocks", "thinktime_blocks_type", "thinktime_iotime",
  "thinktime_spin", "percentage_random", "random_distribution", "rw_sequencer", "fsync", "fdatasync", "sync", "sync_file_range", "write_barrier", "end_fsync", "fsync_on_close",
  "iodepth_batch", "iodepth_batch_complete_min", "iodepth_batch_complete_max", "iodepth_low", "serialize_overlap", "overwrite", "atomic", "verify", "zonemode", "zonesize", "zonerange",
  "zoneskip", "trim_percentage", "read_iolog", "latency_target",
];
const WORKLOAD_AXES = ["rw", "bs", "iodepth", "numjobs", "hosts", "depth", "rwmixread", "pattern", ...OPTIONAL_AXES];

/** What is wrong with a file, and what to do. */
export class RecordError extends Error {}

export type Axes = Record<string, unknown>;
export type Table = Record<string, unknown>;

export interface Figure {
  value: number;
  /** The standard error as a share of the value; null if the record cannot tell. */
  error: number | null;
  freedom: number;
  /** The possible effect of rounding, as a share. */
  resolution: number;
  basis: string;
  is_open: boolean;
}

export const figureOf = (value: number, more: Partial<Figure> = {}): Figure => ({ value, error: null, freedom: Number.POSITIVE_INFINITY, resolution: 0, basis: "", is_open: false, ...more });

export interface RecordPoint {
  axes: Axes;
  figures: Record<string, Figure>;
  digest: string | null;
  /** `read`, `write` or `trim` if all I/Os are of one kind. */
  direction: string;
  is_complete: boolean;
}

/** A figure; if there are only reads, those of reads are those of all. */
export function figureAt(point: RecordPoint, name: string): Figure | undefined {
  if (name in point.figures || !point.direction) return point.figures[name];
  const before = `${point.direction}.`;
  return point.figures[name.startsWith(before) ? name.slice(before.length) : before + name];
}

export interface DriveRecord {
  origin: string;
  kind: string;
  points: RecordPoint[];
  name: string;
  target: string;
  notes: string[];
  /** The keys of its scenario with their values as texts: what is stated, and what follows from the drive. */
  settings: Map<string, string[]>;
}

export const last = (name: string): string => name.slice(name.lastIndexOf(".") + 1);
export const isWorkload = (axis: string): boolean => WORKLOAD_AXES.includes(last(axis));
export const isTable = (value: unknown): value is Table => typeof value === "object" && value !== null && !Array.isArray(value);

/** A value on an axis as text. */
export function axisText(value: unknown): string {
  if (isTable(value) && typeof value["name"] === "string") return value["name"];
  if (typeof value === "object" && value !== null) return tomlText(value);
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : general(value);
  return value === null || value === undefined ? "None" : String(value);
}

/** A value as TOML has it. */
export function tomlText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlText).join(", ")}]`;
  if (isTable(value)) {
    const inside = Object.entries(value).map(([key, one]) => `${/^[\w-]+$/.test(key) ? key : JSON.stringify(key)} = ${tomlText(one)}`);
    return inside.length > 0 ? `{ ${inside.join(", ")} }` : "{}";
  }
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

const PREFIXES = ["workload.", "target.", "run."];
const ALIASES: Record<string, string> = { readwrite: "rw", blocksize: "bs", threads: "numjobs", "job.numjobs": "numjobs", randseed: "seed", protocol: "queue.protocol" };
const KINDS: Record<string, string> = { readwrite: "rw" };
const COUNTS = new Set(["iodepth", "numjobs", "rwmixread", "rate_iops", "percentage_random", "fsync", "fdatasync", "direct", "hosts", "seed", "depth"]);
const OPTIONS: Record<string, string> = { rw: "read", bs: "4k", iodepth: "1", numjobs: "1" };
const MORE = ["bssplit", "rate_iops", "percentage_random", "random_distribution", "fsync"];
const UNITS: Record<string, number> = { "": 1, b: 1, k: 1024, kib: 1024, m: 1024 ** 2, mib: 1024 ** 2, g: 1024 ** 3, gib: 1024 ** 3, t: 1024 ** 4, tib: 1024 ** 4, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 };

/** An amount of data in bytes; undefined for anything else. */
export function sizeOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  const found = typeof value === "string" ? /^\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*$/.exec(value) : null;
  const factor = found ? UNITS[(found[2] as string).toLowerCase()] : undefined;
  return found && factor ? Number(found[1]) * factor : undefined;
}

/** The common name of an axis. */
export function axisName(path: string): string {
  let name = path;
  for (const prefix of PREFIXES) if (name.startsWith(prefix)) name = name.slice(prefix.length);
  if (name.split(".").length > 2 && name.startsWith("job.")) name = name.slice("job.".length);
  return ALIASES[name] ?? name;
}

/** The common form of a value on an axis. */
export function axisValue(name: string, value: unknown): unknown {
  const own = last(name);
  if (own === "bs") {
    const size = sizeOf(value);
    return size === undefined ? value : Math.trunc(size);
  }
  if (own === "rw" && typeof value === "string") return KINDS[value.toLowerCase()] ?? value.toLowerCase();
  if (COUNTS.has(own) && typeof value === "string" && /^\d+$/.test(value.trim())) return Number(value);
  if (isTable(value) && typeof value["name"] === "string") return value["name"];
  return value;
}

/** The axes of one job from those of its options that are stated. */
export function axesOfJob(options: Record<string, string>): Axes {
  const leftOut = "bssplit" in options ? "bs" : "";
  return Object.fromEntries(Object.entries(options).filter(([name]) => name !== leftOut).map(([name, text]) => [name, axisValue(name, text)]));
}

/** The axes of a workload, from all options of its jobs in fio's names. */
export function axesOfJobs(jobs: Record<string, Table>): Axes {
  const found: Axes = {};
  for (const [job, given] of Object.entries(jobs)) {
    const options = Object.fromEntries(Object.entries(given).map(([name, value]) => [ALIASES[name] ?? name, String(value)]));
    const own: Record<string, string> = Object.fromEntries(Object.entries(OPTIONS).map(([name, otherwise]) => [name, options[name] ?? otherwise]));
    own["rw"] = (own["rw"] as string).split(":")[0] as string;
    for (const name of MORE) if (options[name] !== undefined && options[name] !== "0") own[name] = options[name];
    if (["rw", "randrw"].includes(String(axisValue("rw", own["rw"])))) own["rwmixread"] = options["rwmixread"] ?? "50";
    // With a rate the depth is only an upper limit, and here there is none.
    if ("rate_iops" in own) delete own["iodepth"];
    const before = Object.keys(jobs).length > 1 ? `${job}.` : "";
    for (const [name, value] of Object.entries(axesOfJob(own))) found[before + name] = value;
  }
  return found;
}
