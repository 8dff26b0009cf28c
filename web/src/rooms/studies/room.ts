// The room "The studies": published tables, each question with its figures simulated here, the printed ones and the errors.
import type { Spec } from "../../charts/depth";
import type { Charts } from "../../charts/draw";
import { studySpec } from "../../charts/studies";
import type { DriveEntry } from "../../core/answers";
import type { Core } from "../../core/client";
import { addScript } from "../../core/loading";
import { copy, download, h } from "../../page/dom";
import { documentOf } from "../../studies/document";
import { Found, summaries } from "../../studies/found";
import { type Experiment, type Place, type Studies, loadStudies } from "../../studies/model";
import { type Question, allScenarios, estimate, placesFor, questionsOf, scenariosFor, secondsText } from "../../studies/questions";
import { Runner } from "../../studies/runner";
import { judge } from "../../studies/claims/index";
import { rowsOf } from "./figure";
import { questionList, studyList } from "./lists";
import { LEGEND, cellsTable, claimsTable, leftOutTable, readTable, summaryTable } from "./tables";

/** Figures of each published table as far as they were run, and how long the runs took; kept when the room is left. */
const KEPT = new Map<string, { found: Found; timed: { runs: number; seconds: number } }>();
/** A question whose runs take no longer than this, in seconds, is run when it is opened. */
const AT_ONCE = 10;
/** Results are shown anew, and their chart, no more often than this, in ms. */
const SHOWN_EVERY = 300;
const DRAWN_EVERY = 1500;

export class StudiesRoom {
  readonly element = h("section", { "aria-labelledby": "studies-title" });
  private studies: Studies | undefined;
  private experiment: Experiment | undefined;
  private question: Question | undefined;
  private isLeft = false;
  /** The number of the newest run: an older one shows nothing any more. */
  private wish = 0;
  /** Whether the room shows what its link named: later choices clear what was said of that. */
  private isOpen = false;
  private shown = 0;
  private readonly runner: Runner;
  /** What a link names and there is not. */
  private readonly unknown = h("p", { class: "problem", role: "alert" });
  private readonly problem = h("p", { class: "problem", role: "alert" });
  private readonly status = h("p", { class: "status", role: "status" });
  private readonly bar = h("progress", { max: 1, value: 0, "aria-label": "Runs so far", hidden: true });
  private readonly runOne = h("button", { type: "button", class: "main", click: () => void this.run(this.wanted()) }, "Run the question");
  private readonly runAll = h("button", { type: "button", click: () => this.experiment && void this.run(allScenarios(this.experiment)) }, "Run the whole study");
  private readonly halt = h("button", { type: "button", disabled: true, click: () => this.runner.stop() }, "Stop");
  private readonly list = h("div", {});
  private readonly detail = h("div", { hidden: true });
  private readonly heading = h("div", {});
  private readonly questions = h("div", {});
  private readonly answer = h("div", { role: "region", "aria-label": "The question" });
  private readonly chart = h("figure", { class: "chart" });
  private readonly cells = h("div", {});
  private readonly whole = h("div", {});

  constructor(
    core: Core,
    _drives: readonly DriveEntry[],
    private readonly state: Record<string, string>,
    private readonly changed: (state: Record<string, string>) => void,
  ) {
    this.runner = new Runner(core);
    this.build();
    void this.open();
  }

  leave(): void {
    this.isLeft = true;
    this.wish++;
    this.runner.end();
  }

  private build(): void {
    const bar = h("div", { class: "share", role: "group", "aria-label": "This study" });
    const said = h("span", { role: "status", class: "status" });
    const say = (text: string) => (said.textContent = text);
    const button = (text: string, what: () => string) => h("button", { type: "button", click: () => void copy(what(), bar, say) }, text);
    bar.append(button("Copy link", () => location.href), button("Copy as command", () => `drivelab reproduce ${this.experiment?.name ?? ""}`));
    bar.append(h("button", { type: "button", click: () => download(`${this.experiment?.name}.json`, `${JSON.stringify(documentOf(this.kept.found, this.studies as Studies), null, 1)}\n`) }, "Download figures"), said);
    this.detail.append(
      this.heading,
      h("div", { class: "study-parts" }, this.questions, h("div", {}, h("div", { class: "player" }, this.runOne, this.runAll, this.halt, this.bar), this.status, this.answer, this.chart, this.cells)),
      this.whole,
      bar,
    );
    this.element.append(
      h("h2", { id: "studies-title" }, "The studies"),
      h("p", {}, "What queueing and RAID really gain: four published studies, 2004 to 2008. Every figure beside a published one is of a run of the simulator in this page, with the scenarios and the rules of drivelab reproduce."),
      this.unknown,
      this.problem,
      this.list,
      this.detail,
    );
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw(true));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  private async open(): Promise<void> {
    try {
      this.studies = await loadStudies();
    } catch (error) {
      this.problem.textContent = error instanceof Error ? error.message : String(error);
      return;
    }
    if (this.isLeft) return;
    const { study, question } = this.state;
    const experiment = this.studies.experiments.find(({ name }) => name === study);
    if (study !== undefined && experiment === undefined) this.unknown.textContent = `There is no study ${study}: choose one of these.`;
    if (experiment === undefined) return this.showList();
    const asked = questionsOf(experiment).find(({ key }) => key === question);
    if (question !== undefined && asked === undefined) this.unknown.textContent = `${experiment.name} has no question ${question}: this is its first.`;
    this.choose(experiment, asked);
  }

