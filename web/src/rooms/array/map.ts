// The map of an array: which sector of which member holds which address, row by row, with copies and parity named.
import type { Held, MapPlace, StripeMap } from "../../core/arrays";
import { field, h } from "../../page/dom";

export const ROWS = 8;
const PARITIES = ["P", "Q", "R"];

export interface Shown {
  first_row: number;
  /** The address that is looked for; undefined for none. */
  address: number | undefined;
}

/** What a place holds, in a few letters. */
export function heldWords(held: Held, withCopy: boolean): string {
  if (held.what === "parity") return PARITIES[held.which] ?? "P";
  if (held.what === "nothing") return "–";
  const span = held.sectors === 1 ? `${held.first}` : `${held.first}–${held.first + held.sectors - 1}`;
  return withCopy ? `${span} ${copyName(held.copy)}` : span;
}

/** Copies are named by letters: a is the first. */
const copyName = (copy: number) => String.fromCharCode(97 + (copy % 26));

/** Where an address lies, as a sentence. */
export function placesWords(map: StripeMap, address: number): string {
  const found = map.addresses.find((one) => one.address === address);
  if (found === undefined) return `The array has no sector ${address}: its last one is ${map.capacity - 1}.`;
  const at = (place: MapPlace) => `member ${place.slot}, sector ${place.at}`;
  const words = found.places.map((place) => {
    if (place.what === "parity") return `parity ${PARITIES[place.which]} on ${at(place)}`;
    return map.redundancy === "copies" && place.what === "data" ? `copy ${copyName(place.copy)} on ${at(place)}` : `data on ${at(place)}`;
  });
  return `Sector ${address} of the array is in row ${found.row}: ${words.join("; ")}.`;
}

export class MapView {
  readonly element = h("div", { class: "map" });
  private readonly table = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Map of the stripes" });
  private readonly words = h("p", { class: "status", role: "status" });
  private readonly legend = h("ul", { class: "legend kinds" });
  private readonly row = h("input", { type: "number", min: 0, value: 0, change: () => this.go({ first_row: Number(this.row.value) || 0 }) });
  private readonly address = h("input", { type: "number", min: 0, change: () => this.find() });
  private map: StripeMap | undefined;
  private shown: Shown;
  private gone: ReadonlySet<number> = new Set();
  private lost: readonly { first_sector: number; sectors: number }[] = [];

  constructor(
    shown: { first_row: number | undefined; address: number | undefined },
    private readonly changed: (shown: Shown) => void,
  ) {
    this.shown = { first_row: shown.first_row ?? 0, address: shown.address };
    this.isSought = shown.first_row === undefined;
    const step = (by: number) => () => this.go({ first_row: this.shown.first_row + by });
    this.address.value = shown.address === undefined ? "" : String(shown.address);
    this.element.append(
      h(
        "div",
        { class: "player", role: "group", "aria-label": "Part of the map" },
        field("First row", this.row),
        h("button", { type: "button", click: step(-ROWS) }, "Rows before"),
        h("button", { type: "button", click: step(ROWS) }, "Rows after"),
        field("Sector of the array", this.address),
        h("button", { type: "button", click: () => this.find() }, "Find"),
      ),
      this.words,
      this.table,
      this.legend,
    );
  }

  state(): Shown {
    return this.shown;
  }

  /** Goes to the row of an address. */
  look(address: number): void {
    this.address.value = String(address);
    this.find();
  }

  private find(): void {
    const text = this.address.value.trim();
    const address = text === "" ? undefined : Math.max(0, Math.floor(Number(text)));
    this.shown = { ...this.shown, address };
    this.isSought = address !== undefined;
    this.changed(this.shown);
  }

  /** Whether the rows are still to follow the address. */
  private isSought: boolean;

  private go(to: Partial<Shown>): void {
    const last = Math.max(0, (this.map?.rows_in_all ?? 1) - 1);
    const first = Math.min(last, Math.max(0, Math.floor(to.first_row ?? this.shown.first_row)));
    this.shown = { ...this.shown, ...to, first_row: first };
    this.changed(this.shown);
  }

