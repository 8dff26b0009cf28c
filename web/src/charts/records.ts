// The chart of records beside each other: IOPS, throughput, and percentiles, by point.
import { type Axes, type DriveRecord, axisText, figureAt } from "../compare/model";
import type { Spec } from "./depth";
import grammar from "./grammar.json";

const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
const TIMES = ["mean", "p50", "p99"];
/** More points than this have no room for their names below a chart. */
export const POINTS_MAX = 24;

/** What tells the points of records apart, in words: the axes in which some of them differ. */
export function placeNames(records: readonly DriveRecord[]): (axes: Axes) => string {
  const all = records.flatMap((record) => record.points.map((point) => point.axes));
  const names = [...new Set(all.flatMap((axes) => Object.keys(axes)))];
  const found = names.filter((name) => name !== "drive" && new Set(all.map((axes) => (name in axes ? axisText(axes[name]) : ""))).size > 1);
  const shown = found.filter((name) => name !== "depth" || !found.includes("iodepth"));
  return (axes) => shown.filter((name) => name in axes).map((name) => `${name} ${axisText(axes[name])}`).join(", ") || "the point";
}

/** The specification for lettered records; undefined where there are too many points. */
export function recordsSpec(records: ReadonlyMap<string, DriveRecord>, width: number): Spec | undefined {
  const name = placeNames([...records.values()]);
  const rows: Record<string, unknown>[] = [];
  const times: Record<string, unknown>[] = [];
  const places: string[] = [];
  for (const [letter, record] of records) {
    for (const point of record.points) {
      const place = name(point.axes);
      if (!places.includes(place)) places.push(place);
      const bytes = figureAt(point, "bytes_per_s")?.value;
      rows.push({ record: letter, place, iops: figureAt(point, "iops")?.value ?? null, mb: bytes === undefined ? null : bytes / 1e6 });
      for (const figure of TIMES) {
        const time = figureAt(point, figure)?.value;
        if (time) times.push({ record: letter, place, figure, ms: time / 1e6 });
      }
    }
  }
  if (places.length > POINTS_MAX) return undefined;
  const letters = [...records.keys()];
  const colour = { field: "record", type: "nominal", scale: { domain: letters, range: letters.map((_, at) => COLOURS[at % COLOURS.length]) }, legend: letters.length > 1 ? { title: "Record", orient: "top" } : null };
  const x = (isLast: boolean) => ({ field: "place", type: "nominal", sort: places, axis: { title: null, labels: isLast, ticks: isLast, labelAngle: width < 11 * Math.max(...places.map((place) => place.length)) * places.length ? -40 : 0, labelLimit: 170 }, scale: { padding: 0.4 } });
  const panel = (data: string, field: string, title: string, height: number, isLast: boolean, more: object = {}, scale: object = { zero: true }) => ({
    data: { name: data },
    width,
    height,
    mark: { type: "point", filled: true, size: 55, opacity: 1 },
    encoding: {
      x: x(isLast),
      xOffset: { field: "record", type: "nominal", sort: letters },
      y: { field, type: "quantitative", title, scale, axis: { tickCount: 5 } },
      color: colour,
      tooltip: [{ field: "record", type: "nominal" }, { field: "place", type: "nominal" }, { field, type: "quantitative", format: ".4~r" }],
      ...more,
    },
  });
  const panels = [panel("rows", "iops", "IOPS", 120, false), panel("rows", "mb", "MB/s", 90, times.length === 0)];
  if (times.length > 0) {
    const shape = { field: "figure", type: "nominal", scale: { domain: TIMES, range: ["circle", "square", "triangle-up"] }, legend: { title: "Response time", orient: "top", symbolFillColor: "#222222", symbolStrokeColor: "#222222" } };
    panels.push(panel("times", "ms", "Response time, ms", 150, true, { shape }, { type: "log", nice: true }));
  }
  return { $schema: grammar.plain.$schema, config: grammar.plain.config, spacing: 12, datasets: { rows, times }, vconcat: panels };
}
