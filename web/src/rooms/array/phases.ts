// The load before, during and after: each state of the array in runs of its own, and the hours of the rebuild.
import { type Extrapolated, extrapolated } from "../../arrays/rebuild";
import { pooled, type Times } from "../../arrays/pooled";
import type { Core, Outcome } from "../../core/client";
import { h } from "../../page/dom";
import { figure, ms } from "../../page/figures";
import type { Phase } from "./setting";

export interface Found {
  phase: Phase;
  iops: number;
  times: Times;
  /** What the phase came to besides. */
  words: string;
  outcome: Outcome;
}

const rate = (bytes: number | null | undefined) => `${figure(bytes === null || bytes === undefined ? undefined : bytes / 1e6)} MB/s`;

/** A time as people say it. */
export function span(ns: number): string {
  const seconds = ns / 1e9;
  if (seconds < 120) return `${figure(seconds)} s`;
  return seconds < 7200 ? `${figure(seconds / 60)} min` : `${figure(seconds / 3600)} h`;
}

export function rebuildWords(found: Extrapolated): string {
  const rates = found.parts.map((part) => part.member_bytes_per_s);
  const ends = `${rate(rates[0])} at its beginning, ${rate(rates[rates.length - 1])} at its end`;
  const parts = `from ${found.parts.length} parts of it, ${figure((100 * found.simulated_bytes) / found.member_bytes)} % of the member`;
  if (found.duration_ns === null) return `In one part the rebuild does not go on at all under this load: it takes more than ${span(found.at_least_ns ?? 0)} (${parts}).`;
  const error = found.relative_error === null ? "and caches still fill, so that it may take longer" : `± ${figure(100 * found.relative_error)} %`;
  return `The rebuild takes ${span(found.duration_ns)} under this load, ${error} (${parts}): ${ends}.`;
}

/** What the runs of a phase came to. */
export async function foundOf(core: Core, phase: Phase, outcome: Outcome): Promise<Found> {
  const { points } = outcome;
  const iops = points.reduce((sum, point) => sum + point.iops, 0) / Math.max(points.length, 1);
  const texts = points.flatMap((point) => [point.read.histogram, point.write.histogram]);
  const own = points.length === 1 ? points[0]?.latency_ns : undefined;
  const times = own ?? pooled(await core.histograms(texts));
  return { phase, iops, times, words: besides(phase, outcome), outcome };
}

function besides(phase: Phase, { points, failures }: Outcome): string {
  const failed = failures[0] ? (JSON.parse(failures[0]) as { message: string }).message : "";
  if (failed) return failed;
  const array = points[0]?.in_force?.array;
  if (phase.isRebuild) {
    const moves = array?.record_bytes && (points[0]?.write.iops ?? 0) > 0;
    const found = extrapolated(points, moves ? (array?.capacity_bytes ?? 0) / (array?.record_bytes ?? 1) : undefined);
    return found ? rebuildWords(found) : "Nothing was rebuilt.";
  }
  const sync = points[0]?.array?.syncs[0];
  if (phase.isScrub && sync) {
    if (sync.duration_ns !== null) return `The scrub took ${span(sync.duration_ns)}.`;
    const began = `at ${rate(sync.member_bytes_per_s)} on each member`;
    if (sync.remaining_ns === null) return `The scrub makes no progress under this load.`;
    return `The scrub takes ${span(sync.remaining_ns + (points[0]?.window_ns ?? 0))} if it goes on as on the first tracks, ${began}; inner tracks are slower.`;
  }
  if (phase.isAfter && sync && sync.ended_ns === null) return "The rest of the rebuild did not end before the measurement began: these figures are still of the rebuild.";
  return "";
}

export class PhasesView {
  readonly element = h("div", {});
  private readonly table = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Before, during and after" });
  private readonly words = h("ul", { class: "notes" });

  constructor() {
    this.element.append(this.table, this.words);
  }

  show(found: readonly Found[]): void {
    const heads = ["State", "IOPS", "mean ms", "p50 ms", "p95 ms", "p99 ms", "p99.9 ms", "max ms", "I/Os"];
    const cells = ({ iops, times }: Found) => [figure(iops), ms(times.mean), ms(times.p50), ms(times.p95), ms(times.p99), ms(times.p99_9), ms(times.max), figure(times.n)];
    this.table.replaceChildren(
      h(
        "table",
        { class: "left" },
        h("caption", {}, "Each state in a run of its own, with the same load; the first ten seconds of each do not count."),
        h("thead", {}, h("tr", {}, ...heads.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...found.map((one) => h("tr", {}, h("th", { scope: "row" }, `${one.phase.name}: ${one.phase.words}`), ...cells(one).map((cell) => h("td", {}, cell))))),
      ),
    );
    this.words.replaceChildren(...found.filter((one) => one.words !== "").map((one) => h("li", {}, one.words)));
  }

  clear(): void {
    this.table.replaceChildren();
    this.words.replaceChildren();
  }
}
