// The forms of the room "An array": the array, its load, and what goes wrong.
import type { DriveEntry } from "../../core/answers";
import type { LevelEntry } from "../../core/arrays";
import { field, h, select } from "../../page/dom";
import { type Event, LENGTH_MAX, MEMBERS_MAX, type Setting, settingOf, stateOf } from "./setting";

const RW = [["randread", "random reads"], ["randwrite", "random writes"], ["randrw", "random reads and writes"], ["read", "sequential reads"], ["write", "sequential writes"]] as const;
const SIZES = ["4KiB", "16KiB", "64KiB", "256KiB", "1MiB"].map((size) => [size, size] as const);
const UNITS = ["4KiB", "16KiB", "64KiB", "128KiB", "256KiB", "512KiB", "1MiB"].map((size) => [size, size] as const);
const DEPTHS = [1, 2, 4, 8, 16, 32, 64, 128].map((depth) => [String(depth), String(depth)] as const);
const EVENTS = [["fail", "a member fails"], ["scrub", "a scrub"], ["cut", "the power is cut"]] as const;
const PACES = [["draining", "draining: one request at a time under load"], ["waiting", "waiting: until the array is idle"]] as const;
const CACHES = [["", "the drive's own"], ["true", "on"], ["false", "off"]] as const;

export class Form {
  readonly element = h("form", { class: "array-form", "aria-label": "Array", submit: (event) => event.preventDefault() });
  private readonly members: HTMLSelectElement;
  private readonly layout = h("select", { change: () => this.set({ layout: this.layout.value }) });
  private readonly shown: [HTMLElement, (setting: Setting, level: LevelEntry | undefined) => boolean][] = [];

  constructor(
    private setting: Setting,
    private readonly drives: readonly DriveEntry[],
    private readonly levels: readonly LevelEntry[],
    private readonly changed: (setting: Setting) => void,
  ) {
    const names = this.drives.map(({ name, facts }) => [name, `${name} (${[facts["rpm"], facts["identity.interface"]].filter(Boolean).join(", ")})`] as const);
    const choose = (label: string, key: keyof Setting, options: readonly (readonly [string, string])[]) => {
      const control = select(options, String(setting[key]), () => this.set({ [key]: control.value }));
      return field(label, control);
    };
    const number = (label: string, key: keyof Setting, least: number, most: number, hint?: string) => {
      const control = h("input", { type: "number", min: least, max: most, step: "any", value: String(setting[key]), change: () => this.set({ [key]: control.value }, () => (control.value = String(this.setting[key]))) });
      return field(label, control, hint);
    };
    this.members = select([], "", () => this.set({ member: this.members.value }));
    const when = (element: HTMLElement, is: (setting: Setting, level: LevelEntry | undefined) => boolean) => {
      this.shown.push([element, is]);
      return element;
    };
    const isFailing = ({ what }: Setting) => what === "fail";
    const isPaced = ({ what, spare }: Setting) => what === "scrub" || (what === "fail" && spare >= 0);
    this.element.append(
      h(
        "fieldset",
        { class: "fields" },
        h("legend", {}, "The array"),
        choose("Level", "level", levels.map(({ name }) => [name, name] as const)),
        number("Members", "members", 1, MEMBERS_MAX),
        choose("Drive", "drive", names),
        when(choose("Stripe unit", "unit", UNITS), (_, level) => level?.stripe_unit ?? false),
        when(field("Layout", this.layout), (_, level) => level?.layout ?? false),
        choose("Write cache of the drives", "cache", CACHES),
      ),
      h("fieldset", { class: "fields" }, h("legend", {}, "Its load"), choose("Workload", "rw", RW), choose("Block size", "bs", SIZES), choose("Queue depth", "depth", DEPTHS), number("Seed", "seed", 1, 2 ** 31)),
      h(
        "fieldset",
        { class: "fields" },
        h("legend", {}, "What goes wrong, and when"),
        choose("Event", "what", EVENTS),
        when(field("Member", this.members), ({ what }) => what !== "scrub"),
        number("At, s", "at", 0, LENGTH_MAX),
        when(number("Length of the run, s", "length", 1, LENGTH_MAX), ({ what }) => what !== "cut"),
        when(number("New drive after, s", "spare", -1, LENGTH_MAX, "-1: none is there"), (own, level) => isFailing(own) && (level?.redundancy ?? false)),
        when(choose("Rebuild and scrub give way by", "pace", PACES), isPaced),
      ),
    );
    this.update([]);
  }

  level(): LevelEntry | undefined {
    return this.levels.find(({ name }) => name === this.setting.level);
  }

  private set(part: Record<string, string>, after: () => void = () => {}): void {
    const state = { ...stateOf(this.setting), ...part };
    // A member is another thing for each event: the one that fails, or the one that is missing.
    if ("what" in part) state["member"] = (part["what"] as Event) === "cut" ? "-1" : String(Math.max(0, this.setting.member));
    if ("level" in part) state["layout"] = "";
    this.setting = settingOf(state);
    const least = this.level()?.least_members ?? 1;
    if ("level" in part && this.setting.members < least) this.setting = settingOf({ ...stateOf(this.setting), members: String(least) });
    const members = this.element.querySelector<HTMLInputElement>('input[type="number"]');
    if (members) members.value = String(this.setting.members);
    after();
    this.update(this.layouts);
    this.changed(this.setting);
  }

  private layouts: readonly string[] = [];

  /** The layouts that the level may have, as the core takes them. */
  update(layouts: readonly string[]): void {
    this.layouts = layouts;
    const { setting } = this;
    const options = (list: readonly (readonly [string, string])[]) => [...select(list, "", () => {}).childNodes];
    const numbers = Array.from({ length: setting.members }, (_, member) => [String(member), `member ${member}`] as const);
    this.members.replaceChildren(...options(setting.what === "cut" ? [["-1", "none is missing"], ...numbers.map(([value, words]) => [value, `${words} is missing`] as const)] : numbers));
    this.members.value = String(setting.member);
    const known = layouts.includes(setting.layout) || setting.layout === "" ? layouts : [...layouts, setting.layout];
    this.layout.replaceChildren(...options([["", "the usual one"], ...known.map((name) => [name, name] as const)]));
    this.layout.value = setting.layout;
    for (const [element, is] of this.shown) element.hidden = !is(setting, this.level());
  }
}
