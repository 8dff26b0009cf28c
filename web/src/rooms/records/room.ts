// The room "Your records": files of one's own, each with its table and chart, and two or more side by side with a verdict.
// Nothing of them leaves the page.
import { type Compared, CONFIDENCE, RECORDS_MAX, compared } from "../../compare/beside";
import { tableOf } from "../../compare/file";
import { type DriveRecord, RecordError } from "../../compare/model";
import { type Stored, opened } from "../../compare/opening";
import { verdictOf } from "../../compare/verdict";
import { recordsSpec } from "../../charts/records";
import type { Charts } from "../../charts/draw";
import type { DriveEntry } from "../../core/answers";
import { type Core, Stopped } from "../../core/client";
import { addScript } from "../../core/loading";
import { copy, download, field, h } from "../../page/dom";
import { takeHanded } from "../../page/handed";
import { differencesTable, pointsTable } from "./tables";

export class RecordsRoom {
  readonly element = h("section", { "aria-labelledby": "records-title" });
  private records: DriveRecord[] = [];
  private stored: Stored[] = [];
  private found: Compared | undefined;
  private work: Promise<void> = Promise.resolve();
  private waiting = 0;
  private isLeft = false;
  private readonly file = h("input", { type: "file", multiple: true, accept: ".json,application/json,.html,text/html", change: () => this.take([...(this.file.files ?? [])]) });
  private readonly threshold = h("input", { type: "number", min: 0, step: "any", change: () => this.again() });
  private readonly drop = h("div", { class: "drop" });
  private readonly problems = h("ol", { class: "problems", "aria-label": "What is wrong", role: "alert" });
  private readonly status = h("p", { class: "status", role: "status" });
  private readonly list = h("ol", { class: "files", "aria-label": "Records" });
  private readonly verdict = h("div", { role: "region", "aria-label": "Verdict" });
  private readonly chart = h("figure", { class: "chart" });
  private readonly tables = h("div", {});

  constructor(
    private readonly core: Core,
    _drives: readonly DriveEntry[],
    state: Record<string, string>,
    private readonly changed: (state: Record<string, string>) => void,
  ) {
    if (Number(state["threshold"]) >= 0 && state["threshold"]) this.threshold.value = state["threshold"];
    this.build();
    this.show();
    this.tell();
    const handed = takeHanded();
    if (handed.length > 0) this.take(handed);
  }

  leave(): void {
    this.isLeft = true;
  }

