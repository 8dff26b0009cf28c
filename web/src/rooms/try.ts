// The room "Try": a scenario by forms and as text beside each other, its sweep as table and chart.
import type { DriveEntry, Plan, Point, Problem } from "../core/answers";
import { type Core, type Outcome, Problems, Stopped } from "../core/client";
import { addScript } from "../core/loading";
import { WIDTH, depthAxis, depthSpec } from "../charts/depth";
import type { Charts } from "../charts/draw";
import type { Editor, Editors } from "../editor/editor";
import { field, h, select } from "../page/dom";
import { figure, ms } from "../page/figures";
import { shareBar } from "../page/share";
import { combinedDigest, ranged, targetName } from "../record/record";
import { workloadOf } from "../record/words";
import { rangeNote } from "../record/ranges";
import { numbers, plain, quoted, valueOf, withValue } from "../scenario/lines";

export const START = `name = "a try"

[target]
drive = "wd-4tb-7200"

[workload]
rw = "randread"
bs = "4KiB"
iodepth = [1, 2, 4, 8, 16, 32]

[run]
ios = 2000
seed = 1
`;

const ORIGIN = "scenario.toml";
const DEPTHS = [1, 2, 4, 8, 16, 32, 64, 128];
const RW = ["randread", "randwrite", "randrw", "read", "write", "rw"].map((name) => [name, name] as const);
const SIZES = ["512B", "4KiB", "8KiB", "16KiB", "64KiB", "128KiB", "1MiB"].map((name) => [name, name] as const);
const PROTOCOLS = [["", "the drive's own"], ["none", "none: one at a time"], ["ncq", "ncq"], ["ata-tcq", "ata-tcq"], ["scsi-tcq", "scsi-tcq"]] as const;
const ORDERS = [["", "the drive's own"], ["fcfs", "fcfs: as they arrive"], ["sstf", "sstf: shortest seek"], ["sptf", "sptf: shortest positioning"]] as const;
const CACHES = [["", "the drive's own"], ["true", "on"], ["false", "off"]] as const;

interface FormField {
  key: string;
  control: HTMLSelectElement | HTMLInputElement;
  isText: boolean;
}

/** Whether there is more to a run than its totals. */
function hasParts(points: readonly Point[]): boolean {
  return points.some((point) => point.in_force?.array !== undefined || Object.keys(point.jobs ?? {}).length > 1);
}

export class TryRoom {
  readonly element = h("section", { "aria-labelledby": "try-title" });
  private text: string;
  private editor: Editor | undefined;
  private outcome: Outcome | undefined;
  private plan: Plan | undefined;
  private wish = 0;
  private readonly fields: FormField[] = [];
  private readonly depths: HTMLInputElement[] = [];
  private readonly problems = h("ol", { class: "problems", "aria-label": "What is wrong", role: "alert" });
  private readonly fallback = h("textarea", { rows: 16, spellcheck: "false", "aria-label": "Scenario as TOML", input: () => this.edited(this.fallback.value) });
  private readonly place = h("div", { class: "editor" }, this.fallback);
  private readonly start = h("button", { type: "button", class: "main", click: () => void this.run() }, "Run");
  private readonly halt = h("button", { type: "button", disabled: true, click: () => this.core.stop() }, "Stop");
  private readonly bar = h("progress", { max: 1, value: 0, "aria-label": "Run so far", hidden: true });
  private readonly status = h("p", { class: "status", role: "status" });
  private ran = "";
  private readonly stale = h("p", { class: "problem", hidden: true }, "The text has changed since: these results, the command and the record are of the text before.");
  private readonly notes = h("ul", { class: "notes" });
  private readonly table = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Results" });
  private readonly chart = h("figure", { class: "chart" });

