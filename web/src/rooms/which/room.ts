// The room "Which array": levels side by side under one load, the chance of loss with its causes, the cheapest that meets a
// need, and what that rests on, as `drivelab compare-levels` and `drivelab plan` answer.
import { assumesLine, changesLine, notesOf, nothingLines, pickLines } from "../../arrays/answer";
import { type Asked, type Candidate, arrayName, knowsFailures, lossPercent, nameOf } from "../../arrays/candidate";
import { type Drive, driveOf } from "../../arrays/drive";
import { candidatesOf, evaluate, isEarly, Runs } from "../../arrays/evaluate";
import { pickOf } from "../../arrays/judge";
import { REQUESTS, WARM_UP } from "../../arrays/load";
import { loadTurns } from "../../arrays/load-turns";
import { type Assumption, assumptionsOf, leftOut, ofLoad, sorted } from "../../arrays/sensitivity";
import type { DriveEntry } from "../../core/answers";
import { type Core, Problems, Stopped } from "../../core/client";
import { Refused } from "../../core/losses";
import { field, h, select } from "../../page/dom";
import { type Answered } from "./document";
import { Form, LABELS } from "./form";
import { askedOf, CANDIDATES_MAX, compareCommand, durabilityCommand, levelsOf, membersOf, membersWrong, planCommand, type Setting, settingOf, stateOf, wrongOf } from "./setting";
import { takeBar } from "./take";
import { assumptionsTable, levelsTable } from "./tables";
import { Tornado } from "./tornado";

/** The shares of the progress: the candidates, what their losses rest on; the load's bar, and where the pick turns with it. */
const CANDIDATES_SHARE = 0.7;
const FAILURES_SHARE = 0.1;
const LOAD_SHARE = 0.1;
const KNOWN_BY_OTHERS =
  "This room compares arrays of one kind of drive. In a terminal, drivelab plan also compares several kinds of drives and controllers, takes a budget, the price of power, a recorded trace, and layouts such as raid10:far. drivelab compare-levels --full has other loads and depths, and the rebuild of an idle array. drivelab durability has further causes of loss: latent defects, attended hours, a wrong drive that is pulled, outages.";

const OPEN = "Not all arrays are known yet.";

const chance = ({ losses }: Candidate) => (losses === undefined ? Number.POSITIVE_INFINITY : lossPercent(losses));

const region = (name: string) => h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name });

export class WhichRoom {
  readonly element = h("section", { "aria-labelledby": "which-title" });
  private setting: Setting;
  private form: Form | undefined;
  private readonly runs: Runs;
  private readonly known = new Map<string, Drive>();
  private wish = 0;
  private isBusy = false;
  private asked: Asked | undefined;
  private candidates: Candidate[] = [];
  private pick: Candidate | undefined;
  private assumptions: Assumption[] = [];
  /** The array whose chance of loss is taken apart; the pick where it is empty. */
  private subject: string;
  private isEarly = false;
  private isDone = false;
  /** Whether it is known what would change the pick. */
  private isApart = false;
  private readonly problems = h("ol", { class: "problems", "aria-label": "What is wrong", role: "alert" });
  /** What is wrong with the question, and what was typed and does not count. */
  private refused: HTMLElement[] = [];
  private typed: HTMLElement[] = [];
  private readonly status = h("p", { class: "status", role: "status" });
  private readonly bar = h("progress", { max: 1, value: 0, "aria-label": "Runs so far", hidden: true });
  private readonly start = h("button", { type: "button", class: "main", click: () => void this.change() }, "Run");
  private readonly halt = h("button", { type: "button", disabled: true, click: () => this.stop() }, "Stop");
  private readonly answer = h("ul", { class: "answer", "aria-label": "The answer" });
  private readonly table = region("Levels side by side");
  private readonly notes = h("ul", { class: "notes", "aria-label": "Remarks" });
  private readonly tornado = new Tornado();
  private readonly depends = region("What the chance of loss depends on");
  private readonly choice = h("div", { class: "fields controls" });
  private readonly rests = h("div", {});

  constructor(
    private readonly core: Core,
    private readonly drives: readonly DriveEntry[],
    private readonly state: Record<string, string>,
    private readonly changed: (state: Record<string, string>) => void,
  ) {
    this.setting = settingOf(state);
    this.subject = state["of"] ?? "";
    this.runs = new Runs(core);
    this.build();
    void this.begin();
  }

  leave(): void {
    this.wish++;
    this.core.stop();
  }

  private build(): void {
    this.rests.append(h("h3", {}, "What the chance of loss rests on"), this.choice, this.tornado.element, this.depends);
    this.element.append(
      h("h2", { id: "which-title" }, "Which array"),
      h("p", {}, "Levels side by side under your load: what each gives healthy, with a drive missing and while it is rebuilt, how likely it loses data and why, and the cheapest that meets your need. What stands in the fields at first is assumed: change what you know better."),
      h("div", { class: "player" }, this.start, this.halt, this.bar),
      this.status,
      this.problems,
      h("h3", {}, "The answer"),
      this.answer,
      this.table,
      this.notes,
      this.rests,
      takeBar(this.core, () => this.answered(), () => this.refused.length > 0),
      h("p", { class: "soft" }, KNOWN_BY_OTHERS),
    );
  }