  private showList(): void {
    this.wish++;
    this.runner.stop();
    this.rest();
    if (this.isOpen) this.unknown.textContent = this.problem.textContent = "";
    this.isOpen = true;
    this.experiment = undefined;
    this.detail.hidden = true;
    this.list.hidden = false;
    this.list.replaceChildren(studyList((this.studies as Studies).experiments, (experiment) => this.choose(experiment)));
    this.element.dataset["study"] = "";
    this.changed({});
  }

  private choose(experiment: Experiment, question: Question = questionsOf(experiment)[0] as Question): void {
    if (this.isOpen) this.unknown.textContent = this.problem.textContent = "";
    this.isOpen = true;
    this.experiment = experiment;
    this.question = question;
    this.list.hidden = true;
    this.detail.hidden = false;
    const all = h("a", { href: "#studies", click: (event) => (event.preventDefault(), this.showList()) }, "All studies");
    this.heading.replaceChildren(h("p", {}, all), h("h3", {}, experiment.title), h("p", { class: "soft" }, experiment.source));
    this.changed({ study: experiment.name, question: question.key });
    this.show(true);
    this.begin();
  }

  /** Runs the question that was opened, if it does not take long; whatever runs goes on. */
  private begin(): void {
    if (!this.halt.disabled) return;
    if (this.left(this.wanted()) > 0 && (this.seconds(this.wanted()) ?? Infinity) <= AT_ONCE) void this.run(this.wanted());
    else this.tell();
  }

  private get kept(): { found: Found; timed: { runs: number; seconds: number } } {
    const experiment = this.experiment as Experiment;
    const kept = KEPT.get(experiment.name) ?? { found: new Found(experiment), timed: { runs: 0, seconds: 0 } };
    KEPT.set(experiment.name, kept);
    return kept;
  }

  /** The scenarios of the question. */
  private wanted(): number[] {
    return scenariosFor(this.experiment as Experiment, placesFor(this.question as Question));
  }

  private left(scenarios: readonly number[]): number {
    return scenarios.filter((scenario) => !this.kept.found.digests.has(scenario)).length;
  }

  private seconds(scenarios: readonly number[]): number | undefined {
    return estimate(this.left(scenarios), this.experiment as Experiment, this.kept.timed, this.runner.workers);
  }

  private tell(before = ""): void {
    const words = (what: string, scenarios: readonly number[]) => {
      const [count, seconds] = [this.left(scenarios), this.seconds(scenarios)];
      return scenarios.length === 0 ? `${what} needs no run.` : count === 0 ? `${what} is run.` : `${what}: ${count} run${count === 1 ? "" : "s"} left${seconds === undefined ? "" : `, ${secondsText(seconds)}`}.`;
    };
    this.status.textContent = [before, words("The question", this.wanted()), words("The whole study", allScenarios(this.experiment as Experiment))].filter(Boolean).join(" ");
  }

