// The room "An array": its map down to the sector, and what real runs say of a failure, a rebuild, a scrub, a power cut.
import type { DriveEntry } from "../../core/answers";
import type { LevelEntry } from "../../core/arrays";
import { type Core, type Outcome, Problems, Stopped } from "../../core/client";
import { h } from "../../page/dom";
import { fragmentOf } from "../../page/fragment";
import { figure } from "../../page/figures";
import { shareBar } from "../../page/share";
import { combinedDigest, ranged } from "../../record/record";
import { rangeNote } from "../../record/ranges";
import { wordsAt } from "../../scenario/schema";
import { CutView } from "./cut";
import { Form } from "./form";
import { MapView, ROWS } from "./map";
import { OverTime } from "./over-time";
import { type Found, PhasesView, foundOf } from "./phases";
import { type Phase, type Setting, cutOf, mainOf, phasesOf, plainOf, settingOf, stateOf } from "./setting";

const ORIGIN = "scenario.toml";
const SECTOR_BYTES = 512;
/** Outcomes that are kept for a change back. */
const KEPT_MAX = 24;

export class ArrayRoom {
  readonly element = h("section", { "aria-labelledby": "array-title" });
  private setting: Setting;
  private levels: LevelEntry[] = [];
  private schema: object = {};
  private form: Form | undefined;
  private text = "";
  private outcome: Outcome | undefined;
  private rebuild: Found | undefined;
  private wish = 0;
  private isBusy = false;
  /** Outcomes of states by their scenarios: most changes leave them as they are. */
  private readonly kept = new Map<string, Found>();
  private readonly view: { t: number; policy: string };
  private gone: ReadonlySet<number> = new Set();
  private lost: readonly { first_sector: number; sectors: number }[] = [];
  private readonly map: MapView;
  private readonly time: OverTime;
  private readonly cut: CutView;
  private readonly phases = new PhasesView();
  private readonly problems = h("ol", { class: "problems", "aria-label": "What is wrong", role: "alert" });
  private readonly status = h("p", { class: "status", role: "status" });
  private readonly note = h("p", { class: "soft lines" });
  private readonly bar = h("progress", { max: 1, value: 0, "aria-label": "Runs so far", hidden: true });
  private readonly start = h("button", { type: "button", class: "main", click: () => void this.change() }, "Run");
  private readonly halt = h("button", { type: "button", disabled: true, click: () => this.stop() }, "Stop");
  private readonly toml = h("pre", { class: "toml", tabindex: 0, role: "region", "aria-label": "Scenario as TOML" });
  private readonly open = h("a", { href: "#try" }, "Open it in the room Try");
  private readonly timePart = h("div", {});
  private readonly cutPart = h("div", {});
  private readonly phasesPart = h("div", {});
  private readonly rebuildPart = h("div", {});
  private readonly rebuildBar: HTMLElement;

  constructor(
    private readonly core: Core,
    private readonly drives: readonly DriveEntry[],
    state: Record<string, string>,
    private readonly changed: (state: Record<string, string>) => void,
  ) {
    this.setting = settingOf(state);
    const number = (name: string) => (/^\d+$/.test(state[name] ?? "") ? Number(state[name]) : undefined);
    this.view = { t: number("t") ?? 0, policy: state["policy"] ?? "" };
    this.map = new MapView({ first_row: number("row"), address: number("sector") }, () => void this.mapped());
    this.time = new OverTime(
      this.view.t,
      (at) => {
        this.view.t = Math.round(at);
        this.tell();
      },
      (gone) => this.mark(gone, []),
    );
    this.cut = new CutView(
      this.view.policy,
      (policy) => {
        this.view.policy = policy;
        this.tell();
      },
      (lost) => this.mark(this.setting.member < 0 ? new Set() : new Set([this.setting.member]), lost),
      (address) => this.map.look(address),
    );
    this.rebuildBar = shareBar(core, "The runs of the rebuild", () => ({ name: "rebuild", toml: this.rebuild?.phase.text ?? "", log: 0, outcome: this.rebuild?.outcome }));
    this.build();
    void this.begin();
  }

  leave(): void {
    this.wish++;
    this.core.stop();
  }

