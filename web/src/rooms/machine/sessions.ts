// The sessions of `drivelab emulate` on this machine: what each does at the moment, and the faults that it takes.
import type { Action, Machine, Moment, SessionRow } from "../../machine/client";
import { field, h } from "../../page/dom";
import { figure, ms } from "../../page/figures";

/** Each detail of a fault: its label, and what is typed. */
const DETAILS: Record<string, readonly [label: string, hint: string, isCount: boolean]> = {
  lba: ["lba", "first sector of the member", true],
  sectors: ["sectors", "number of sectors", true],
  for: ["for", "a time, such as 5s", false],
  by: ["by", "delay of each command; 0s ends it", false],
  factor: ["factor", "times as long; 1 ends it", true],
  over: ["over", "the delay grows over this time", false],
  share: ["share", "of the commands, such as 1%", false],
  every: ["every", "period of bursts", false],
};

/** What a session does, as names and figures. */
export function figuresOf(moment: Moment): [string, string][] {
  const rate = moment.bytes_per_s;
  const [latency, lateness] = [moment.latency_ns, moment.lateness_ns];
  return [
    ["Depth", figureOrNone(moment.depth)],
    ["IOPS", figure(moment.iops)],
    ["MB/s", figure(rate === null || rate === undefined ? null : rate / 1e6)],
    ["Latency, ms", ms(latency?.mean)],
    ["p99 so far, ms", ms(latency?.p99)],
    ["Late, mean ms", ms(lateness?.mean)],
    ["Late, p99 ms", ms(lateness?.p99)],
    ["Late, most ms", ms(lateness?.max)],
    ["Commands so far", figureOrNone(moment.commands)],
    ["Errors so far", figureOrNone(moment.errors)],
  ];
}

const figureOrNone = (count: number | undefined) => (count === undefined ? "–" : count.toLocaleString("en-US"));

/** The details of a fault that its action takes and that are filled in, as the machine reads them. */
export function detailsOf(takes: readonly string[], filled: Record<string, string>, duringWrite: boolean): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const name of takes) {
    const text = filled[name]?.trim() ?? "";
    if (name in DETAILS && text !== "") found[name] = DETAILS[name]?.[2] && /^\d+$/.test(text) ? Number(text) : text;
  }
  if (duringWrite && takes.includes("during_write")) found["during_write"] = true;
  return found;
}

export class SessionsPanel {
  readonly element = h("div", { role: "region", "aria-labelledby": "sessions-title" });
  private readonly list = h("div", {});
  private readonly problem = h("p", { class: "problem", role: "alert" });
  private cards: SessionCard[] = [];
  private actions: readonly Action[] = [];

  constructor(private readonly machine: Machine) {
    this.element.append(
      h("h3", { id: "sessions-title" }, "Sessions of emulate"),
      h("div", { class: "share" }, h("button", { type: "button", click: () => void this.again() }, "Look for sessions")),
      this.problem,
      this.list,
    );
  }

  begin(actions: readonly Action[], rows: readonly SessionRow[]): void {
    this.actions = actions;
    this.show(rows);
  }

  leave(): void {
    for (const card of this.cards) card.leave();
  }

