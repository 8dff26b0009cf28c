// The room "A queue at work": two drives with the same commands, driven by the logs of two real runs.
import type { DriveEntry, Point } from "../core/answers";
import { type Core, type Outcome, Problems, Stopped } from "../core/client";
import { field, h, select } from "../page/dom";
import { figure, ms } from "../page/figures";
import { shareBar } from "../page/share";
import { iopsRange, timesAsMany } from "../record/ranges";
import { type Film, type Frame, filmOf, frameAt, soFar, stepFrom } from "./frames";
import { coloursOf, drawFrame } from "./platter";
import { DEPTH_MAX, QUEUES, SHOWN, type Setting, scenarioOf, settingOf, stateOf } from "./sides";

const SPEEDS = [0.002, 0.01, 0.05, 0.2, 1] as const;
/** Between two steps, for those who want no motion. */
const CALM_MS = 700;
/** Between two descriptions in words while it plays. */
const WORDS_MS = 500;
const RW = [["randread", "random reads"], ["randwrite", "random writes"], ["randrw", "random reads and writes"], ["read", "sequential reads"]] as const;

/** The range of a point's I/Os per second, where it has one. */
function rangeOf(point: Point): string {
  const range = iopsRange(point);
  return range ? ` (${figure(range.iops_low)} to ${figure(range.iops_high)}: not all was measured on this drive)` : "";
}

const SIZES = ["4KiB", "64KiB", "1MiB"].map((size) => [size, size] as const);

class Pane {
  readonly canvas = h("canvas", { role: "img" });
  readonly figures = h("dl", { class: "figures" });
  readonly now = h("p", { class: "now" });
  readonly whole = h("p", { class: "whole" });
  readonly problem = h("p", { class: "problem", role: "alert" });
  outcome: Outcome | undefined;
  film: Film | undefined;

  /** Nothing of the run before may stand beside an error. */
  clear(): void {
    this.outcome = this.film = undefined;
    this.whole.textContent = this.now.textContent = "";
  }

  show(outcome: Outcome): void {
    this.clear();
    this.outcome = outcome;
    const point = outcome.points[0];
    this.film = point && filmOf(point);
    this.problem.textContent = outcome.failures[0] ? (JSON.parse(outcome.failures[0]) as { message: string }).message : "";
    const latency = point?.latency_ns;
    this.whole.textContent = point
      ? `The whole run, ${figure(latency?.n)} I/Os: ${figure(point.iops)} IOPS${rangeOf(point)}, mean ${ms(latency?.mean)} ms, p50 ${ms(latency?.p50)} ms, p99 ${ms(latency?.p99)} ms, longest ${ms(latency?.max)} ms`
      : "";
    const buffered = this.film?.buffered.length ?? 0;
    if (buffered > 0) this.whole.textContent += `. Of the ${figure(point?.commands?.length)} shown the buffer answered ${figure(buffered)}, which have no place on the platter`;
    if (point && !this.film?.commands.length) this.problem.textContent = "No command reached the platters: there is no way of the arm to show.";
  }
}

export class QueueRoom {
  readonly element = h("section", { "aria-labelledby": "queue-title" });
  private readonly panes = [new Pane(), new Pane()] as const;
  private setting: Setting;
  private at = 0;
  private speed: number = 0.01;
  private isPlaying = false;
  private isRunning = false;
  private isWanted = false;
  private last = 0;
  private described = 0;
  private readonly isCalm = matchMedia("(prefers-reduced-motion: reduce)");
  private readonly scrub = h("input", { type: "range", min: 0, max: 1000, value: 0, step: "any", input: () => this.seek((this.end() * Number(this.scrub.value)) / 1000) });
  private readonly play = h("button", { type: "button", class: "main", click: () => this.setPlaying(!this.isPlaying) }, "Play");
  private readonly clock = h("output", { class: "clock" });
  private readonly depth = h("input", { type: "range", min: 0, max: 8, step: 1 });
  private readonly depthText = h("output", { class: "depth-text" });
  private readonly overtaken = h("div", { class: "overtaken" });
  private readonly status = h("p", { class: "status", role: "status" });

  constructor(
    private readonly core: Core,
    private readonly drives: readonly DriveEntry[],
    state: Record<string, string>,
    private readonly changed: (state: Record<string, string>) => void,
  ) {
    this.setting = settingOf(state);
    this.at = Number(state["t"]) >= 0 ? Number(state["t"]) : 0;
    this.build();
    this.run();
  }

  /** Stops what moves, as the room is left. */
  leave(): void {
    this.setPlaying(false);
  }