  private build(): void {
    const over = (isOver: boolean) => (event: Event) => {
      event.preventDefault();
      this.drop.classList.toggle("over", isOver);
    };
    this.drop.append(field("Choose records, or drop them here", this.file, "JSON or reports of drivelab simulate, measure or compare; JSON of emulate and of fio 3"));
    for (const name of ["dragenter", "dragover"]) this.drop.addEventListener(name, over(true));
    this.drop.addEventListener("dragleave", over(false));
    this.drop.addEventListener("drop", (event) => {
      over(false)(event);
      this.take([...((event as DragEvent).dataTransfer?.files ?? [])]);
    });
    const say = (text: string) => {
      this.status.textContent = text;
    };
    const bar = h("div", { class: "share", role: "group", "aria-label": "The comparison" });
    const button = (text: string, act: () => void) => h("button", { type: "button", click: act }, text);
    bar.append(
      button("Copy link", () => void copy(location.href, bar, () => say("Copied: the link has the threshold, not the records, which are only here."))),
      button("Copy as command", () => void (this.records.length > 1 ? copy(this.command(), bar, say) : say("There is no comparison yet."))),
      button("Download comparison", () => (this.found === undefined ? say("There is no comparison yet.") : download("comparison.json", `${JSON.stringify(this.document(), null, 1)}\n`))),
      button("Remove all", () => {
        [this.records, this.stored] = [[], []];
        this.problems.replaceChildren();
        say("");
        this.again();
      }),
    );
    this.element.append(
      h("h2", { id: "records-title" }, "Your records"),
      h("p", {}, "Results from files, each with its figures, and all of them against the first. The files are read in this page and go nowhere else. Rules of matching, intervals and verdict are those of drivelab compare."),
      this.drop,
      this.status,
      this.problems,
      this.list,
      h("div", { class: "fields controls" }, field("Threshold, %", this.threshold, "empty: none. A figure is beyond it if its whole interval is")),
      bar,
      this.verdict,
      this.chart,
      this.tables,
    );
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  private share(): number | undefined {
    const text = this.threshold.value.trim();
    return text !== "" && Number(text) >= 0 ? Number(text) / 100 : undefined;
  }

  private tell(): void {
    this.changed(this.threshold.value === "" ? {} : { threshold: this.threshold.value });
  }

  private again(): void {
    this.tell();
    this.show();
  }

  /** Takes files, one after the other. */
  private take(files: readonly File[]): void {
    this.waiting += files.length;
    delete this.element.dataset["records"];
    for (const file of files) this.work = this.work.then(() => this.open(file));
    this.file.value = "";
  }

  private async open(file: File): Promise<void> {
    this.status.textContent = `Reading ${file.name}, ${(file.size / 1e6).toFixed(1)} MB.`;
    try {
      if (this.records.length >= RECORDS_MAX) throw new RecordError(`${file.name}: a comparison has at most ${RECORDS_MAX} records; remove some`);
      const { table, note } = await tableOf(file);
      const found = await opened(this.core, table, file.name);
      if ("stored" in found) this.stored.push(found.stored);
      else this.records.push(note ? { ...found.record, notes: [note, ...found.record.notes] } : found.record);
    } catch (error) {
      if (error instanceof Stopped) return;
      this.problems.append(h("li", {}, error instanceof RecordError ? error.message : `${file.name}: it is damaged, or a record of another kind (${error instanceof Error ? error.message : String(error)})`));
    }
    this.waiting -= 1;
    if (this.waiting > 0 || this.isLeft) return;
    this.status.textContent = "";
    this.show();
  }

  private show(): void {
    this.found = this.records.length > 1 ? compared(this.records) : undefined;
    const letters = this.records.map((_, at) => String.fromCharCode(65 + at));
    this.list.replaceChildren(
      ...this.records.map((record, at) =>
        h("li", {}, h("strong", {}, letters[at] as string), ` ${record.origin}: ${record.kind}${record.target ? ` ${record.target}` : ""}, ${record.points.length} point${record.points.length === 1 ? "" : "s"} `, h("button", { type: "button", class: "plain", "aria-label": `Remove ${record.origin}`, click: () => this.remove(at) }, "remove")),
      ),
    );
    this.verdict.replaceChildren(...this.verdictParts());
    this.tables.replaceChildren(
      ...(this.found?.besides ?? []).flatMap((beside) => [h("h3", {}, `${beside.other} against ${beside.first}`), differencesTable(beside, this.share())]),
      ...this.records.flatMap((record, at) => [h("h3", {}, `Record ${letters[at]}: ${record.origin}`), pointsTable(letters[at] as string, record)]),
      ...this.stored.flatMap((one) => [h("h3", {}, `${one.origin}: a comparison`), h("ul", { class: "notes" }, ...one.lines.map((line) => h("li", {}, line)))]),
    );
    this.draw(true);
    if (this.waiting === 0) this.element.dataset["records"] = String(this.records.length + this.stored.length);
  }

  private remove(at: number): void {
    this.records.splice(at, 1);
    this.again();
    this.file.focus();
  }

  private verdictParts(): HTMLElement[] {
    if (this.found === undefined) return [h("p", { class: "soft" }, this.records.length === 1 ? "A second record makes a comparison." : "No record yet.")];
    const { lines, holds } = verdictOf(this.found, this.share());
    const refused = this.found.refused.map(({ other, why }) => h("p", { class: "problem" }, `${other}: ${why}. \`drivelab compare\` has --ignore and --where for this.`));
    const parts = [h("h3", {}, "Verdict"), h("ul", { class: "notes verdict" }, ...lines.map((line) => h("li", {}, line))), ...refused];
    if (this.share() !== undefined) parts.push(h("p", { class: "status" }, !holds ? "The threshold is not kept." : refused.length > 0 ? "The threshold is kept by the records that could be compared." : "The threshold is kept."));
    return parts;
  }

  private command(): string {
    const names = this.records.map((record) => `'${record.origin.replace(/'/g, "'\\''")}'`);
    const share = this.threshold.value.trim();
    return ["drivelab", "compare", ...names, ...(share === "" ? [] : ["--threshold", share])].join(" ");
  }

  /** As `drivelab compare --json` has it, as far as the page knows it. */
  private document(): object {
    const { records, besides } = this.found as Compared;
    const plain = (one: Compared["besides"][number]["differences"][number]) => ({ place: one.place, figure: one.figure, first: one.first, other: one.other, difference: one.share, low: one.low, high: one.high, shown: one.shown });
    const verdict = verdictOf(this.found as Compared, this.share());
    return {
      confidence: CONFIDENCE,
      threshold: this.share() ?? null,
      records: [...records].map(([letter, record]) => ({ letter, origin: record.origin, kind: record.kind, name: record.name, target: record.target, notes: record.notes })),
      comparisons: besides.map((beside) => ({
        first: beside.first,
        other: beside.other,
        tell_apart: beside.subjects,
        differences: beside.differences.map(plain),
        percentiles: beside.shifts.map(plain),
        not_matched: beside.lonely.map((one) => ({ record: one.isFirst ? beside.first : beside.other, axes: one.axes, reason: one.reason })),
      })),
      verdict: { lines: verdict.lines, holds: verdict.holds, ...verdict.counts },
    };
  }

  private drawn = "";

  private draw(isNew = false): void {
    const width = Math.max(200, Math.min(760, this.element.clientWidth - 110));
    if (!isNew && this.drawn === String(width)) return;
    this.drawn = String(width);
    const records = this.found?.records ?? new Map(this.records.map((record) => ["A", record]));
    const spec = records.size > 0 ? recordsSpec(records, width) : undefined;
    if (spec === undefined) return this.chart.replaceChildren(...(records.size > 0 ? [h("p", { class: "soft" }, "There are too many points for a chart; the tables have all.")] : []));
    void addScript("charts.js").then(() => {
      const charts = (globalThis as { drivelabCharts?: Charts }).drivelabCharts;
      const host = h("div", {});
      this.chart.replaceChildren(host);
      return charts?.draw(host, spec, matchMedia("(prefers-color-scheme: dark)").matches);
    });
  }
}
