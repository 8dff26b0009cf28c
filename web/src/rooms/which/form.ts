// The forms of the room "Which array": the drives and levels, the load, what is needed, what fails.
import { ARRIVALS, KINDS } from "../../arrays/load";
import type { DriveEntry } from "../../core/answers";
import type { LevelEntry } from "../../core/arrays";
import { field, h, select } from "../../page/dom";
import { levelsOf, MEMBERS_MAX, NUMBERS, type NumberKey, QUANTILES, type Setting, settingOf, stateOf, WHERE, wrongOf } from "./setting";

const SIZES = ["4KiB", "8KiB", "16KiB", "64KiB", "256KiB", "1MiB"].map((size) => [size, size] as const);
const ASKED = [["rate", "requests per second"], ["depth", "requests outstanding"]] as const;
const LIVES = [["afr", "a share of drives that fail in a year"], ["mttf", "a mean time to failure"]] as const;

/** The label of each key that the core may find something wrong with. */
export const LABELS: Record<string, string> = {
  afr: "Drives that fail in a year",
  mttf: "Mean time to failure",
  ure: "Unreadable sectors",
  scrub: "Scrub every",
  detection: "Failure noticed after",
  replacement: "New drive there after",
  spares: NUMBERS.spares.label,
  common: "Failures that come together",
  batch: "Bad batches",
};

export class Form {
  readonly element = h("form", { class: "array-form", "aria-label": "Which array", submit: (event) => event.preventDefault() });
  private readonly shown: [HTMLElement, (setting: Setting) => boolean][] = [];

  constructor(
    private setting: Setting,
    private readonly drives: readonly DriveEntry[],
    private readonly levels: readonly LevelEntry[],
    private readonly changed: (setting: Setting) => void,
    /** Something was typed that cannot be: the setting stays. */
    private readonly refused: (wrong: string[]) => void,
  ) {
    this.element.append(this.arrays(), this.load(), this.need(), this.failures());
    this.update();
  }

  private set(part: Record<string, string>): void {
    const wrong = wrongOf(part);
    if (wrong.length > 0) return this.refused(wrong);
    this.setting = settingOf({ ...stateOf(this.setting), ...part }, this.setting);
    this.update();
    this.changed(this.setting);
  }

  private update(): void {
    for (const [element, is] of this.shown) element.hidden = !is(this.setting);
  }

  private when(element: HTMLElement, is: (setting: Setting) => boolean): HTMLElement {
    this.shown.push([element, is]);
    return element;
  }

  private choose(label: string, key: keyof Setting, options: readonly (readonly [string, string])[]): HTMLElement {
    const control = select(options, String(this.setting[key]), () => this.set({ [key]: control.value }));
    return field(label, control);
  }

  private number(key: NumberKey, hint?: string): HTMLElement {
    const { label, least, most } = NUMBERS[key];
    const control = h("input", { type: "number", min: least, max: most, step: "any", value: String(this.setting[key]), change: () => {
      // The browser gives no text of what is no number.
      this.set({ [key]: control.validity.badInput ? "no number" : control.value });
      // What cannot be is shown as what holds in its place.
      control.value = String(this.setting[key]);
    } });
    return field(label, control, hint);
  }

  private text(label: string, key: keyof Setting, hint?: string): HTMLElement {
    const control = h("input", { type: "text", value: String(this.setting[key]), autocomplete: "off", spellcheck: "false", change: () => {
      this.set({ [key]: control.value });
      control.value = String(this.setting[key]);
    } });
    return field(label, control, hint);
  }

  private arrays(): HTMLElement {
    const names = this.drives.map(({ name, facts }) => [name, `${name} (${[facts["rpm"], facts["identity.interface"]].filter(Boolean).join(", ")})`] as const);
    return h(
      "fieldset",
      { class: "fields" },
      h("legend", {}, "The arrays to compare"),
      this.choose("Drive", "drive", names),
      this.text("Numbers of drives", "members", `4..8, or 4,6,8; up to ${MEMBERS_MAX}`),
      this.number("price", "the pick is the cheapest that holds"),
      this.text("Currency", "currency"),
      this.checks(),
    );
  }

  private checks(): HTMLElement {
    const chosen = new Set(levelsOf(this.setting));
    const one = (name: string) => {
      const box = h("input", { type: "checkbox", checked: chosen.has(name), change: () => {
        if (box.checked) chosen.add(name);
        else chosen.delete(name);
        this.set({ levels: this.levels.filter((level) => chosen.has(level.name)).map((level) => level.name).join(",") });
      } });
      return h("label", { class: "check" }, box, ` ${name}`);
    };
    return h("fieldset", { class: "checks" }, h("legend", {}, "Levels"), ...this.levels.map(({ name }) => one(name)));
  }

  private load(): HTMLElement {
    const isMixed = ({ rw }: Setting) => rw === "rw" || rw === "randrw";
    const sync = h("input", { type: "checkbox", checked: this.setting.sync, change: () => this.set({ sync: String(sync.checked) }) });
    return h(
      "fieldset",
      { class: "fields" },
      h("legend", {}, "Its load"),
      this.choose("Workload", "rw", Object.entries(KINDS)),
      this.choose("Block size", "bs", SIZES),
      this.when(this.number("reads"), isMixed),
      this.choose("Asked for", "ask", ASKED),
      this.when(this.number("rate"), ({ ask }) => ask === "rate"),
      this.when(this.choose("They come", "process", Object.entries(ARRIVALS).map(([name, words]) => [name, name === "poisson" ? "at random (Poisson)" : words] as const)), ({ ask }) => ask === "rate"),
      this.when(this.number("depth"), ({ ask }) => ask === "depth"),
      this.number("seed"),
      this.when(h("label", { class: "check" }, sync, " each write ends on the media (FUA)"), ({ rw }) => rw !== "read" && rw !== "randread"),
    );
  }

  private need(): HTMLElement {
    return h(
      "fieldset",
      { class: "fields" },
      h("legend", {}, "What is needed"),
      this.number("capacity"),
      this.choose("Response time", "quantile", QUANTILES.map((name) => [name, name] as const)),
      this.number("most", "empty or 0: no limit"),
      this.number("iops", "empty or 0: no limit"),
      this.choose("Time and IOPS hold", "states", WHERE),
      this.number("loss", "at most; empty or 0: no limit"),
    );
  }

  private failures(): HTMLElement {
    return h(
      "fieldset",
      { class: "fields" },
      h("legend", {}, "What fails, and how it is repaired"),
      this.choose("Life of a drive, as", "life", LIVES),
      this.when(this.text(LABELS["afr"] as string, "afr", "1.5%; empty: unknown"), ({ life }) => life === "afr"),
      this.when(this.text(LABELS["mttf"] as string, "mttf", "500000h; empty: unknown"), ({ life }) => life === "mttf"),
      this.text(LABELS["ure"] as string, "ure", "1e-15/bit, or none; empty: by the drive's class"),
      this.text(LABELS["replacement"] as string, "replacement", "2d; empty: at once"),
      this.text(LABELS["detection"] as string, "detection", "1h; empty: at once"),
      this.number("spares"),
      this.text(LABELS["scrub"] as string, "scrub", "1w; empty: never"),
      this.text(LABELS["common"] as string, "common", "shelf:20y:30%; empty: none"),
      this.text(LABELS["batch"] as string, "batch", "5%:8; empty: none"),
    );
  }
}
