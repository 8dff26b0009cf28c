// What the core answers, as `crates/web` writes it, and the parts of a record that the page reads; those that tell of an array are in
// `arrays.ts`.
import type { ArrayReport, LevelEntry, PowerCut, StripeMap } from "./arrays";
import type { Losses, Tolerance, Wrong } from "./losses";

export type { SampledPart, Sync } from "./arrays";

export interface About {
  version: string;
  model_version: number;
  record_version: number;
  generator: string;
}

export interface Problem {
  origin: string;
  line: number;
  column: number;
  text: string;
  message: string;
  remedy: string | null;
}

export interface Scenario {
  text: string;
  origin?: string;
  files?: Record<string, string>;
  log?: number;
}

/** A checked scenario; `seed` and `skipped` are JSON text, which goes into the record as it is. */
export interface Plan {
  run?: number;
  name: string;
  seed: string;
  scenario_hash: string;
  axes: Record<string, unknown>[];
  skipped: string;
  fio: string[];
  scenario: string;
  files: Record<string, string>;
  traces: Record<string, string>;
  notes: string[];
}

/** The outcome of a point: its entry in the record, or among the record's failures, as text. */
export interface Step {
  at: number;
  is_last: boolean;
  entry?: string;
  failure?: string;
}

export interface DriveEntry {
  name: string;
  facts: Record<string, string | number>;
}

export interface Latency {
  n: number;
  mean: number | null;
  min: number | null;
  max: number | null;
  p50: number | null;
  p90: number | null;
  p95: number | null;
  p99: number | null;
  p99_9: number | null;
  p99_99: number | null;
}

export interface Bound {
  depth: number;
  low: number;
  high: number;
}

export interface Firmware {
  class: string;
  drives: number;
  of_class: number;
  access_drives: number;
  range: Bound[];
}

export interface InForce {
  two_actuators?: boolean;
  protocol?: string;
  depth?: number;
  firmware?: Firmware[];
  cached_writes?: { segments: number; low: number; high: number }[];
  array?: { level: string; members: number; spares?: number; capacity_bytes: number; member_bytes: number; record_bytes?: number; bears: number };
}

/** One command of the log: stamps in ns from the start of the run, null where it did not come so far. */
export interface Command {
  id: number;
  access: string;
  first_sector: number;
  sectors: number;
  submitted_ns: number;
  accepted_ns: number;
  chosen_ns: number | null;
  begun_ns: number | null;
  ended_ns: number | null;
  completed_ns: number;
  from_cylinder: number | null;
  first_cylinder: number | null;
  to_cylinder: number | null;
  breakdown_ns: { seek: number; rotation: number } | null;
}

export interface Point {
  axes: Record<string, unknown>;
  in_force: InForce | null;
  iops: number;
  bytes_per_s: number;
  read: { iops: number; histogram: string };
  write: { iops: number; histogram: string };
  depth: { asked: number | null; achieved: number; in_drives: number | null };
  latency_ns: Latency;
  breakdown_ns: Record<string, number> | null;
  digest: string;
  window_ns: number;
  logged_from_ns?: number;
  platter?: { rotation_ns: number; cylinders: number } | null;
  commands?: Command[];
  jobs?: Record<string, unknown>;
  iops_relative_error?: number | null;
  series?: { ios: number; mean_latency_ns: number | null }[];
  array?: ArrayReport;
  power_cut?: PowerCut | null;
  iops_low?: number;
  iops_high?: number;
}

/** An answer has one of these keys. */
export interface Answer {
  ok?: unknown;
  checked?: Plan;
  point?: Step;
  drives?: DriveEntry[];
  facts?: { key: string; value: unknown }[];
  levels?: LevelEntry[];
  stripes?: StripeMap;
  histograms?: [number, number][][];
  losses?: Losses[];
  wrong?: Wrong[];
  tolerance?: Tolerance;
  problems?: { list: Problem[]; text: string };
  error?: string;
}
