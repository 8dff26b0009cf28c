// The chart of an array over time: response times, IOPS, and the progress of a rebuild, with a line at each event.
import { eventWords, merged } from "../arrays/moments";
import type { ArrayReport } from "../core/arrays";
import type { Spec } from "./depth";
import grammar from "./grammar.json";

const BLUE = "#0072B2";
const ORANGE = "#D55E00";
const SOFT = "#5f5f5f";
/** More events than this have no words in the picture. */
const EVENTS_MAX = 12;

/** The specification; `end_ns` is where the run ends. */
export function timeSpec(report: ArrayReport, end_ns: number, width: number): Spec {
  const series = merged(report.series);
  const rows = series.map((piece, at) => {
    const end = series[at + 1]?.start_ns ?? end_ns;
    const ms = (value: number | null) => (value === null ? null : value / 1e6);
    return {
      s: (piece.start_ns + end) / 2e9,
      iops: piece.iops,
      mean: ms(piece.mean_latency_ns),
      longest: ms(piece.max_latency_ns),
      rebuilt: piece.rebuilt === null ? null : 100 * piece.rebuilt,
    };
  });
  const events = report.events.slice(0, EVENTS_MAX).map((event) => ({ s: event.at_ns / 1e9, event: eventWords(event) }));
  const x = { field: "s", type: "quantitative", scale: { domain: [0, end_ns / 1e9], nice: false }, axis: { title: null } };
  const tooltip = [
    { field: "s", type: "quantitative", title: "s", format: ".2f" },
    { field: "iops", type: "quantitative", title: "IOPS", format: ".4~r" },
    { field: "mean", type: "quantitative", title: "mean ms", format: ".3~r" },
    { field: "longest", type: "quantitative", title: "longest ms", format: ".3~r" },
  ];
  const line = (field: string, title: string, colour: string, axis: object | null) => ({
    mark: { type: "line", color: colour, strokeWidth: 1.5 },
    encoding: { x, y: { field, type: "quantitative", title, ...(axis ?? {}) }, tooltip },
  });
  const rule = { data: { name: "events" }, mark: { type: "rule", color: SOFT, strokeDash: [4, 3] }, encoding: { x: { field: "s", type: "quantitative" }, tooltip: [{ field: "s", type: "quantitative", title: "s", format: ".2f" }, { field: "event", type: "nominal" }] } };
  const panel = (height: number, layers: object[]) => ({ data: { name: "series" }, width, height, layer: [...layers, rule] });
  const log = { scale: { type: "log", nice: true }, axis: { format: "~r", tickCount: 4 } };
  const panels = [
    panel(150, [line("longest", "Response time, ms", ORANGE, log), line("mean", "Response time, ms", BLUE, log)]),
    panel(110, [line("iops", "IOPS", BLUE, { scale: { zero: true } })]),
  ];
  if (rows.some((row) => row.rebuilt !== null)) panels.push(panel(70, [line("rebuilt", "Rebuilt, %", BLUE, { scale: { zero: true } })]));
  const last = panels[panels.length - 1] as { layer: { encoding: { x: object } }[] };
  for (const layer of last.layer) layer.encoding.x = { ...layer.encoding.x, axis: { title: "Time since the start of the run, s" } };
  return {
    $schema: grammar.plain.$schema,
    config: grammar.plain.config,
    spacing: 10,
    datasets: { series: rows, events },
    vconcat: panels,
  };
}