  private build(): void {
    this.timePart.append(h("h3", {}, "The run"), this.time.element);
    this.cutPart.append(h("h3", {}, "After the power cut"), this.cut.element);
    this.phasesPart.append(h("h3", {}, "Before, during and after"), this.phases.element, this.rebuildPart);
    this.rebuildPart.append(h("p", { class: "soft" }, "The runs of the rebuild, to take with you:"), this.rebuildBar);
    this.element.append(
      h("h2", { id: "array-title" }, "An array"),
      h("p", {}, "Several drives as one: where each sector lies, and what a failure, a rebuild, a scrub or a power cut does. Every figure is of a run of the simulator; the map is the one that it uses."),
    );
    this.element.append(
      h("div", { class: "player" }, this.start, this.halt, this.bar),
      this.status,
      this.problems,
      this.timePart,
      this.cutPart,
      this.phasesPart,
      this.note,
      h("h3", {}, "The map"),
      this.map.element,
      h("h3", {}, "The scenario"),
      this.toml,
      h("p", {}, this.open),
      shareBar(this.core, "This run", () => ({ name: "array", toml: this.text, log: 0, outcome: this.outcome })),
    );
  }

  /** What the forms offer comes from the core. */
  private async begin(): Promise<void> {
    [this.levels, this.schema] = await Promise.all([this.core.levels(), this.core.schema()]);
    this.form = new Form(this.setting, this.drives, this.levels, (setting) => {
      this.setting = setting;
      void this.change();
    });
    this.element.children[1]?.after(this.form.element);
    await this.change();
  }

  private mark(gone: ReadonlySet<number>, lost: readonly { first_sector: number; sectors: number }[]): void {
    [this.gone, this.lost] = [gone, lost];
    this.map.mark(gone, lost);
  }

  private tell(): void {
    const { first_row: row, address } = this.map.state();
    this.changed({ ...stateOf(this.setting), t: String(this.view.t), ...(this.view.policy ? { policy: this.view.policy } : {}), row: String(row), ...(address === undefined ? {} : { sector: String(address) }) });
  }

  private stop(): void {
    this.wish++;
    this.core.stop();
    this.busy(false);
    this.status.textContent = "Stopped; what has finished is below.";
  }

  private busy(isBusy: boolean): void {
    this.isBusy = isBusy;
    this.halt.disabled = !isBusy;
    this.bar.hidden = !isBusy;
    this.bar.value = 0;
  }

  /** Which of several words the core takes in a scenario. */
  private async taken(words: readonly string[], scenario: (word: string) => string): Promise<string[]> {
    const found: string[] = [];
    for (const word of words) {
      try {
        await this.core.check({ text: scenario(word) });
        found.push(word);
      } catch (error) {
        if (!(error instanceof Problems)) throw error;
      }
    }
    return found;
  }

  private async mapped(): Promise<void> {
    this.tell();
    const { first_row, address } = this.map.state();
    try {
      const level = this.levels.find(({ name }) => name === this.setting.level);
      this.map.show(await this.core.stripes({ text: plainOf(this.setting, level) }, { first_row, rows: ROWS, addresses: address === undefined ? [] : [address] }));
      this.map.mark(this.gone, this.lost);
    } catch (error) {
      if (error instanceof Problems) this.map.clear();
      else if (!(error instanceof Stopped)) throw error;
    }
  }

  /** The setting is another one: checks it, maps it, runs it. */
  private async change(): Promise<void> {
    const wish = ++this.wish;
    if (this.isBusy) this.core.stop();
    this.busy(false);
    this.status.textContent = "";
    delete this.element.dataset["digest"];
    try {
      await this.runAll(wish);
    } catch (error) {
      if (wish !== this.wish || error instanceof Stopped) return;
      this.clear();
      const list = error instanceof Problems ? error.list : [];
      this.problems.replaceChildren(...list.map((one) => h("li", {}, `${one.message}`, ...(one.remedy ? [h("br"), h("small", {}, `help: ${one.remedy}`)] : []))));
      if (list.length === 0) this.status.textContent = `error: ${error instanceof Error ? error.message : String(error)}`;
      await this.mapped();
    }
    if (wish === this.wish) this.busy(false);
  }

