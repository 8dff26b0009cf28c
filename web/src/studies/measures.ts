// The figure of a cell from the points of its run: one of the record, or one of a measurement of `drivelab scan`, whose rules
// are in python/drivelab/scanning (surface.py, access.py, burst.py, fits.py).
import type { Command, Point } from "../core/answers";
import type { Cell, Measure } from "./model";

const SECTOR_BYTES = 512;

/** What the record has and the page reads nowhere else. */
interface Run extends Omit<Point, "read" | "write"> {
  read: { bytes: number };
  write: { bytes: number };
  iops_relative_error: number | null;
  commands?: (Command & { served?: string })[];
}

export interface Figure {
  predicted: number;
  /** Half the width of the 95 % confidence interval, as a share; null if the run is too short to estimate it. */
  error: number | null;
}

/** The figure of a cell, in its unit. */
export function figureOf(cell: Cell, points: readonly Point[]): Figure {
  const runs = points as unknown as Run[];
  const value = cell.measure === null ? recorded(cell.metric, runs[0]) : figures(cell.measure, runs)[cell.metric];
  if (value === undefined || !Number.isFinite(value)) throw new Error(`${cell.id}: the runs have no figure ${cell.metric}`);
  return { predicted: value / cell.divisor, error: runs.length === 1 ? (runs[0]?.iops_relative_error ?? null) : null };
}

function recorded(metric: string, run: Run | undefined): number | undefined {
  let value: unknown = run;
  for (const key of metric.split(".")) value = (value as Record<string, unknown> | null | undefined)?.[key];
  return typeof value === "number" ? value : undefined;
}

function figures(measure: Measure, runs: readonly Run[]): Record<string, number | undefined> {
  const first = runs[0] as Run;
  if (measure === "access") return { mean_ns: first.latency_ns.mean ?? undefined };
  if (measure === "burst") return { bytes_per_s: burst(first) };
  const places = runs.map((run) => ({ share: Number.parseFloat(String(run.axes["workload.offset"])) / 100, rate: rateOf(run), cylinder: cylinderOf(run) }));
  places.sort((one, other) => one.share - other.share);
  const rates = places.map(({ rate }) => rate);
  const cylinders = places.flatMap(({ cylinder }) => (cylinder === null ? [] : [cylinder]));
  return {
    min_bytes_per_s: Math.min(...rates),
    mean_bytes_per_s: mean(rates),
    max_bytes_per_s: Math.max(...rates),
    r2_square_over_share: explained(places.map(({ share }) => share), rates.map((rate) => rate ** 2)),
    r2_over_cylinder: cylinders.length < places.length ? undefined : explained(cylinders, rates),
  };
}

/** The bytes over the sum of the response times: one request is outstanding. */
function rateOf(run: Run): number {
  const { n, mean: time } = run.latency_ns;
  if (run.depth.asked !== 1) return run.bytes_per_s;
  return time === null || time === 0 ? Number.NaN : ((run.read.bytes + run.write.bytes) / (n * time)) * 1e9;
}

/** The rate of the reads that the buffer served; of all if it served none. */
function burst(run: Run): number {
  const served = (run.commands ?? []).filter((command) => command.served === "buffered" && command.completed_ns !== null);
  const time = served.reduce((sum, command) => sum + command.completed_ns - command.submitted_ns, 0);
  if (time === 0) return rateOf(run);
  return ((SECTOR_BYTES * served.reduce((sum, command) => sum + command.sectors, 0)) / time) * 1e9;
}

function cylinderOf(run: Run): number | null {
  for (const command of run.commands ?? []) {
    const found = command.first_cylinder ?? command.to_cylinder ?? command.from_cylinder;
    if (found !== null) return found;
  }
  return null;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The share of the variance of y that a straight line over x explains; undefined if x or y does not vary. */
function explained(xs: readonly number[], ys: readonly number[]): number | undefined {
  if (new Set(xs).size < 2 || new Set(ys).size < 2) return undefined;
  const [x, y] = [mean(xs), mean(ys)];
  const sum = (of: (at: number) => number) => xs.reduce((all, _, at) => all + of(at), 0);
  const dx = (at: number) => (xs[at] as number) - x;
  const dy = (at: number) => (ys[at] as number) - y;
  return sum((at) => dx(at) * dy(at)) ** 2 / (sum((at) => dx(at) ** 2) * sum((at) => dy(at) ** 2));
}
