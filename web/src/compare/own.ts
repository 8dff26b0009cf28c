// Records that drivelab writes, of runs (simulated or measured) and of sessions of an emulated device: the rules of
// python/drivelab/records/own.py. Histograms are counted by the core before.
import { type Axes, type DriveRecord, type Figure, PERCENTILES, RecordError, type RecordPoint, type Table, axesOfJobs, axisName, axisValue, figureOf, isTable } from "./model";
import { fixed } from "./numbers";
import { type Counts, deviationShare, independent, ofBatches, ofPercentile, ofRepeats, ofSeries, quantileOfCounts } from "./precision";
import { type Facts, settingsOf } from "./settings";

const SIDES = ["read", "write"] as const;
const KINDS: Record<string, string> = { measure: "measured" };

/** What the core is asked for before a record can be read. */
export function histogramsOf(document: Table): string[] {
  const texts = pointsOf(document).flatMap((point) => SIDES.map((side) => (isTable(point) && isTable(point[side]) ? point[side]["histogram"] : "")));
  return texts.filter((text): text is string => typeof text === "string" && text !== "");
}

function pointsOf(document: Table): unknown[] {
  return Array.isArray(document["points"]) ? document["points"] : [];
}

/** A record of runs. Throws RecordError. */
export function ofRuns(document: Table, origin: string, known: number, counts: ReadonlyMap<string, Counts>, facts: Facts): DriveRecord {
  const version = document["record_version"];
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1) throw new RecordError(`${origin}: record_version is ${JSON.stringify(version)}; it is a whole number from 1 on`);
  if (version > known) throw new RecordError(`${origin}: record_version is ${version}, and this drivelab knows ${known}: take the drivelab that wrote it, or a newer one`);
  if (!Array.isArray(document["points"])) throw new RecordError(`${origin}: points is missing: a record has a list of them, as \`simulate --json\` prints`);
  const notes: string[] = [];
  if (document["interrupted"]) notes.push("the run was interrupted: points are missing");
  for (const [name, word] of [["failures", "without a result"], ["skipped", "skipped"]] as const) {
    const count = Array.isArray(document[name]) ? document[name].length : 0;
    if (count > 0) notes.push(`${count} point${count === 1 ? "" : "s"} ${word}`);
  }
  if (pointsOf(document).some((point) => isTable(point) && isTable(point["repeats"]))) {
    notes.push("IOPS and mean latency are the means of repeated runs; all else is of the run with the median rate, and its intervals tell of that run alone");
  }
  for (const one of Array.isArray(document["warnings"]) ? document["warnings"] : []) if (isTable(one) && typeof one["text"] === "string") notes.push(`warning of the measurement: ${one["text"]}`);
  const ranged = pointsOf(document).filter((point): point is Table => isTable(point) && typeof point["iops_low"] === "number");
  if (ranged.length > 0) {
    notes.push(`seeks, what its queue gains, or how many writes its cache holds were not measured on this drive: the intervals tell of chance alone, and IOPS may lie anywhere in the range of the record (iops_low to iops_high, ${rangesOf(ranged)})`);
  }
  let points = pointsOf(document).map((point, at) => pointOf(point, `${origin}: points[${at}]`, counts));
  const target = document["target"];
  if (typeof target === "string" && !target.includes(",")) points = points.map((point) => ({ ...point, axes: { drive: target, ...point.axes } }));
  const drives = points.map((point) => point.axes["drive"]).filter((drive) => drive !== undefined);
  return {
    origin,
    kind: document["kind"] === undefined || document["kind"] === null ? "simulated" : (KINDS[String(document["kind"])] ?? String(document["kind"])),
    points,
    name: String(document["name"] ?? ""),
    target: typeof target === "string" ? target : [...new Set(drives.map(String))].join(", "),
    notes,
    settings: settingsOf(document, facts),
  };
}