  private clear(): void {
    this.outcome = this.rebuild = undefined;
    this.time.clear();
    this.cut.clear();
    this.phases.clear();
    this.note.textContent = "";
    this.mark(new Set(), []);
  }

  private async runAll(wish: number): Promise<void> {
    const { setting } = this;
    const level = this.levels.find(({ name }) => name === setting.level);
    const isCut = setting.what === "cut";
    const words = (key: string) => wordsAt(this.schema, ["target", "array", key]);
    const policies = isCut && level?.write_hole ? await this.taken(words("write_hole"), (policy) => cutOf(setting, level, [policy])) : [];
    this.text = mainOf(setting, level, policies);
    this.toml.textContent = this.text;
    this.open.href = fragmentOf({ room: "try", state: { toml: this.text } });
    this.problems.replaceChildren();
    this.tell();
    const plan = await this.core.check({ text: this.text, origin: ORIGIN });
    if (wish !== this.wish) return;
    this.form?.update(level?.layout ? await this.taken(words("layout"), (layout) => plainOf(setting, level, layout)) : []);
    const known = await this.core.stripes({ text: plainOf(setting, level) }, {});
    await this.mapped();
    if (wish !== this.wish) return;
    const phases = phasesOf(setting, level, known.used * SECTOR_BYTES);
    [this.timePart.hidden, this.cutPart.hidden, this.phasesPart.hidden] = [isCut, !isCut, phases.length === 0];
    this.clear();
    this.busy(true);
    const rebuilds = phases.find((phase) => phase.isRebuild);
    this.rebuildPart.hidden = rebuilds === undefined;
    // A part of the whole for each point.
    const parts = plan.axes.length + phases.reduce((sum, phase) => sum + (phase.isRebuild ? 16 : 4), 0);
    let done = 0;
    const progress = (size: number) => (at: number, of: number) => (this.bar.value = (done + (size * at) / of) / parts);
    const began = performance.now();
    const outcome = await this.core.run({ text: this.text, origin: ORIGIN }, { progress: progress(plan.axes.length) });
    if (wish !== this.wish) return;
    done += plan.axes.length;
    this.show(outcome);
    const found: Found[] = [];
    for (const phase of phases) {
      const size = phase.isRebuild ? 16 : 4;
      const one = this.kept.get(phase.text) ?? (await this.measured(phase, progress(size)));
      if (wish !== this.wish) return;
      this.keep(phase.text, one);
      done += size;
      found.push({ ...one, phase });
      if (phase.isRebuild) this.rebuild = one;
      this.phases.show(found);
    }
    const points = [...outcome.points, ...found.flatMap((one) => one.outcome.points)];
    const ios = points.reduce((sum, point) => sum + point.latency_ns.n, 0);
    this.status.textContent = `${figure(ios)} I/Os in ${((performance.now() - began) / 1000).toFixed(2)} s. Scenario ${outcome.plan.scenario_hash}, digest ${combinedDigest(outcome.points)}.`;
    this.element.dataset["digest"] = combinedDigest(outcome.points);
  }

  private keep(text: string, found: Found): void {
    this.kept.delete(text);
    this.kept.set(text, found);
    const [oldest] = this.kept.keys();
    if (this.kept.size > KEPT_MAX && oldest !== undefined) this.kept.delete(oldest);
  }

  private async measured(phase: Phase, progress: (at: number, of: number) => void): Promise<Found> {
    return foundOf(this.core, phase, await this.core.run({ text: phase.text, origin: ORIGIN }, { progress }));
  }

  private show(outcome: Outcome): void {
    this.outcome = outcome;
    const failed = outcome.failures[0] ? (JSON.parse(outcome.failures[0]) as { message: string }).message : "";
    this.problems.replaceChildren(...(failed ? [h("li", {}, failed)] : []));
    if (this.setting.what === "cut") this.cut.show(outcome.points);
    else if (outcome.points[0]) this.time.show(outcome.points[0]);
    this.note.textContent = [...(this.setting.what === "cut" ? [] : outcome.plan.notes), rangeNote(ranged(outcome.points)) ?? ""].filter(Boolean).join("\n");
  }
}
