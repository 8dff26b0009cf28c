// The chart of a published table: printed and simulated figures of each row, a panel for each column; for many cells, one over
// the other.
import type { Spec } from "./depth";
import grammar from "./grammar.json";
import { logAxis } from "./ticks";

export interface StudyRow {
  /** The column of the table, or the unit where there is none; and the row's name. */
  panel: string;
  row: string;
  unit: string;
  published: number | null;
  simulated: number | null;
  isCalibration: boolean;
}

const INK = "#222222";
const BLUE = "#0072B2";
const ORANGE = "#D55E00";
const SOFT = "#8a8a8a";
const SERIES = [
  { name: "published", colour: INK, shape: "diamond" },
  { name: "simulated", colour: BLUE, shape: "circle" },
  { name: "simulated, calibrated on it", colour: ORANGE, shape: "triangle-up" },
] as const;
const SIZES = { published: 110, simulated: 34 };
/** Above this ratio of the largest and the smallest figure of a panel its axis is logarithmic. */
const LOG_RATIO = 20;
/** More rows than this have one chart of simulated over published, if they were published. */
export const ROWS_MAX = 66;
/** Room for the names of rows. */
const NAMES = 8;
const STEP = 13;

interface Datum {
  panel: string;
  row: string;
  series: string;
  value: number;
  unit: string;
}

/** The specification; undefined where there is nothing to draw. */
export function studySpec(rows: readonly StudyRow[], width: number): Spec | undefined {
  const isLong = new Set(rows.map(({ row }) => row)).size > ROWS_MAX;
  const spec = (isLong ? scatter(rows, width) : undefined) ?? panels(rows, width);
  return spec && { $schema: grammar.plain.$schema, config: grammar.plain.config, ...spec };
}

function dataOf(rows: readonly StudyRow[]): Datum[] {
  return rows.flatMap(({ panel, row, unit, published, simulated, isCalibration }) => [
    ...(published === null ? [] : [{ panel, row, unit, series: "published", value: published }]),
    ...(simulated === null ? [] : [{ panel, row, unit, series: SERIES[isCalibration ? 2 : 1].name, value: simulated }]),
  ]);
}

/** Colour and shape by series, of those that are there, with one legend. */
function marksOf(data: readonly { series: string }[], columns: number): object {
  const used = SERIES.filter(({ name }) => data.some(({ series }) => series === name));
  const channel = (range: unknown[]) => ({ field: "series", type: "nominal", scale: { domain: used.map(({ name }) => name), range }, legend: { title: null, orient: "top", columns } });
  return { color: channel(used.map(({ colour }) => colour)), shape: channel(used.map(({ shape }) => shape)) };
}

/** The axis of a panel: from zero, or logarithmic. */
function axisOf(values: readonly number[], length: number): object {
  if (!isWide(values)) return { scale: { domain: [Math.min(0, ...values), 1.05 * Math.max(0, ...values) || 1] }, axis: { tickCount: 4, format: "~r", labelOverlap: true } };
  const { domain, ticks } = logAxis([...values], length);
  return { scale: { type: "log", domain }, axis: { values: ticks, format: "~r", labelOverlap: true } };
}

const isWide = (values: readonly number[]) => values.every((value) => value > 0) && Math.max(...values) > LOG_RATIO * Math.min(...values);

function panels(rows: readonly StudyRow[], width: number): Spec | undefined {
  const data = dataOf(rows);
  if (data.length === 0) return undefined;
  const names = [...new Set(data.map(({ panel }) => panel))];
  const margin = Math.min(240, 30 + NAMES * Math.max(...rows.map(({ row }) => row.length)));
  const columns = Math.max(1, Math.min(names.length, Math.floor((width + 20) / (margin + 190))));
  const own = Math.max(110, Math.floor(width / columns) - margin - 20);
  const marks = marksOf(data, width < 500 ? 1 : 3);
  const concat = names.map((name) => {
    const here = data.filter(({ panel }) => panel === name);
    const labels = [...new Set(rows.filter(({ panel }) => panel === name).map(({ row }) => row))];
    const units = [...new Set(here.map(({ unit }) => unit))];
    const unit = units.length === 1 ? (units[0] as string) : "in the unit of the row";
    // Columns of the same unit have the same axis, so that they can be compared.
    const alike = data.filter((one) => one.panel === name || (units.length === 1 && one.unit === units[0]));
    const x = { field: "value", type: "quantitative", title: [...new Set([name, unit])].filter(Boolean).join(", "), ...axisOf(alike.map(({ value }) => value), own) };
    const y = { field: "row", type: "nominal", sort: labels, scale: { domain: labels }, axis: { title: null, labelLimit: margin - 10, grid: true } };
    const tooltip = [{ field: "row", type: "nominal", title: "cell" }, { field: "series", type: "nominal", title: "figure" }, { field: "value", type: "quantitative", format: ".5~r" }, { field: "unit", type: "nominal" }];
    const layer = (isPublished: boolean) => ({
      transform: [{ filter: `datum.panel === ${JSON.stringify(name)} && (datum.series === "published") === ${isPublished}` }],
      mark: { type: "point", filled: true, size: isPublished ? SIZES.published : SIZES.simulated, opacity: 1 },
      encoding: { x, y, ...marks, tooltip },
    });
    const layers = [true, false].filter((isPublished) => here.some(({ series }) => (series === "published") === isPublished));
    return { width: own, height: { step: STEP }, layer: layers.map(layer) };
  });
  return { datasets: { cells: data }, data: { name: "cells" }, concat, columns, spacing: 14 };
}

/** Simulated over published, both logarithmic, with the line where they are equal. */
function scatter(rows: readonly StudyRow[], width: number): Spec | undefined {
  const both = rows.filter((row) => row.published !== null && row.published > 0 && row.simulated !== null && row.simulated > 0);
  if (both.length < 2) return undefined;
  const data = both.map((row) => ({ ...row, row: `${row.row} ${row.panel}`.trim(), series: SERIES[row.isCalibration ? 2 : 1].name }));
  const values = both.flatMap(({ published, simulated }) => [published as number, simulated as number]);
  const ends = [Math.min(...values), Math.max(...values)];
  const side = Math.max(180, Math.min(420, width - 80));
  const { domain, ticks } = logAxis(ends, side);
  const axis = (field: string, title: string) => ({ field, type: "quantitative", title, scale: { type: "log", domain }, axis: { values: ticks, format: "~r", labelOverlap: true } });
  const [x, y] = [axis("published", "Published"), axis("simulated", "Simulated")];
  const tooltip = [{ field: "row", type: "nominal", title: "cell" }, { field: "published", type: "quantitative" }, { field: "simulated", type: "quantitative", format: ".5~r" }, { field: "unit", type: "nominal" }];
  const marks = marksOf(data, 2);
  return {
    datasets: { cells: data, equal: ends.map((end) => ({ published: end, simulated: end })) },
    width: side,
    height: side,
    layer: [
      { data: { name: "equal" }, mark: { type: "line", color: SOFT, strokeDash: [4, 3] }, encoding: { x, y } },
      { data: { name: "cells" }, mark: { type: "point", filled: true, size: SIZES.simulated, opacity: 1 }, encoding: { x, y, ...marks, tooltip } },
    ],
  };
}