  private async again(): Promise<void> {
    this.problem.textContent = "";
    try {
      this.show(await this.machine.sessions());
    } catch (error) {
      this.problem.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  private show(rows: readonly SessionRow[]): void {
    this.leave();
    this.cards = rows.map((row) => new SessionCard(this.machine, row, this.actions));
    const none = h("p", { class: "soft" }, "No device is served. `drivelab emulate --drive wd-4tb-7200` serves one; a socket at a place of its own is named with `drivelab page --session SOCKET`.");
    this.list.replaceChildren(...(rows.length > 0 ? this.cards.map((card) => card.element) : [none]));
    this.element.dataset["sessions"] = String(rows.length);
  }
}

/** A session: it is watched as long as the card is there. */
class SessionCard {
  readonly element = h("article", { class: "pane session" });
  private readonly stop = new AbortController();
  private readonly figures = h("dl", { class: "figures" });
  private readonly since = h("p", { class: "soft" });
  private readonly inForce = h("ul", { class: "notes", "aria-label": "State, and faults in force" });
  private readonly answer = h("p", { class: "status", role: "status" });
  private readonly member = h("input", { type: "number", min: 0, max: 65_535, value: 0 });
  private readonly fields = new Map<string, HTMLInputElement>();
  private readonly duringWrite = h("input", { type: "checkbox" });

  constructor(
    private readonly machine: Machine,
    private readonly row: SessionRow,
    actions: readonly Action[],
  ) {
    const size = row.size_bytes ? `, ${figure(row.size_bytes / 1e9)} GB` : "";
    const name = `${row.name ?? row.named}${size}${row.clock ? `, clock ${row.clock}` : ""}`;
    this.element.append(h("h4", {}, name), h("p", { class: "soft path" }, row.named));
    if (row.error !== undefined) {
      this.element.append(h("p", { class: "problem" }, row.error));
      return;
    }
    this.element.append(this.figures, this.since, h("h4", {}, "State, and faults in force"), this.inForce, this.faults(actions), this.answer);
    void this.watch();
  }

  leave(): void {
    this.stop.abort();
  }

  private async watch(): Promise<void> {
    try {
      const why = await this.machine.watch(this.row.id, (moment) => this.heard(moment), this.stop.signal);
      this.ended(why);
    } catch (error) {
      if (!this.stop.signal.aborted) this.ended(error instanceof Error ? error.message : String(error));
    }
  }

  private ended(why: string): void {
    this.element.dataset["ended"] = "true";
    this.answer.textContent = `The session has ended: ${why}`;
    for (const button of this.element.querySelectorAll("button")) button.disabled = true;
  }

  private heard(moment: Moment): void {
    this.figures.replaceChildren(...figuresOf(moment).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    this.since.textContent = moment.seconds === undefined ? "This device tells its state alone; one of this drivelab tells figures too." : `Rates and means of the last ${figure(moment.seconds)} s of the model, which is at ${figure((moment.model_ns ?? 0) / 1e9)} s.`;
    const shown = [...this.inForce.children].map((one) => one.textContent);
    const next = moment.in_force.length > 0 ? moment.in_force : ["nothing"];
    // What stays the same is left alone: a text that is being selected stays so.
    if (shown.join("\n") !== next.join("\n")) this.inForce.replaceChildren(...next.map((text) => h("li", {}, text)));
    this.element.dataset["moments"] = String(Number(this.element.dataset["moments"] ?? 0) + 1);
  }

  private faults(actions: readonly Action[]): HTMLElement {
    const details = Object.entries(DETAILS).map(([name, [label, hint, isCount]]) => {
      const input = h("input", isCount ? { type: "number", min: 0 } : { type: "text", maxlength: 40 });
      this.fields.set(name, input);
      return field(label, input, hint);
    });
    const rows = actions.map((action) =>
      h("li", {}, h("button", { type: "button", click: () => void this.act(action) }, action.name), h("span", {}, ...inWords(action))),
    );
    return h(
      "details",
      {},
      h("summary", {}, "Faults"),
      h("div", { class: "fields" }, field("member", this.member, "number of the drive, from 0"), ...details, field("during-write", this.duringWrite, "power-cut: while a write is under way")),
      h("ul", { class: "faults" }, ...rows),
    );
  }

  private async act(action: Action): Promise<void> {
    this.answer.textContent = "";
    const filled = Object.fromEntries([...this.fields].map(([name, input]) => [name, input.value]));
    try {
      const member = action.takes.includes("member") ? Number(this.member.value) : 0;
      const told = await this.machine.fault(this.row.id, action.name, member, detailsOf(action.takes, filled, this.duringWrite.checked));
      this.answer.textContent = `${action.name}: ${told}`;
    } catch (error) {
      this.answer.textContent = `${action.name}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
}

/** What an action does, its details as they are labelled. */
function inWords({ what }: Action): (string | HTMLElement)[] {
  return what.split(/--([a-z][a-z-]*)/).map((part, at) => (at % 2 === 0 ? part : h("code", {}, part)));
}
