// Tables of the room "The studies": cells, summary of errors, claims, and what is not modelled.
import { h } from "../../page/dom";
import { fragmentOf } from "../../page/fragment";
import { judge } from "../../studies/claims/index";
import { type Found, type Summary, errorOf, errorText, texts } from "../../studies/found";
import { type Cell, type Place, type Studies, type TableEntry, type Verdict, scenarioOf } from "../../studies/model";

const scrolled = (label: string, table: HTMLTableElement) => h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": label, "data-key": label }, table);
const head = (names: readonly string[]) => h("thead", {}, h("tr", {}, ...names.map((name) => h("th", { scope: "col" }, name))));

export type Bands = Pick<Studies, "near" | "far">;

/** How the cells are to be read. */
export const LEGEND = "Each cell: published, simulated here, and the error beyond the rounding of the print; * = a drive was fitted to this cell (calibration), all others are validation. A simulated figure leads to its scenario in the room Try.";

function band(error: number, { near, far }: Bands): string {
  const size = Math.abs(error);
  return size <= near ? "near" : size <= far ? "middle" : "far";
}

/** Published, simulated and error of a place, as three cells of a table; `isFirst` begins a column of the published table. */
function triple(found: Found, place: Place, bands: Bands): HTMLElement[] {
  const cell = found.experiment.cells[place[1]] as Cell;
  const figure = found.figure(place);
  const words = texts(cell, figure?.predicted);
  const error = figure === undefined || place[0] !== null ? null : errorOf(cell, figure.predicted);
  const { text } = found.experiment.scenarios[scenarioOf(found.experiment, place)] as { text: string };
  const name = `${cell.id}${place[0] === null ? "" : ` (${place[0]})`}`;
  const shown = words.predicted || "–";
  const link = h("a", { "data-key": name, href: fragmentOf({ room: "try", state: { toml: text } }), "aria-label": `${shown === "–" ? "not yet run" : shown}: open the scenario of ${name} in the room Try` }, shown);
  const isCalibration = cell.role === "calibration" && place[0] === null;
  return [
    h("td", { class: "published" }, place[0] === null ? words.published : ""),
    h("td", {}, link),
    h("td", error === null ? {} : { class: `error ${band(error, bands)}` }, `${error === null ? "" : errorText(error)}${isCalibration ? "*" : ""}`),
  ];
}

/** A published table, a row for each of its places; `run` runs the cells of one row. */
export function cellsTable(found: Found, table: TableEntry, bands: Bands, run: (places: Place[]) => void): HTMLElement {
  const corner = table.rows.map((name) => h("th", { scope: "col", rowspan: 2 }, name));
  const groups = table.shown.map((name) => h("th", { scope: "colgroup", colspan: 3, class: "published" }, name));
  const names = table.shown.flatMap(() => ["published", "simulated", "error"].map((name, at) => h("th", at === 0 ? { scope: "col", class: "published" } : { scope: "col" }, name)));
  const rows = table.places.map(([place, cells]) => {
    const own = table.shown.flatMap((name): Place[] => (cells[name] === undefined ? [] : [[null, cells[name]]]));
    const isComplete = own.every((one) => found.has(one));
    const button = h("button", { type: "button", class: "plain", "data-key": `row ${place.join(", ")}`, "aria-label": `Run the row ${place.join(", ")}`, click: () => run(own) }, "run");
    return h(
      "tr",
      {},
      ...place.map((field) => h("th", { scope: "row" }, field)),
      ...table.shown.flatMap((name) => (cells[name] === undefined ? [h("td", { colspan: 3, class: "published" })] : triple(found, [null, cells[name]], bands))),
      h("td", {}, ...(isComplete ? [] : [button])),
    );
  });
  const whole = h("table", { class: "study" }, h("caption", {}, table.title), h("thead", {}, h("tr", {}, ...corner, ...groups, h("td", { rowspan: 2 })), h("tr", {}, ...names)), h("tbody", {}, ...rows));
  return scrolled(`Table ${table.title}`, whole);
}

/** The cells that a claim reads. */
export function readTable(found: Found, places: readonly Place[], bands: Bands): HTMLElement {
  const rows = places.map((place) => h("tr", {}, h("th", { scope: "row" }, (found.experiment.cells[place[1]] as Cell).id), h("td", { class: "name" }, place[0] ?? ""), h("td", { class: "name" }, (found.experiment.cells[place[1]] as Cell).unit), ...triple(found, place, bands)));
  return scrolled("Cells of the claim", h("table", { class: "study left" }, h("caption", {}, "The cells that this claim reads"), head(["cell", "change", "unit", "published", "simulated", "error"]), h("tbody", {}, ...rows)));
}

const percent = (share: number) => `${(100 * share).toFixed(1)}%`;

/** How well the cells were predicted that are there, by groups. */
export function summaryTable(rows: readonly Summary[], { near, far }: Bands): HTMLElement {
  const names = ["cells", "count", `within ${100 * near}%`, `within ${100 * far}%`, "error median", "error mean", "error max"];
  const body = rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row.group), h("td", {}, String(row.count)), ...[row.near, row.far, row.median, row.mean, row.worst].map((value) => h("td", {}, percent(value)))));
  return scrolled("Errors of the cells that were run", h("table", { class: "left" }, h("caption", {}, "Errors of the cells that were run"), head(names), h("tbody", {}, ...body)));
}

/** Whether a claim holds on the figures that are there, in a word. */
export function verdictWord(verdict: Verdict | undefined): string {
  return verdict === undefined ? "not yet" : verdict.holds ? "yes" : "NO";
}

/** Each claim, whether it holds, and the numbers that decide it. */
export function claimsTable(found: Found): HTMLElement {
  const rows = found.experiment.claims.map((claim) => {
    const verdict = judge(found, claim);
    const word = h("td", { class: verdict === undefined ? "" : verdict.holds ? "near" : "far" }, verdictWord(verdict));
    return h("tr", {}, word, h("td", { class: "words" }, claim.text, ...(verdict === undefined ? [] : [h("br"), h("span", { class: "soft" }, `${verdict.numbers}${claim.fixed === undefined ? "" : " (arithmetic on printed figures; no run)"}`)])));
  });
  return scrolled("Claims of the study", h("table", { class: "left claims wordy" }, h("caption", {}, "Claims of the study, judged on the simulated figures"), head(["holds", "claim, and below it what is simulated"]), h("tbody", {}, ...rows)));
}

/** What was published and is left out, with the reasons. */
export function leftOutTable(found: Found): HTMLElement {
  const rows = found.experiment.not_modelled.map(({ what, why }) => h("tr", {}, h("td", { class: "words" }, what), h("td", { class: "words" }, why)));
  return scrolled("Not modelled", h("table", { class: "left wordy" }, h("caption", {}, "Published, and not modelled"), head(["not modelled", "because"]), h("tbody", {}, ...rows)));
}
