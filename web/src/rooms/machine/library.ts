// The library of records: search, tags, a verdict, and records to be opened in the room "Your records".
import { type Entry, type Machine, type Verdict, termsOf } from "../../machine/client";
import { field, h, select } from "../../page/dom";
import { hand } from "../../page/handed";

const SHOWN_MAX = 500;

export class LibraryPanel {
  readonly element = h("div", { role: "region", "aria-labelledby": "library-title" });
  private readonly words = h("input", { type: "search", change: () => void this.search() });
  private readonly kindPlace = h("div", {});
  private kind: HTMLSelectElement | undefined;
  private readonly tags = h("input", { type: "text", maxlength: 200 });
  private readonly threshold = h("input", { type: "number", min: 0, step: "any" });
  private readonly place = h("p", { class: "soft" });
  private readonly table = h("div", {});
  private readonly status = h("p", { class: "status", role: "status" });
  private readonly problem = h("p", { class: "problem", role: "alert" });
  private readonly verdict = h("div", { role: "region", "aria-label": "Verdict of the library" });
  private entries: Entry[] = [];
  private chosen = new Set<number>();

  constructor(
    private readonly machine: Machine,
    private readonly state: Record<string, string>,
    private readonly changed: (state: Record<string, string>) => void,
  ) {
    this.words.value = state["search"] ?? "";
    const button = (text: string, act: () => Promise<void>) => h("button", { type: "button", click: () => void this.tried(act) }, text);
    this.element.append(
      h("h3", { id: "library-title" }, "Library of records"),
      h("div", { class: "fields controls top" }, field("Search", this.words, "words, or NAME=VALUE such as bs=4k; all must fit"), this.kindPlace),
      this.place,
      this.table,
      h(
        "div",
        { class: "fields controls top" },
        field("Tags", this.tags, "for the records that are marked, between commas"),
        field("Threshold, %", this.threshold, "of the comparison; empty: none"),
      ),
      h(
        "div",
        { class: "share", role: "group", "aria-label": "The marked records" },
        button("Open in Your records", () => this.open()),
        button("Compare", () => this.compare()),
        button("Add tags", () => this.tag(false)),
        button("Remove tags", () => this.tag(true)),
        this.status,
      ),
      this.problem,
      this.verdict,
    );
  }

  /** Shows the records. */
  begin(kinds: readonly string[]): void {
    this.kind = select([["", "all"], ...kinds.map((one) => [one, one] as const)], this.state["kind"] ?? "", () => void this.search());
    this.kindPlace.replaceChildren(field("Kind", this.kind));
    void this.search();
  }

  private async search(): Promise<void> {
    await this.tried(async () => {
      const [words, kind] = [this.words.value.trim(), this.kind?.value ?? ""];
      this.changed({ ...(words === "" ? {} : { search: words }), ...(kind === "" ? {} : { kind }) });
      const { library, records } = await this.machine.list(words, kind);
      this.entries = records;
      this.place.textContent = `${library}: ${records.length} record${records.length === 1 ? "" : "s"}${termsOf(words).length > 0 || kind !== "" ? " fit" : ""}`;
      this.chosen = new Set(records.map((one) => one.number).filter((number) => this.chosen.has(number)));
      this.show();
    });
  }

  /** Does something, and says what goes wrong. */
  private async tried(act: () => Promise<void>): Promise<void> {
    this.problem.textContent = "";
    this.status.textContent = "";
    try {
      await act();
    } catch (error) {
      this.problem.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  private show(): void {
    const heads = ["", "No", "Kind", "Of", "Points", "Program", "Added", "Tags", "Digest"];
    const rows = this.entries.slice(0, SHOWN_MAX).map((entry) => {
      const box = h("input", { type: "checkbox", "aria-label": `Mark record ${entry.number}`, change: () => this.mark(entry.number, box.checked) });
      box.checked = this.chosen.has(entry.number);
      const of = [entry.target || entry.name, entry.label].filter((part) => part !== "").join(", ") || "–";
      const cells = [entry.kind, of, String(entry.points), entry.program || "–", entry.added.slice(0, 10), entry.tags.join(", ") || "–", entry.digest.slice(0, 10)];
      return h("tr", {}, h("td", {}, box), h("th", { scope: "row" }, String(entry.number)), ...cells.map((cell) => h("td", {}, cell)));
    });
    const head = h("thead", {}, h("tr", {}, ...heads.map((name) => (name === "" ? h("td", {}) : h("th", { scope: "col" }, name)))));
    const table = h("table", { class: "library" }, head, h("tbody", {}, ...rows));
    const more = this.entries.length > SHOWN_MAX ? [h("p", { class: "soft" }, `${this.entries.length - SHOWN_MAX} more are not shown: search for them.`)] : [];
    this.table.replaceChildren(...(rows.length > 0 ? [h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Records of the library" }, table)] : []), ...more);
    this.element.dataset["records"] = String(this.entries.length);
  }

  private mark(number: number, isChosen: boolean): void {
    // The order in which records are marked is that in which they are compared.
    this.chosen.delete(number);
    if (isChosen) this.chosen.add(number);
  }

  private marked(least: number): Entry[] {
    const found = [...this.chosen].map((number) => this.entries.find((one) => one.number === number)).filter((one) => one !== undefined);
    if (found.length < least) throw new Error(`mark ${least === 1 ? "a record" : `${least} records`} in the list first`);
    return found;
  }

  private async open(): Promise<void> {
    hand(await Promise.all(this.marked(1).map((entry) => this.machine.file(entry))));
    location.hash = "#records";
  }

  private async compare(): Promise<void> {
    const text = this.threshold.value.trim();
    const found: Verdict = await this.machine.compare(this.marked(2).map((one) => one.number), text === "" ? null : Number(text));
    const { lines, holds } = found.verdict;
    const names = h("ul", { class: "notes" }, ...found.records.map((one) => h("li", {}, h("strong", {}, one.letter), ` ${one.origin}`)));
    this.verdict.replaceChildren(
      h("h4", {}, "Verdict"),
      names,
      h("ul", { class: "notes verdict" }, ...lines.map((line) => h("li", {}, line))),
      ...(text === "" ? [] : [h("p", { class: "status" }, holds ? "The threshold is kept." : "The threshold is not kept.")]),
    );
  }

  private async tag(remove: boolean): Promise<void> {
    const tags = this.tags.value.split(",").map((one) => one.trim()).filter((one) => one !== "");
    if (tags.length === 0) throw new Error("write a tag first, such as baseline");
    const marked = this.marked(1);
    for (const entry of marked) {
      const next = await this.machine.tag(entry.number, tags, remove);
      this.entries = this.entries.map((one) => (one.number === next.number ? next : one));
    }
    this.show();
    this.status.textContent = `${marked.length} record${marked.length === 1 ? "" : "s"}: ${tags.join(", ")} ${remove ? "removed" : "added"}.`;
  }
}