  private async begin(): Promise<void> {
    try {
      const levels = await this.core.levels();
      const changed = (setting: Setting) => {
        this.setting = setting;
        this.clear();
        void this.change();
      };
      this.form = new Form(this.setting, this.drives, levels, changed, (wrong) => this.mistyped(wrong));
      this.element.children[1]?.after(this.form.element);
      const answering = this.change();
      this.mistyped(wrongOf(this.state));
      await answering;
    } catch (error) {
      if (!(error instanceof Stopped)) this.refuse(error);
    }
  }

  /** Fields that cannot be as typed: what stood there before holds. */
  private mistyped(wrong: readonly string[]): void {
    this.typed = wrong.map((text) => h("li", {}, text));
    this.tellProblems();
  }

  private tellProblems(): void {
    this.problems.replaceChildren(...this.refused, ...this.typed);
  }

  private tell(): void {
    this.changed({ ...stateOf(this.setting), ...(this.subject ? { of: this.subject } : {}) });
  }

  private stop(): void {
    this.wish++;
    this.core.stop();
    this.busy(false);
    this.status.textContent = "Stopped; what is known is below.";
  }

  private busy(isBusy: boolean): void {
    this.isBusy = isBusy;
    this.halt.disabled = !isBusy;
    this.bar.hidden = !isBusy;
    this.bar.value = 0;
  }

  /** The question is another one. */
  private async change(): Promise<void> {
    const wish = ++this.wish;
    if (this.isBusy) this.core.stop();
    this.tell();
    [this.refused, this.typed] = [[], []];
    this.tellProblems();
    this.isDone = this.isApart = false;
    delete this.element.dataset["pick"];
    this.busy(true);
    try {
      await this.answerTo(wish);
    } catch (error) {
      if (wish !== this.wish || error instanceof Stopped) return;
      this.clear();
      this.status.textContent = "";
      this.refuse(error);
    }
    if (wish === this.wish) this.busy(false);
  }

  private clear(): void {
    [this.candidates, this.pick, this.assumptions, this.asked] = [[], undefined, [], undefined];
    for (const part of [this.answer, this.table, this.notes, this.depends]) part.replaceChildren();
    this.tornado.clear();
    this.rests.hidden = true;
  }

  private refuse(error: unknown): void {
    const said = (what: string, remedy: string | null) => h("li", {}, what, ...(remedy ? [h("br"), h("small", {}, `help: ${remedy}`)] : []));
    if (error instanceof Refused) this.refused = error.list.map((one) => said(`${LABELS[one.key] ?? one.key}${one.given ? `, ${one.given}` : ""}: ${one.message}`, one.remedy));
    else if (error instanceof Problems) this.refused = error.list.map((one) => said(one.message, one.remedy));
    else if (error instanceof Wrong) this.refused = [said(error.message, error.remedy)];
    else this.refused = [said(error instanceof Error ? error.message : String(error), null)];
    this.tellProblems();
  }

  private async answerTo(wish: number): Promise<void> {
    const [levels, members] = questionOf(this.setting);
    const began = performance.now();
    this.status.textContent = "What is known at once: capacities, failures that each survives, the least chance of loss.";
    const drive = this.known.get(this.setting.drive) ?? (await driveOf(this.core, this.setting.drive));
    this.known.set(drive.name, drive);
    const asked = askedOf(this.setting, drive);
    const candidates = await candidatesOf(this.core, asked, levels, members);
    this.clear();
    [this.asked, this.candidates] = [asked, candidates];
    this.show();
    const watching = {
      told: () => {
        if (wish !== this.wish) throw new Stopped("stopped");
        this.show();
      },
      progress: (share: number, what: string) => this.went(wish, CANDIDATES_SHARE * share, what),
    };
    await evaluate(this.runs, candidates, asked, watching);
    this.pick = pickOf(candidates);
    this.isEarly = this.pick !== undefined && (await isEarly(this.runs, this.pick.made));
    this.isDone = true;
    this.show();
    await this.takeApart(wish);
    this.isApart = true;
    this.show();
    this.status.textContent = `All known after ${((performance.now() - began) / 1000).toFixed(1)} s. Seed ${asked.seed}, each state ${REQUESTS.toLocaleString("en-US")} requests after ${WARM_UP.replace("s", " s")}.`;
    this.element.dataset["pick"] = this.pick ? nameOf(this.pick) : "none";
  }

  private went(wish: number, share: number, what: string): void {
    if (wish !== this.wish) return;
    this.bar.value = share;
    this.status.textContent = `${Math.floor(100 * share)} %: ${what}`;
  }

