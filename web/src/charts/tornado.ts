// The chart of what a chance of loss depends on: a bar for each assumption from half to twice of it, the widest first, as
// python/drivelab/charts/plan.py draws it.
import { type Assumption, isTold } from "../arrays/sensitivity";
import type { Spec } from "./depth";
import grammar from "./grammar.json";
import { logAxis } from "./ticks";

const BLUE = "#0072B2";
const ORANGE = "#D55E00";
const INK = "#222222";
const STEP = 30;
const SIDES = ["half as much", "twice as much"] as const;
const NAME_MAX = 44;

/** The specification; undefined where no assumption has a bar. `now` and `limit` are chances in percent. */
export function tornadoSpec(assumptions: readonly Assumption[], now: number, limit: number | undefined, width: number): Spec | undefined {
  const rows = assumptions.filter((one) => isTold(one) && one.low?.value && one.high?.value).flatMap(bars).map((row) => ({ ...row, now }));
  if (rows.length === 0) return undefined;
  const ends = rows.flatMap((row) => [row.value, row.low, row.high]).filter((end) => end > 0);
  const { domain, ticks } = logAxis([...ends, ...[now, limit].filter((end): end is number => end !== undefined && end > 0)], width);
  const title = "Chance of data loss in a year, %";
  const scale = { type: "log", domain, nice: false };
  const x = { field: "value", type: "quantitative", title, scale, axis: { values: ticks, labelExpr: "format(datum.value, '.2~g')", labelOverlap: true } };
  const names = [...new Set(rows.map(({ name }) => name))];
  const y = { field: "name", type: "nominal", title: null, sort: names, axis: { labelLimit: Math.max(110, width / 2.2) } };
  const tooltip = [
    { field: "assumption", type: "nominal" },
    { field: "side", type: "nominal" },
    { field: "value", type: "quantitative", title: "chance in a year, %", format: ".3~g" },
  ];
  const color = { field: "side", type: "nominal", title: null, scale: { domain: SIDES, range: [BLUE, ORANGE] }, legend: { orient: "top" } };
  const rule = (value: number, dash: number[]) => ({ data: { values: [{ value }] }, mark: { type: "rule", stroke: INK, strokeDash: dash }, encoding: { x: { ...x } } });
  return {
    $schema: grammar.plain.$schema,
    config: grammar.plain.config,
    datasets: { bars: rows },
    width,
    height: { step: STEP },
    layer: [
      { data: { name: "bars" }, mark: { type: "bar", size: 16 }, encoding: { x, x2: { field: "now" }, y, color, tooltip } },
      { data: { name: "bars" }, mark: { type: "rule", stroke: INK, strokeWidth: 1.2 }, encoding: { x: { ...x, field: "low" }, x2: { field: "high" }, y } },
      rule(now, [1, 0]),
      ...(limit === undefined ? [] : [rule(limit, [4, 4])]),
    ],
  };
}

function bars(one: Assumption): { name: string; assumption: string; side: string; value: number; low: number; high: number }[] {
  const full = one.key === "load" ? "load" : `${one.name}, ${one.value}`;
  return [one.low, one.high].flatMap((of, at) =>
    of?.is_told ? [{ name: full.length <= NAME_MAX ? full : one.name, assumption: full, side: SIDES[at] as string, value: of.value, low: of.low || of.value, high: of.high }] : [],
  );
}