  private build(): void {
    const { setting } = this;
    // A flash drive has no platter to look at.
    const drives = this.drives.filter(({ facts }) => facts["rpm"] !== undefined).map(({ name, facts }) => [name, `${name} (${facts["rpm"] ?? ""})`] as const);
    const change = (act: () => void) => () => {
      act();
      this.run();
    };
    const panes = this.panes.map((pane, side) => {
      const own = setting.sides[side as 0 | 1];
      const drive = select(drives, own.drive, change(() => (own.drive = drive.value)));
      const queue = select(QUEUES.map(([name, words]) => [name, words] as const), own.queue, change(() => (own.queue = queue.value)));
      const name = side === 0 ? "Left" : "Right";
      return h(
        "article",
        { class: "pane", "aria-label": `${name} drive` },
        h("div", { class: "fields" }, field(`${name} drive`, drive), field(`${name} queue`, queue)),
        pane.canvas,
        pane.problem,
        pane.figures,
        pane.now,
        pane.whole,
        shareBar(this.core, `The ${name.toLowerCase()} drive's run`, () => ({ name: `queue-${name.toLowerCase()}`, toml: scenarioOf(setting, own), log: SHOWN, outcome: pane.outcome })),
      );
    });
    const rw = select(RW, setting.rw, change(() => (setting.rw = rw.value)));
    const bs = select(SIZES, setting.bs, change(() => (setting.bs = bs.value)));
    this.depth.value = String(Math.log2(setting.depth));
    this.depth.addEventListener("input", () => {
      setting.depth = Math.min(2 ** Number(this.depth.value), DEPTH_MAX);
      this.run();
    });
    const seed = h("input", { type: "number", min: 1, max: 2 ** 31, value: setting.seed, change: change(() => (setting.seed = settingOf({ seed: seed.value }).seed)) });
    const speed = select(SPEEDS.map((one) => [String(one), one === 1 ? "real time" : `${1 / one} times slower`] as const), String(this.speed), () => (this.speed = Number(speed.value)));
    const depth = field("Queue depth", this.depth);
    depth.append(this.depthText);
    this.element.append(
      h("h2", { id: "queue-title" }, "A queue at work"),
      h("p", {}, "Two drives get the same commands at the same depth. Each dot is a command that waits, where its sector is on the platter at this moment. What moves is the log of a real run of the simulator."),
      h("div", { class: "fields controls" }, depth, field("Workload", rw), field("Block size", bs), field("Seed", seed)),
      h(
        "div",
        { class: "player", role: "group", "aria-label": "Playing" },
        this.play,
        h("button", { type: "button", click: () => this.step(true) }, "Step back"),
        h("button", { type: "button", click: () => this.step(false) }, "Step"),
        field("Time", this.scrub),
        this.clock,
        field("Speed", speed),
      ),
      this.status,
      h(
        "ul",
        { class: "legend" },
        ...([["waiting", "waits, the fuller the longer"], ["old", "waited ten turns, and was overtaken"], ["oldest", "waits longest"], ["served", "is served"]] as const).map(([kind, words]) => h("li", { class: kind }, words)),
      ),
      h("div", { class: "panes" }, ...panes),
      h("h3", {}, "Who overtook whom"),
      this.overtaken,
    );
    new ResizeObserver(() => this.draw()).observe(this.panes[0].canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** Runs both sides; while they run, only the latest wish is kept. */
  private run(): void {
    this.depth.setAttribute("aria-valuetext", `${this.setting.depth} commands`);
    this.depthText.textContent = `${this.setting.depth}`;
    this.isWanted = true;
    if (!this.isRunning) void this.runWanted();
  }

  private async runWanted(): Promise<void> {
    this.isRunning = true;
    while (this.isWanted) {
      this.isWanted = false;
      for (const side of [0, 1] as const) {
        const pane = this.panes[side];
        try {
          pane.show(await this.core.run({ text: scenarioOf(this.setting, this.setting.sides[side]), origin: "scenario.toml", log: SHOWN }));
        } catch (error) {
          if (error instanceof Stopped) continue;
          pane.clear();
          const first = error instanceof Problems ? error.list[0] : undefined;
          pane.problem.textContent = first ? `${first.message}${first.remedy ? `: ${first.remedy}` : ""}` : String(error);
        }
      }
      this.compare();
      this.seek(Math.min(this.at, this.end()));
    }
    this.isRunning = false;
    this.tell();
  }

  private compare(): void {
    const [left, right] = this.panes.map((pane) => pane.outcome?.points[0]);
    this.status.textContent = left && right ? `At depth ${this.setting.depth} the right drive does ${timesAsMany(right, left, this.isSameDrive())} the I/Os per second of the left one.` : "";
    this.element.dataset["digests"] = this.panes.map((pane) => pane.outcome?.points[0]?.digest ?? "").join(",");
  }

  private isSameDrive(): boolean {
    const [left, right] = this.setting.sides;
    return left.drive === right.drive;
  }

  private tell(): void {
    this.changed({ ...stateOf(this.setting), t: String(Math.round(this.at)) });
  }

  private films(): Film[] {
    return this.panes.flatMap((pane) => (pane.film?.commands.length ? [pane.film] : []));
  }

  private end(): number {
    const ends = this.films().map((film) => film.end_ns);
    return ends.length > 0 ? Math.min(...ends) : 0;
  }

  private step(back: boolean): void {
    this.setPlaying(false);
    this.seek(stepFrom(this.films(), this.at, back));
    this.tell();
  }

  private seek(at: number): void {
    this.at = at;
    this.draw();
    if (!this.isPlaying) this.explain();
  }

  private setPlaying(isPlaying: boolean): void {
    if (isPlaying === this.isPlaying) return;
    this.isPlaying = isPlaying;
    this.play.textContent = isPlaying ? "Pause" : "Play";
    if (isPlaying) {
      if (this.at >= this.end()) this.at = 0;
      this.last = performance.now();
      requestAnimationFrame((now) => this.tick(now));
    } else {
      this.explain();
      this.tell();
    }
  }

  private tick(now: number): void {
    if (!this.isPlaying) return;
    if (this.isCalm.matches) {
      // Nothing turns: one command after the other.
      if (now - this.last >= CALM_MS) {
        this.at = stepFrom(this.films(), this.at);
        this.last = now;
      }
    } else {
      this.at += (now - this.last) * 1e6 * this.speed;
      this.last = now;
    }
    if (this.at >= this.end()) {
      this.at = this.end();
      this.setPlaying(false);
    }
    this.draw();
    // What somebody is reading by keyboard is not taken away.
    if (now - this.described >= WORDS_MS && !this.overtaken.contains(document.activeElement)) {
      this.described = now;
      this.explain();
    }
    requestAnimationFrame((next) => this.tick(next));
  }

  private draw(): void {
    const end = this.end();
    this.scrub.value = String(end > 0 ? (1000 * this.at) / end : 0);
    this.scrub.setAttribute("aria-valuetext", `${(this.at / 1e6).toFixed(1)} ms`);
    this.clock.textContent = `${(this.at / 1e6).toFixed(1)} ms of ${(end / 1e6).toFixed(0)} ms`;
    const colours = coloursOf(this.element);
    for (const pane of this.panes) {
      if (!pane.film?.commands.length) {
        pane.figures.replaceChildren();
        pane.canvas.getContext("2d")?.clearRect(0, 0, pane.canvas.width, pane.canvas.height);
        continue;
      }
      const frame = frameAt(pane.film, this.at);
      drawFrame(pane.canvas, pane.film, frame, this.at, colours);
      this.figures(pane, pane.film, frame);
    }
  }

  private figures(pane: Pane, film: Film, frame: Frame): void {
    const known = soFar(film, frame, this.at);
    const longest = known.longest ? `${ms(known.longest.age_ns)} ms (#${known.longest.command.id})` : "–";
    const pairs = [
      ["Done", `${known.done}`],
      ["IOPS so far", figure(known.iops)],
      ["Mean, ms", ms(known.mean_ns)],
      ["p50, ms", ms(known.p50_ns)],
      ["p95, ms", ms(known.p95_ns)],
      ["Waiting", `${known.waiting}`],
      ["Waits longest", longest],
    ] as const;
    if (pane.figures.children.length === 0) {
      pane.figures.append(...pairs.map(([name]) => h("div", {}, h("dt", {}, name), h("dd", {}))));
    }
    pairs.forEach(([, value], at) => {
      const cell = pane.figures.children[at]?.lastElementChild;
      if (cell && cell.textContent !== value) cell.textContent = value;
    });
  }

  /** In words: what each drive does, and who overtook whom. */
  private explain(): void {
    const rows = this.panes.flatMap((pane, side) => {
      if (!pane.film?.commands.length) return [];
      const frame = frameAt(pane.film, this.at);
      const verbs = { seek: "moves its arm to", rotation: "waits for the platter to bring", transfer: "transfers", other: "is about to serve" };
      pane.now.textContent = frame.now
        ? `It ${verbs[frame.doing]} command #${frame.now.id}; ${frame.waiting.length} wait.`
        : `${frame.waiting.length} commands wait.`;
      pane.canvas.setAttribute("aria-label", `The ${side === 0 ? "left" : "right"} platter. ${pane.now.textContent}`);
      const ends = [...frame.done].sort((one, other) => one.completed_ns - other.completed_ns);
      return ends.slice(-8).map((one) => ({ side, one }));
    });
    const list = (ids: number[]) => (ids.length === 0 ? "none" : ids.slice(0, 8).map((id) => `#${id}`).join(" ") + (ids.length > 8 ? ` and ${ids.length - 8} more` : ""));
    this.overtaken.replaceChildren(
      ...[0, 1].map((side) =>
        h(
          "div",
          { class: "scroll", tabindex: 0, role: "region", "aria-label": `${side === 0 ? "Left" : "Right"} drive, last commands` },
          h(
            "table",
            {},
            h("caption", {}, `${side === 0 ? "Left" : "Right"} drive: the last commands, by their ends`),
            h("thead", {}, h("tr", {}, ...["Command", "Response, ms", "Overtook", "Overtaken by"].map((name) => h("th", { scope: "col" }, name)))),
            h(
              "tbody",
              {},
              ...rows
                .filter((row) => row.side === side)
                .map(({ one }) => h("tr", {}, h("th", { scope: "row" }, `#${one.id}`), h("td", {}, ms(one.completed_ns - one.submitted_ns)), h("td", {}, list(one.overtook)), h("td", {}, list(one.overtakenBy)))),
            ),
          ),
        ),
      ),
    );
  }
}