  /** What the chance of loss of the subject depends on: what follows from the chain at once, the load after its runs. */
  private async takeApart(wish: number): Promise<void> {
    const { asked } = this;
    const subject = this.subjectOf() ?? this.pick;
    if (asked === undefined || subject === undefined) return;
    const went = (from: number, size: number, what: string) => (share: number) => this.went(wish, from + size * share, `${arrayName(subject)}, ${what}`);
    if (knowsFailures(asked)) this.assumptions = await assumptionsOf(this.core, subject, this.pick, this.candidates, asked, went(CANDIDATES_SHARE, FAILURES_SHARE, "what its chance of loss rests on"));
    this.show();
    const [from, size] = [CANDIDATES_SHARE + FAILURES_SHARE, LOAD_SHARE];
    const load = await ofLoad(this.runs, subject, asked, went(from, size, "half and twice the load"));
    if (load === undefined) return;
    this.assumptions = sorted([load, ...this.assumptions]);
    this.show();
    if (subject !== this.pick) return;
    load.turns = await loadTurns(this.runs, subject, this.candidates, asked, went(from + size, size, "more and less load"));
    this.show();
  }

  /** The array that is chosen, else the pick, else the one that loses data least. */
  private subjectOf(): Candidate | undefined {
    const known = this.apart();
    const least = [...known].sort((one, other) => chance(one) - chance(other))[0];
    return known.find((one) => arrayName(one) === this.subject) ?? known.find((one) => one === this.pick) ?? least;
  }

  private apart(): Candidate[] {
    return this.asked !== undefined && knowsFailures(this.asked) && this.isDone ? this.candidates.filter(({ losses, is_bound }) => losses !== undefined && !is_bound) : [];
  }

  private show(): void {
    const { asked, candidates, pick, assumptions } = this;
    if (asked === undefined) return;
    const found = this.answered();
    const open = [OPEN, assumesLine(asked)].filter((line) => line !== undefined);
    this.answer.replaceChildren(...(found?.lines ?? open).map((line, at) => h("li", at === 0 ? { class: "first" } : {}, line)));
    this.table.replaceChildren(levelsTable(candidates, pick, asked));
    this.notes.replaceChildren(...(found?.notes ?? []).map((note) => h("li", {}, note)));
    const subject = this.subjectOf();
    this.rests.hidden = subject === undefined || assumptions.length === 0;
    if (subject?.losses === undefined || assumptions.length === 0) return;
    const names = this.apart().map((one) => [arrayName(one), arrayName(one) + (one === pick ? " (the pick)" : "")] as const);
    const control = select(names, arrayName(subject), () => {
      this.subject = control.value;
      void this.change();
    });
    this.choice.replaceChildren(field("Chance of loss of", control));
    this.tornado.show(assumptions, lossPercent(subject.losses), asked.limits.loss_percent, arrayName(subject));
    this.depends.replaceChildren(assumptionsTable(assumptions, leftOut(asked), arrayName(subject), subject === pick));
  }

  /** A limit that nothing can be held to. */
  private unheld(): string[] {
    return this.setting.loss > 0 && this.asked !== undefined && !knowsFailures(this.asked) ? ["no array is held to the chance of loss: nothing says how often a drive fails"] : [];
  }

  private answered(): Answered | undefined {
    const { asked, candidates, pick, assumptions } = this;
    if (asked === undefined || !this.isDone) return undefined;
    const subject = this.subjectOf() ?? pick;
    const isOfPick = pick !== undefined && subject === pick;
    const assumes = assumesLine(asked);
    const lines = [
      ...(pick ? pickLines(pick, candidates, asked, this.isEarly) : nothingLines(candidates, asked)),
      ...(assumes ? [assumes] : []),
      ...(pick && isOfPick && this.isApart ? [changesLine(pick, candidates, assumptions, asked)] : []),
    ];
    const members = pick?.made.members ?? membersOf(this.setting)?.[0] ?? 4;
    const durability = durabilityCommand(this.setting, members, candidates.filter((one) => one.reason === undefined && one.made.members === members).map(({ made }) => made.level));
    return { asked, candidates, pick, assumptions, subject: assumptions.length > 0 ? subject : undefined, lines, notes: [...this.unheld(), ...notesOf(pick, candidates, isOfPick ? assumptions : [], asked)], commands: [planCommand(this.setting), compareCommand(this.setting, members), ...(durability ? [durability] : [])] };
  }
}

/** A field of the form that cannot be. */
class Wrong extends Error {
  constructor(
    message: string,
    readonly remedy: string,
  ) {
    super(message);
  }
}

/** The levels and the numbers of drives. Throws Wrong. */
function questionOf(setting: Setting): [string[], number[]] {
  const [levels, members] = [levelsOf(setting), membersOf(setting)];
  if (members === undefined) throw new Wrong(`Numbers of drives, ${setting.members}: ${membersWrong(setting)}`, "4..8, or 4,6,8");
  if (levels.length === 0) throw new Wrong("Levels: none is chosen", "choose those to compare, such as raid10 and raid6");
  if (levels.length * members.length > CANDIDATES_MAX) throw new Wrong(`${levels.length} levels of ${members.length} numbers of drives are ${levels.length * members.length} arrays, more than the ${CANDIDATES_MAX} that this page compares`, "choose fewer, or copy the command and run it in a terminal");
  return [levels, members];
}