  /** Shows a map; it has the rows that were asked for, and the address. */
  show(map: StripeMap): void {
    this.map = map;
    const found = map.addresses[0];
    if (this.isSought && found !== undefined && !map.rows.some((row) => row.row === found.row)) {
      this.isSought = false;
      return this.go({ first_row: Math.floor(found.row / ROWS) * ROWS });
    }
    this.isSought = false;
    this.row.value = String(this.shown.first_row);
    this.row.max = String(map.rows_in_all - 1);
    this.words.textContent = this.shown.address === undefined ? "" : placesWords(map, this.shown.address);
    this.draw();
  }

  /** Nothing is known of an array that cannot be. */
  clear(): void {
    this.map = undefined;
    this.words.textContent = "";
    this.table.replaceChildren();
    this.legend.replaceChildren();
  }

  /** Members without a drive, and addresses that are lost. */
  mark(gone: ReadonlySet<number>, lost: readonly { first_sector: number; sectors: number }[]): void {
    this.gone = gone;
    this.lost = lost;
    this.draw();
  }

  private draw(): void {
    const { map } = this;
    if (map === undefined) return;
    const withCopies = map.redundancy === "copies";
    const sought = map.addresses[0]?.places ?? [];
    const inside = (row: number, slot: number) => sought.some((place) => place.slot === slot && place.at >= row && place.at < row + map.row_sectors);
    const isLost = (held: Held) => held.what === "data" && this.lost.some(({ first_sector: first, sectors }) => first < held.first + held.sectors && held.first < first + sectors);
    const ofGroup = map.members / map.groups;
    const heads = Array.from({ length: map.members }, (_, slot) =>
      h("th", { scope: "col", class: this.gone.has(slot) ? "gone" : "" }, `Member ${slot}${map.groups > 1 ? ` (group ${Math.floor(slot / ofGroup)})` : ""}${this.gone.has(slot) ? ", missing" : ""}`),
    );
    const kinds = new Set<string>();
    const cell = (held: Held, at: number, slot: number) => {
      const kind = held.what === "data" && held.copy > 0 ? "copy" : held.what;
      kinds.add(kind);
      const marks = [kind, ...(isLost(held) ? ["lost"] : []), ...(inside(at, slot) ? ["sought"] : []), ...(this.gone.has(slot) ? ["gone"] : [])];
      if (marks.includes("lost")) kinds.add("lost");
      const words = heldWords(held, withCopies);
      const found = h("td", { class: marks.join(" ") }, words, ...(marks.includes("lost") ? [h("span", { class: "mark" }, " lost")] : []));
      if (held.what === "data") found.addEventListener("click", () => this.look(held.first));
      return found;
    };
    this.table.replaceChildren(
      h(
        "table",
        { class: "stripes" },
        h("caption", {}, `Addresses are sectors of 512 bytes of the array, which has ${map.capacity.toLocaleString("en-US")}. A row is ${map.row_sectors} sector${map.row_sectors === 1 ? "" : "s"} of each member; there are ${map.rows_in_all.toLocaleString("en-US")}.${map.start > 0 ? ` The first ${map.start} sectors of each member hold its log.` : ""}`),
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Row"), h("th", { scope: "col" }, "From sector"), ...heads)),
        h("tbody", {}, ...map.rows.map((row) => h("tr", {}, h("th", { scope: "row" }, String(row.row)), h("td", { class: "soft" }, String(row.at)), ...row.cells.map((held, slot) => cell(held, row.at, slot))))),
      ),
    );
    const said: [string, string][] = [
      ["data", withCopies ? "data; a is the first copy" : "data"],
      ["copy", "a further copy (b, c, ..)"],
      ["parity", "parity: P, Q, R"],
      ["nothing", "holds no address"],
      ["lost", "has lost sectors"],
    ];
    this.legend.replaceChildren(...said.filter(([kind]) => kinds.has(kind)).map(([kind, words]) => h("li", { class: kind }, words)));
  }
}