  private async run(scenarios: readonly number[]): Promise<void> {
    const { found, timed } = this.kept;
    const count = this.left(scenarios);
    if (count === 0) return this.tell();
    const [wish, question] = [++this.wish, this.question];
    this.problem.textContent = "";
    this.halt.disabled = false;
    this.bar.hidden = false;
    const began = performance.now();
    const before = { ...timed };
    const spent = () => (performance.now() - began) / 1000;
    let done = 0;
    try {
      const isWhole = await this.runner.run(found, scenarios, {
        progress: (share) => {
          this.bar.value = share;
          const rest = share > 0.02 ? (spent() / share) * (1 - share) : undefined;
          this.status.textContent = `${done} of ${count} runs${rest === undefined ? "" : `; ${secondsText(rest)} left`}.`;
        },
        ran: () => {
          done += 1;
          Object.assign(timed, { runs: before.runs + done, seconds: before.seconds + spent() });
          if (performance.now() - this.shown > SHOWN_EVERY) this.show();
        },
      });
      if (wish !== this.wish) return;
      this.rest();
      this.show();
      if (!isWhole) this.tell("Stopped; what has finished is shown.");
      else if (question !== this.question) this.begin();
      else this.tell(`${done} run${done === 1 ? "" : "s"} in ${spent().toFixed(1)} s.`);
    } catch (error) {
      if (wish !== this.wish) return;
      this.rest();
      this.show();
      this.tell();
      this.problem.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  private rest(): void {
    this.halt.disabled = true;
    this.bar.hidden = true;
  }

  /** Shows what is there; a new question has its list anew, too. */
  private show(isNew = false): void {
    const { found } = this.kept;
    const [studies, question] = [this.studies as Studies, this.question as Question];
    this.shown = performance.now();
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["key"] : undefined;
    const isShut = this.questions.querySelector("details")?.open === false;
    this.questions.replaceChildren(questionList(found, question, !isShut, (next) => this.choose(found.experiment, next)));
    const verdict = "claim" in question ? judge(found, question.claim) : undefined;
    const isArithmetic = "claim" in question && question.claim.fixed !== undefined;
    const base = isArithmetic ? "by arithmetic on printed figures, without a run" : "for the simulated figures";
    const word = verdict === undefined ? "It is judged when its cells are run." : `${verdict.holds ? "It holds" : "It does not hold"} ${base}: ${verdict.numbers}`;
    this.answer.replaceChildren(h("h4", {}, question.title), ...("claim" in question ? [h("p", { class: verdict === undefined ? "soft" : verdict.holds ? "near" : "far" }, word)] : [h("p", { class: "soft" }, LEGEND)]));
    const run = (places: Place[]) => void this.run(scenariosFor(found.experiment, places));
    const scrolled = [this.cells, this.whole].map((part) => [...part.querySelectorAll(".scroll")].map(({ scrollTop, scrollLeft }) => ({ top: scrollTop, left: scrollLeft })));
    const places = placesFor(question);
    this.cells.replaceChildren(...("claim" in question ? (places.length > 0 ? [readTable(found, places, studies)] : []) : [cellsTable(found, question.table, studies, run)]));
    const rows = summaries(found, studies.near, studies.far);
    this.whole.replaceChildren(h("h3", {}, "The whole study"), ...(rows.length > 0 ? [summaryTable(rows, studies)] : [h("p", { class: "soft" }, "No cell with a published figure was run yet.")]), claimsTable(found), ...(found.experiment.not_modelled.length > 0 ? [leftOutTable(found)] : []));
    if (!isNew) [this.cells, this.whole].forEach((part, at) => [...part.querySelectorAll(".scroll")].forEach((one, place) => one.scrollTo(scrolled[at]?.[place] ?? {})));
    // What had the focus was made anew.
    if (focused !== undefined) this.element.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    this.element.dataset["study"] = found.experiment.name;
    this.element.dataset["runs"] = String(found.digests.size);
    if (isNew || this.halt.disabled || performance.now() - this.drawnAt > DRAWN_EVERY) this.draw(true);
  }

  private drawn = "";
  private drawnAt = 0;
  /** The number of the newest drawing: an older one that comes later is dropped. */
  private drawing = 0;

  private draw(isNew = false): void {
    if (this.experiment === undefined || this.question === undefined) return;
    const width = Math.max(220, Math.min(1100, this.answer.clientWidth - 40));
    if (!isNew && this.drawn === String(width)) return;
    this.drawn = String(width);
    this.drawnAt = performance.now();
    const spec = studySpec(rowsOf(this.kept.found, this.question), width);
    if (spec === undefined) return this.chart.replaceChildren();
    const number = ++this.drawing;
    const { title } = this.question;
    void this.drawnBy(spec, title).then(
      (host) => number === this.drawing && this.chart.replaceChildren(host),
      (error: unknown) => (this.problem.textContent = error instanceof Error ? error.message : String(error)),
    );
  }

  private async drawnBy(spec: Spec, title: string): Promise<HTMLElement> {
    await addScript("charts.js");
    const host = h("div", { role: "img", "aria-label": title });
    await (globalThis as { drivelabCharts?: Charts }).drivelabCharts?.draw(host, spec, matchMedia("(prefers-color-scheme: dark)").matches);
    return host;
  }
}