/** The ranges of drives with the firmware of their class, as shares of their IOPS. */
function rangesOf(points: readonly Table[]): string {
  const shares = points.flatMap((point) => ["iops_low", "iops_high"].flatMap((key) => (point["iops"] && typeof point[key] === "number" ? [(point[key] as number) / (point["iops"] as number) - 1] : [])));
  const text = (share: number) => `${share < 0 ? "" : "+"}${fixed(100 * share, 0)} %`;
  return `${text(Math.min(...shares))} to ${text(Math.max(...shares))}`;
}

/** The record of a session: what was served. Throws RecordError. */
export function ofSession(document: Table, origin: string, facts: Facts): DriveRecord {
  const figures: Record<string, Figure> = {};
  const seconds = required(document, "model_ns", origin) / 1e9;
  for (const [kind, name] of [["reads", "read."], ["writes", "write."]] as const) {
    const part = document[kind];
    if (!isTable(part)) throw new RecordError(`${origin}: ${kind} is missing: this is no record of \`emulate --json\``);
    const [commands, bytes] = [required(part, "commands", `${origin}: ${kind}`), required(part, "bytes", `${origin}: ${kind}`)];
    if (seconds > 0) {
      figures[`${name}iops`] = figureOf(commands / seconds);
      figures[`${name}bytes_per_s`] = figureOf(bytes / seconds);
    }
  }
  if (seconds > 0) {
    for (const name of ["iops", "bytes_per_s"]) figures[name] = figureOf((figures[`read.${name}`] as Figure).value + (figures[`write.${name}`] as Figure).value);
  }
  const digest = typeof document["digest"] === "string" ? document["digest"] : null;
  const note = "a session counts what it served from its begin to its end, idle time included, and tells no response times: compare what the client measured, such as fio's JSON";
  return { origin, kind: "emulated", points: [{ axes: {}, figures, digest, direction: "", is_complete: false }], name: String(document["name"] ?? ""), target: "", notes: [note], settings: settingsOf(document, facts) };
}

function pointOf(point: unknown, place: string, counts: ReadonlyMap<string, Counts>): RecordPoint {
  if (!isTable(point)) throw new RecordError(`${place} is no object`);
  const axes = point["axes"] ?? {};
  if (!isTable(axes)) throw new RecordError(`${place}.axes is no object`);
  let found: Axes = Object.fromEntries(Object.entries(axes).map(([path, value]) => [axisName(path), axisValue(axisName(path), value)]));
  const jobs = point["workload"];
  if (isTable(jobs) && Object.keys(jobs).length > 0 && Object.values(jobs).every(isTable)) found = { ...axesOfJobs(jobs as Record<string, Table>), ...found };
  const depth = table(point, "depth", place);
  if (number(depth, "asked", place) !== undefined) found["depth"] = depth["asked"];
  const there = SIDES.filter((name) => table(point, name, place)["ios"]);
  return { axes: found, figures: figuresOf(point, place, counts), digest: typeof point["digest"] === "string" ? point["digest"] : null, direction: there.length === 1 ? (there[0] as string) : "", is_complete: false };
}

function figuresOf(point: Table, place: string, known: ReadonlyMap<string, Counts>): Record<string, Figure> {
  const iops = required(point, "iops", place);
  const series = (point["series"] ?? []) as Table[];
  if (!Array.isArray(series) || !series.every(isTable)) throw new RecordError(`${place}.series is no list of objects`);
  const rate = ofBatches(iops, number(point, "iops_relative_error", place), series, number(point, "window_ns", place));
  const figures: Record<string, Figure> = { iops: rate };
  const bytes = number(point, "bytes_per_s", place);
  const isSame = oneSize(point);
  if (bytes !== undefined) figures["bytes_per_s"] = isSame ? { ...rate, value: bytes } : figureOf(bytes);
  const sides = SIDES.map((name) => table(point, name, place));
  const counts = sides.map((side) => known.get(String(side["histogram"] ?? "")) ?? []);
  const isMixed = sides.every((side) => side["ios"]);
  const crowd = { depth: number(table(point, "depth", place), "achieved", `${place}.depth`), isMixed: isMixed || !isSame };
  latencies(figures, "", point, counts.flat(), place, crowd, series);
  if (isMixed) {
    SIDES.forEach((name, at) => {
      const side = sides[at] as Table;
      figures[`${name}.iops`] = figureOf(required(side, "iops", `${place}.${name}`));
      figures[`${name}.bytes_per_s`] = figureOf(required(side, "bytes_per_s", `${place}.${name}`));
      latencies(figures, `${name}.`, side, counts[at] as Counts, `${place}.${name}`, crowd, undefined);
    });
  }
  return withRepeats(figures, point, place);
}