  constructor(
    private readonly core: Core,
    private readonly drives: readonly DriveEntry[],
    state: Record<string, string>,
    private readonly changed: (state: Record<string, string>) => void,
  ) {
    this.text = state["toml"] ?? START;
    this.fallback.value = this.text;
    this.build();
    this.readForm();
    void this.check().then((isGood) => (isGood ? this.run() : undefined));
    void this.edit();
    new ResizeObserver(() => this.draw()).observe(this.chart);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw(true));
  }

  leave(): void {
    this.core.stop();
  }

  private build(): void {
    const add = (label: string, key: string, options: readonly (readonly [string, string])[], isText = true) => {
      const control = select(options, "", () => this.set(key, control.value === "" ? undefined : isText ? quoted(control.value) : control.value));
      this.fields.push({ key, control, isText });
      return field(label, control);
    };
    const drives = this.drives.map(({ name, facts }) => [name, `${name} (${[facts["rpm"], facts["identity.interface"]].filter(Boolean).join(", ")})`] as const);
    const depths = h("fieldset", {}, h("legend", {}, "Queue depths"));
    for (const depth of DEPTHS) {
      const box = h("input", { type: "checkbox", value: depth, change: () => this.setDepths() });
      this.depths.push(box);
      depths.append(h("label", {}, box, ` ${depth}`));
    }
    const ios = h("input", { type: "number", min: 1, max: 1_000_000, change: () => this.set("run.ios", ios.value || undefined) });
    this.fields.push({ key: "run.ios", control: ios, isText: false });
    this.element.append(
      h("h2", { id: "try-title" }, "Try"),
      h("p", {}, "Choose, or write: both are the same scenario. It runs here, in your browser, with the core that the command line has."),
      h(
        "div",
        { class: "beside" },
        h(
          "form",
          { class: "fields", "aria-label": "Scenario", submit: (event) => event.preventDefault() },
          add("Drive", "target.drive", drives),
          add("Workload", "workload.rw", RW),
          add("Block size", "workload.bs", SIZES),
          add("Queue protocol", "target.queue.protocol", PROTOCOLS),
          add("Queue order", "target.queue.order", ORDERS),
          add("Write cache", "target.write_cache", CACHES, false),
          field("I/Os of each point", ios),
          depths,
        ),
        h("div", {}, this.place, this.problems),
      ),
      h("div", { class: "player" }, this.start, this.halt, this.bar),
      this.status,
      this.stale,
      this.notes,
      h("div", { class: "results" }, this.chart, this.table),
      shareBar(this.core, "This run", () => ({ name: "try", toml: this.text, log: 0, outcome: this.outcome })),
    );
  }

  /** Puts the editor in the place of the plain field, as soon as it is loaded. */
  private async edit(): Promise<void> {
    try {
      const [schema] = await Promise.all([this.core.schema(), addScript("editor.js")]);
      const editors = (globalThis as { drivelabEditors?: Editors }).drivelabEditors;
      if (editors === undefined) return;
      this.fallback.hidden = true;
      const host = h("div", { class: "host" });
      this.place.append(host);
      this.editor = editors.create(host, "Scenario as TOML", this.text, { schema, drives: this.drives.map(({ name }) => name) }, (text) => this.edited(text));
      void this.check();
    } catch (error) {
      // Without it the plain field remains, and works.
      if (!(error instanceof Stopped)) this.status.textContent = `The editor cannot be loaded: ${String(error)}`;
    }
  }

  private edited(text: string): void {
    this.text = text;
    this.readForm();
    void this.check();
  }

  private set(key: string, value: string | undefined): void {
    this.text = withValue(this.text, key, value);
    this.fallback.value = this.text;
    this.editor?.setText(this.text);
    void this.check().then((isGood) => (isGood ? this.run() : undefined));
  }

  private setDepths(): void {
    const chosen = this.depths.filter((box) => box.checked).map((box) => box.value);
    if (chosen.length > 0) this.set("workload.iodepth", chosen.length === 1 ? (chosen[0] as string) : `[${chosen.join(", ")}]`);
    else this.readForm();
  }

  private readForm(): void {
    for (const { key, control, isText } of this.fields) {
      const value = valueOf(this.text, key);
      const shown = isText ? plain(value) : (value ?? "");
      if (control instanceof HTMLSelectElement && ![...control.options].some((option) => option.value === shown)) {
        control.append(h("option", { value: shown }, shown));
      }
      control.value = shown;
    }
    const depths = numbers(valueOf(this.text, "workload.iodepth"));
    for (const box of this.depths) box.checked = depths.includes(Number(box.value));
  }

  /** Asks the core what is wrong; returns whether nothing is. */
  private async check(): Promise<boolean> {
    const wish = ++this.wish;
    this.changed({ toml: this.text });
    this.stale.hidden = this.outcome === undefined || this.ran === this.text;
    let list: Problem[] = [];
    try {
      this.plan = await this.core.check({ text: this.text, origin: ORIGIN });
    } catch (error) {
      if (!(error instanceof Problems)) return false;
      list = error.list;
    }
    if (wish !== this.wish) return false;
    this.editor?.setProblems(list);
    this.start.disabled = list.length > 0;
    this.problems.replaceChildren(
      ...list.map((one) => h("li", {}, h("code", {}, `${one.origin}:${one.line}:${one.column}`), ` ${one.message}`, ...(one.remedy ? [h("br"), h("small", {}, `help: ${one.remedy}`)] : []))),
    );
    this.notes.replaceChildren(...(list.length === 0 ? (this.plan?.notes ?? []).map((note) => h("li", {}, note)) : []));
    return list.length === 0;
  }

  private async run(): Promise<void> {
    if (!this.halt.disabled) this.core.stop();
    const { wish, text } = this;
    this.halt.disabled = false;
    this.bar.hidden = false;
    const began = performance.now();
    try {
      const outcome = await this.core.run(
        { text, origin: ORIGIN },
        { progress: (done, of) => (this.bar.value = done / of), step: (partial) => wish === this.wish && this.show(partial, text) },
      );
      const count = outcome.points.reduce((sum, point) => sum + point.latency_ns.n, 0);
      const seconds = (performance.now() - began) / 1000;
      this.show(outcome, text);
      this.status.textContent = `${figure(count)} I/Os in ${seconds.toFixed(2)} s. Scenario ${outcome.plan.scenario_hash}, digest ${combinedDigest(outcome.points)}.`;
      this.draw(true);
    } catch (error) {
      if (!(error instanceof Stopped)) this.status.textContent = `error: ${error instanceof Error ? error.message : String(error)}`;
      else if (wish === this.wish) this.status.textContent = "Stopped; the points that finished are below.";
      else return;
    }
    this.halt.disabled = true;
    this.bar.hidden = true;
  }

  private show(outcome: Outcome, text: string): void {
    this.outcome = outcome;
    this.ran = text;
    this.stale.hidden = text === this.text;
    const points = ranged(outcome.points);
    const axes = [...new Set(points.flatMap((point) => Object.keys(point.axes)))];
    const isRanged = points.some((point) => point.iops_low !== undefined);
    const heads = [...axes.map((axis) => axis.split(".").pop() as string), "IOPS", ...(isRanged ? ["at least", "at most"] : []), "MB/s", "mean ms", "p50 ms", "p99 ms", "max ms", "depth"];
    const failures = outcome.failures.map((text) => JSON.parse(text) as { axes: object; message: string });
    this.table.replaceChildren(
      h(
        "table",
        {},
        h("caption", {}, targetName(outcome.plan.scenario)),
        h("thead", {}, h("tr", {}, ...heads.map((name) => h("th", { scope: "col" }, name)))),
        h(
          "tbody",
          {},
          ...points.map((point) => {
            const { latency_ns: latency } = point;
            const places = axes.map((axis) => h("th", { scope: "row" }, String(point.axes[axis])));
            const ends = isRanged ? [figure(point.iops_low), figure(point.iops_high)] : [];
            const cells = [figure(point.iops), ...ends, figure(point.bytes_per_s / 1e6), ms(latency.mean), ms(latency.p50), ms(latency.p99), ms(latency.max), figure(point.depth.achieved)];
            return h("tr", {}, ...places, ...cells.map((cell) => h("td", {}, cell)));
          }),
        ),
      ),
      ...failures.map((one) => h("p", { class: "problem" }, `${JSON.stringify(one.axes)}: ${one.message}`)),
      ...(isRanged ? [h("p", { class: "soft" }, rangeNote(points) ?? "")] : []),
      ...(hasParts(points) ? [h("p", { class: "soft" }, "These are the totals. The command that is copied prints each job, and what happened to the array; the record has both.")] : []),
    );
  }

  private drawn = "";

  private draw(isNew = false): void {
    const points = ranged(this.outcome?.points ?? []);
    const axis = depthAxis(points);
    const width = Math.max(220, Math.min(WIDTH, this.chart.clientWidth - 170));
    const key = `${width} ${axis}`;
    if (!isNew && key === this.drawn) return;
    this.drawn = key;
    if (axis === undefined || this.outcome === undefined) {
      this.chart.replaceChildren();
      return;
    }
    const { plan, places } = this.outcome;
    const title = `${targetName(plan.scenario)}: ${workloadOf(places.map((place) => plan.fio[place] ?? ""))}`;
    const spec = depthSpec(points, axis, title, width);
    void addScript("charts.js").then(() => {
      const charts = (globalThis as { drivelabCharts?: Charts }).drivelabCharts;
      const host = h("div", {});
      this.chart.replaceChildren(host);
      return charts?.draw(host, spec, matchMedia("(prefers-color-scheme: dark)").matches);
    });
  }
}
