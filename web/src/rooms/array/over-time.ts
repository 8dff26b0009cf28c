// The run of an array over time: its members at an instant, what happened, and the chart.
import type { ArrayReport } from "../../core/arrays";
import type { Point } from "../../core/answers";
import { addScript } from "../../core/loading";
import { eventWords, momentAt } from "../../arrays/moments";
import type { Charts } from "../../charts/draw";
import { timeSpec } from "../../charts/time";
import { field, h } from "../../page/dom";
import { figure, ms } from "../../page/figures";

const STATES = { whole: "all there", missing: "missing", rebuilding: "being rebuilt" } as const;

export class OverTime {
  readonly element = h("div", {});
  private readonly members = h("ol", { class: "members", "aria-label": "Members at this instant" });
  private readonly words = h("p", { class: "now" });
  private readonly events = h("ol", { class: "events", "aria-label": "Events" });
  private readonly chart = h("figure", { class: "chart" });
  private readonly time = h("input", { type: "range", min: 0, max: 1, step: "any", value: 0, input: () => this.seek(Number(this.time.value) * this.end) });
  private readonly clock = h("output", { class: "clock" });
  private report: ArrayReport | undefined;
  private count = 0;
  private end = 0;
  private drawn = "";

  constructor(
    private at: number,
    private readonly changed: (at: number) => void,
    private readonly marked: (gone: ReadonlySet<number>) => void,
  ) {
    this.element.append(
      h("div", { class: "player", role: "group", "aria-label": "Instant of the run" }, h("button", { type: "button", click: () => this.step(-1) }, "Event before"), h("button", { type: "button", click: () => this.step(1) }, "Next event"), field("Time", this.time), this.clock),
      this.members,
      this.words,
      h("div", { class: "beside" }, h("div", {}, h("h4", {}, "The array over time"), h("p", { class: "soft" }, "Response times of each stretch of the run: mean (blue), longest (orange). A dashed line is an event."), this.chart), h("div", {}, h("h4", {}, "What happened"), this.events)),
    );
    this.time.addEventListener("change", () => this.changed(this.at));
    new ResizeObserver(() => this.draw()).observe(this.chart);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw(true));
  }

  clear(): void {
    this.report = undefined;
    this.words.textContent = "";
    for (const part of [this.members, this.events, this.chart]) part.replaceChildren();
  }

  show(point: Point): void {
    this.report = point.array;
    if (this.report === undefined) return this.clear();
    this.count = point.in_force?.array?.members ?? 0;
    const last = this.report.series[this.report.series.length - 1];
    const piece = this.report.series.length > 1 ? (this.report.series[1]?.start_ns ?? 0) : 0;
    this.end = Math.max(point.window_ns, ...(last ? [last.start_ns + Math.min(piece, 1)] : []), ...this.report.events.map((event) => event.at_ns));
    this.events.replaceChildren(
      ...this.report.events.slice(0, 40).map((event) => h("li", {}, h("button", { type: "button", class: "plain", click: () => this.pick(event.at_ns) }, `${figure(event.at_ns / 1e9)} s`), ` ${eventWords(event)}`)),
    );
    if (this.report.events.length === 0) this.events.append(h("li", {}, "Nothing: all members were there all the time."));
    this.seek(Math.min(this.at, this.end));
    this.draw(true);
  }

  private pick(at: number): void {
    this.seek(at);
    this.changed(this.at);
  }

  private step(by: 1 | -1): void {
    const all = [0, ...(this.report?.events.map((event) => event.at_ns) ?? []), this.end];
    const next = by > 0 ? all.find((at) => at > this.at) : [...all].reverse().find((at) => at < this.at);
    this.pick(next ?? this.at);
  }

  private seek(at: number): void {
    this.at = at;
    if (this.report === undefined) return;
    const moment = momentAt(this.report, this.count, at);
    this.time.value = String(this.end > 0 ? at / this.end : 0);
    const clock = `${(at / 1e9).toFixed(1)} s of ${figure(this.end / 1e9)} s`;
    this.time.setAttribute("aria-valuetext", clock);
    this.clock.textContent = clock;
    this.members.replaceChildren(
      ...moment.members.map((member) => {
        const share = `${(100 * member.share).toFixed(member.share === 0 || member.share === 1 ? 0 : 3)} %`;
        const fill = h("div", { class: "fill" });
        fill.style.width = `${100 * member.share}%`;
        const isOther = member.drive === member.slot ? "" : `, drive ${member.drive}`;
        return h("li", { class: member.state }, h("span", {}, `Member ${member.slot}${isOther}`), h("div", { class: "bar" }, fill), h("span", { class: "soft" }, member.state === "rebuilding" ? `${STATES.rebuilding}: ${share}` : STATES[member.state]));
      }),
    );
    const { piece } = moment;
    const scrub = moment.scrub === "runs" ? " A scrub runs." : moment.scrub === "ended" ? " The scrub has ended." : "";
    this.words.textContent = piece
      ? `Around this instant: ${figure(piece.iops)} IOPS, mean ${ms(piece.mean_latency_ns)} ms, longest ${ms(piece.max_latency_ns)} ms${piece.errors > 0 ? `, ${piece.errors} errors` : ""}.${scrub}`
      : "";
    this.marked(new Set(moment.members.filter((member) => member.state === "missing").map((member) => member.slot)));
  }

  private draw(isNew = false): void {
    const { report } = this;
    const width = Math.max(200, Math.min(620, this.chart.clientWidth - 80));
    const key = `${width}`;
    if (report === undefined || (!isNew && key === this.drawn)) return;
    this.drawn = key;
    const spec = timeSpec(report, this.end, width);
    void addScript("charts.js").then(() => {
      const charts = (globalThis as { drivelabCharts?: Charts }).drivelabCharts;
      const host = h("div", {});
      this.chart.replaceChildren(host);
      return charts?.draw(host, spec, matchMedia("(prefers-color-scheme: dark)").matches);
    });
  }
}