/** Mean and percentiles. Only all I/Os together have a series: without one the figures have no intervals. */
function latencies(figures: Record<string, Figure>, before: string, part: Table, counts: Counts, place: string, crowd: { depth: number | undefined; isMixed: boolean }, series: Table[] | undefined): void {
  const latency = table(part, "latency_ns", place);
  const mean = number(latency, "mean", `${place}.latency_ns`);
  if (mean === undefined) return;
  const figure = ofSeries(mean, series ?? []);
  figures[`${before}mean`] = figure;
  const deviation = series === undefined ? undefined : deviationShare(counts);
  const n = counts.reduce((all, [, count]) => all + count, 0);
  const effective = deviation === undefined ? undefined : independent(n, deviation, figure.error, crowd.depth, crowd.isMixed);
  const quantile = quantileOfCounts(counts);
  for (const name of Object.keys(PERCENTILES)) {
    const value = number(latency, name, `${place}.latency_ns`);
    if (value !== undefined) figures[before + name] = ofPercentile(value, name, quantile, effective, figure.freedom, "histogram");
  }
  const most = number(latency, "max", `${place}.latency_ns`);
  if (most !== undefined) figures[`${before}max`] = figureOf(most);
}

/** Figures with the means of repeated runs, if the point has them: all others are of one of the runs. */
function withRepeats(figures: Record<string, Figure>, point: Table, place: string): Record<string, Figure> {
  const repeats = table(point, "repeats", place);
  for (const [key, name] of [["iops", "iops"], ["mean_latency_ns", "mean"]] as const) {
    const values = table(repeats, key, `${place}.repeats`)["values"];
    if (!Array.isArray(values) || values.length < 2) continue;
    const numbers = values.map((value) => required({ value }, "value", `${place}.repeats.${key}.values`));
    const rate = figures["bytes_per_s"];
    if (name === "iops" && rate !== undefined && figures["iops"]?.value) {
      const share = rate.value / figures["iops"].value;
      figures["bytes_per_s"] = ofRepeats(numbers.map((value) => value * share));
    }
    figures[name] = ofRepeats(numbers);
  }
  return figures;
}

/** Whether all I/Os seem to have the same size: their mean size is a whole number of sectors. */
function oneSize(point: Table): boolean {
  const sizes = new Set<number>();
  for (const name of SIDES) {
    const side = point[name];
    if (isTable(side) && side["ios"]) sizes.add(((side["bytes"] as number | undefined) ?? 0) / (side["ios"] as number));
  }
  const [size] = sizes;
  return sizes.size === 1 && (size as number) % 512 === 0;
}

function table(of: Table, key: string, place: string): Table {
  const found = of[key];
  if (found === undefined || found === null) return {};
  if (!isTable(found)) throw new RecordError(`${place}.${key} is no object`);
  return found;
}

function number(of: Table, key: string, place: string): number | undefined {
  const found = of[key];
  if (found === undefined || found === null) return undefined;
  if (typeof found !== "number" || !Number.isFinite(found) || found < 0) throw new RecordError(`${place}.${key} is ${JSON.stringify(found).slice(0, 40)}; it is a number from 0 on, or null`);
  return found;
}

function required(of: Table, key: string, place: string): number {
  const found = number(of, key, place);
  if (found === undefined) throw new RecordError(`${place}.${key} is missing`);
  return found;
}
