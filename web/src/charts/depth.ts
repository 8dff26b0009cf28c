// The chart of a sweep over queue depth. Its grammar is python/drivelab/charts/curves.py: `grammar.json` is what that
// draws of a sweep, without its figures (tools/page_charts.py writes it), and here the figures are put in. A test holds
// the result equal to what Python draws of the same record.
import type { Point } from "../core/answers";
import { rangeNote } from "../record/ranges";
import grammar from "./grammar.json";
import { fitting, logAxis } from "./ticks";

type Row = Record<string, string | number | null>;
export type Spec = Record<string, unknown>;
interface Channel {
  field?: string;
  scale?: { domain?: unknown };
  axis?: { values?: unknown };
}

const LATENCIES = ["mean", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max"] as const;
const STATISTICS = ["mean", "p99", "max"];
/** The width of a panel in the picture that a file has. */
export const WIDTH = 680;
const HEIGHT_RATE = 270;
const HEIGHT_LATENCY = 240;
const LOG_RATIO = 40;
const NOTE_CHARS = 125;

/** The axis of a sweep that the chart can draw: the depth alone; undefined where more, or something else, was swept. */
export function depthAxis(points: readonly Point[]): string | undefined {
  const swept = new Set<string>();
  for (const point of points) {
    for (const key of Object.keys(point.axes)) {
      if (points.some((other) => JSON.stringify(other.axes[key]) !== JSON.stringify(point.axes[key]))) swept.add(key);
    }
  }
  const [axis] = swept;
  return swept.size === 1 && axis?.endsWith("iodepth") ? axis : undefined;
}

/** The specification for a sweep over depth. `points` have their ranges; there are at least two. */
export function depthSpec(points: readonly Point[], axis: string, title: string, width = WIDTH): Spec {
  const rows = points.map((point, at): Row => row(point, at, point.axes[axis] as number));
  const isRanged = rows.some((one) => one["iops_low"] !== null);
  const spec = structuredClone(isRanged ? grammar.ranged : grammar.plain) as Spec;
  const tail = rows.flatMap((one) =>
    STATISTICS.filter((name) => one[name] !== null && (one[name] as number) > 0).map((name) => ({ ...one, statistic: name, ms: one[name] ?? null })),
  );
  const closed = rows.map((one) => ({ ...one, iops_low: one["iops_low"] ?? one["iops"] ?? null, iops_high: one["iops_high"] ?? one["iops"] ?? null }));
  spec["datasets"] = { range: closed, rates: rows, latencies: tail };
  if (!isRanged) delete (spec["datasets"] as Spec)["range"];
  spec["title"] = heading(title, [
    ...(isRanged ? [`Shaded band: ${rangeNote(points) ?? "the range of the rate; the queue of this drive was not measured"}`] : []),
  ], (NOTE_CHARS * width) / WIDTH);
  for (const panel of spec["vconcat"] as Spec[]) panel["width"] = width;
  const present = STATISTICS.filter((name) => tail.some((one) => one.statistic === name));
  const axes = { x: depths(rows, width), iops: rates(rows), ms: latencies(tail) };
  visit(spec, (channel, name, container) => {
    const of = name === "x" ? axes.x : name === "y" && channel.scale !== undefined ? axes[channel.field as "iops" | "ms"] : undefined;
    if (of !== undefined) {
      channel.scale = { ...channel.scale, ...of.scale };
      channel.axis = of.axis ?? { ...channel.axis, ...of.values };
    }
    if (name === "strokeDash") {
      const scale = channel.scale as { domain: string[]; range: unknown[] };
      scale.range = present.map((one) => scale.range[scale.domain.indexOf(one)]);
      scale.domain = present;
    }
    if (name === "tooltip") {
      container[name] = (channel as unknown as { field: string }[]).filter(({ field }) => field === "x" || tooltipHas(field, rows));
    }
  });
  return spec;
}

/** Whether a figure is in the tooltip: a range, and a statistic, only where some point has it. */
function tooltipHas(field: string, rows: readonly Row[]): boolean {
  return rows.some((one) => one[field] !== null && one[field] !== undefined);
}

function row(point: Point, at: number, x: number): Row {
  const latency = point.latency_ns;
  const mbPerS = point.bytes_per_s / 1e6;
  const ends = (end: number | undefined) => [end ?? null, end && point.iops && mbPerS ? (mbPerS * end) / point.iops : null] as const;
  const [[low, mbLow], [high, mbHigh]] = [ends(point.iops_low), ends(point.iops_high)];
  const found: Row = { at, x, series: "", iops: point.iops, mb_per_s: mbPerS };
  Object.assign(found, { iops_low: low, mb_per_s_low: mbLow, iops_high: high, mb_per_s_high: mbHigh });
  Object.assign(found, { achieved: point.depth.achieved, n: latency.n });
  for (const name of LATENCIES) found[name] = latency[name] === null ? null : latency[name] / 1e6;
  return found;
}

interface Filled {
  scale: object;
  axis?: object;
  values?: object;
}

function depths(rows: readonly Row[], width: number): Filled {
  const values = [...new Set(rows.map((one) => one["x"] as number))].sort((one, other) => one - other);
  const [low, high] = [values[0] as number, values[values.length - 1] as number];
  const margin = low === high ? 2 : (high / low) ** 0.04;
  const domain: [number, number] = [low / margin, high * margin];
  let ticks = values;
  if (fitting(values, domain, width, true).length < values.length) {
    const octaves: number[] = [];
    for (let octave = Math.ceil(Math.log2(low)); octave <= Math.floor(Math.log2(high)); octave++) octaves.push(2 ** octave);
    ticks = fitting(octaves.length > 2 ? octaves : values, domain, width, true);
  }
  return { scale: { domain }, values: { values: ticks } };
}

function rates(rows: readonly Row[]): Filled {
  const numbers = (key: string) => rows.map((one) => one[key]).filter((value): value is number => typeof value === "number");
  const values = [...numbers("iops"), ...numbers("iops_high")];
  const above = values.filter((value) => value > 0);
  if (above.length === values.length && above.length > 0 && Math.max(...above) > LOG_RATIO * Math.min(...above)) {
    const { domain, ticks } = logAxis([...above, ...numbers("iops_low")], HEIGHT_RATE);
    const axis = { labelExpr: "format(datum.value, ',~r')", labelOverlap: false, labels: true, ticks: true, values: ticks };
    return { scale: { type: "log", domain }, axis };
  }
  return { scale: { domain: [0, Math.max(...values, 0) * 1.06 || 1] } };
}

function latencies(tail: readonly Row[]): Filled {
  const { domain, ticks } = logAxis(tail.length > 0 ? tail.map((one) => one["ms"] as number) : [1], HEIGHT_LATENCY);
  return { scale: { domain }, values: { values: ticks } };
}

function heading(text: string, notes: readonly string[], chars: number): Spec {
  const subtitle = notes.flatMap((note) => wrapped(note, chars));
  return subtitle.length > 0 ? { text, subtitle } : { text };
}

/** Lines that are no wider than the picture. */
function wrapped(note: string, chars: number): string[] {
  const lines: string[] = [];
  // As Python's textwrap: a line may break behind the hyphen of a word, too.
  const pieces = note.replace(/\s/g, " ").split(/( +|(?<=[a-z]-)(?=[a-z]))/i).filter((piece) => piece !== "");
  let line = "";
  for (const piece of pieces) {
    if ((line + piece).trimEnd().length > chars) {
      lines.push(line.trimEnd());
      line = piece.trimStart();
    } else line += line === "" ? piece.trimStart() : piece;
  }
  return [...lines, line.trimEnd()];
}

/** Every channel of every encoding below a part of a specification. */
function visit(part: unknown, found: (channel: Channel, name: string, container: Spec) => void): void {
  if (Array.isArray(part)) for (const one of part) visit(one, found);
  else if (typeof part === "object" && part !== null) {
    for (const [key, value] of Object.entries(part)) {
      if (key === "encoding") {
        for (const [name, channel] of Object.entries(value as Spec)) found(channel as Channel, name, value as Spec);
      } else if (key !== "datasets" && key !== "config") visit(value, found);
    }
  }
}
