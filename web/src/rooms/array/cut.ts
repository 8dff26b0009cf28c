// What a power cut did to an array, for each way to handle the write hole: which sectors are lost, how many rows do not fit.
import type { PowerCut } from "../../core/arrays";
import type { Point } from "../../core/answers";
import { field, h, select } from "../../page/dom";
import { figure } from "../../page/figures";

const HOLE = "target.array.write_hole";
const POLICIES: Record<string, string> = { open: "open: nothing", bitmap: "bitmap: resync of what was being written", journal: "journal on one more drive", ppl: "partial parity log" };

const policyOf = (point: Point): string => String(point.axes[HOLE] ?? point.power_cut?.array?.write_hole ?? "open");
const words = (policy: string) => POLICIES[policy] ?? policy;
const count = (value: number | null | undefined) => (value === null || value === undefined ? "–" : value.toLocaleString("en-US"));

/** The outcome in a sentence. */
export function cutWords(cut: PowerCut): string {
  const lost = cut.lost.commands === 0 ? "No answered write is lost." : `${count(cut.lost.commands)} answered writes are lost in part or whole: ${count(cut.lost.sectors)} sectors in ${count(cut.ranges_in_all)} ranges.`;
  const flushed = cut.lost_although_flushed_sectors > 0 ? ` ${count(cut.lost_although_flushed_sectors)} of them had been flushed.` : "";
  const { array } = cut;
  if (array === null) return lost + flushed;
  const what = array.what === "parity" ? "parity" : "copies";
  const rows = !array.rows ? ` No row was written whose ${what} could be compared.` : ` In ${count(array.rows_unfit)} of the ${count(array.rows)} rows that were written the ${what} did not fit when the power came back; after recovery in ${count(array.rows_unfit_after_recovery)}.`;
  const now = array.wrong_now_sectors ? ` ${count(array.wrong_now_sectors)} sectors of the missing member are wrong now.` : "";
  const start = array.is_started === false ? " Linux does not start the array as it is: it is dirty, and a member is missing." : "";
  return lost + flushed + rows + now + start;
}

export class CutView {
  readonly element = h("div", {});
  private readonly table = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "After the power cut" });
  private readonly ranges = h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Lost sectors" });
  private readonly said = h("p", { class: "whole" });
  private readonly policy = h("select", { change: () => this.choose(this.policy.value) });
  private readonly chooser = field("Sectors lost with", this.policy);
  private points: Point[] = [];

  constructor(
    private chosen: string,
    private readonly changed: (policy: string) => void,
    private readonly marked: (lost: PowerCut["ranges"]) => void,
    private readonly look: (address: number) => void,
  ) {
    this.element.append(
      h("p", {}, "The run ends when the power is cut. Then the array recovers by its policy, and every sector that was written is examined."),
      this.table,
      h("div", { class: "fields controls" }, this.chooser),
      this.said,
      this.ranges,
    );
  }

  clear(): void {
    this.points = [];
    this.said.textContent = "";
    this.table.replaceChildren();
    this.ranges.replaceChildren();
    this.marked([]);
  }

  show(points: readonly Point[]): void {
    this.points = [...points];
    const isWrong = points.some((point) => point.power_cut?.array?.wrong_now_sectors);
    const heads = ["Write hole", "IOPS", "Lost writes", "Lost sectors", "Under way", "Torn", "Rows written", "Rows unfit", "After recovery", "Wrong, member fails in the cut", "Wrong, member fails later", ...(isWrong ? ["Wrong now"] : [])];
    const row = (point: Point) => {
      const cut = point.power_cut;
      if (!cut) return h("tr", {}, h("th", { scope: "row" }, words(policyOf(point))), h("td", { colspan: heads.length - 1 }, "The run ended before the cut."));
      const { array, lost, in_flight: flight } = cut;
      // Without a member there is no parity that could be compared.
      const compared = (value: number | null | undefined) => (array?.rows ? count(value) : "–");
      const cells = [figure(point.iops), count(lost.commands), count(lost.sectors), count(flight.commands), count(flight.commands_torn), compared(array?.rows), compared(array?.rows_unfit), compared(array?.rows_unfit_after_recovery), compared(array?.wrong_with_member_lost_in_cut_sectors), compared(array?.wrong_with_member_lost_later_sectors), ...(isWrong ? [count(array?.wrong_now_sectors)] : [])];
      return h("tr", {}, h("th", { scope: "row" }, words(policyOf(point))), ...cells.map((cell) => h("td", {}, cell)));
    };
    this.table.replaceChildren(
      h("table", { class: "wrapped left" }, h("caption", {}, "A row is unfit if its parity or copies do not match its data. Wrong: sectors of a member that the others would reconstruct wrongly, all members in turn; wrong now: of the missing member."), h("thead", {}, h("tr", {}, ...heads.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, ...points.map(row))),
    );
    const policies = points.map(policyOf);
    const chosen = policies.includes(this.chosen) ? this.chosen : (policies[0] ?? "");
    this.policy.replaceChildren(...select(policies.map((one) => [one, words(one)] as const), chosen, () => {}).childNodes);
    this.policy.value = chosen;
    this.choose(chosen, false);
  }

  private choose(policy: string, isNew = true): void {
    const cut = this.points.find((point) => policyOf(point) === policy)?.power_cut;
    if (isNew) {
      this.chosen = policy;
      this.changed(policy);
    }
    const found = cut?.ranges ?? [];
    this.said.textContent = cut ? cutWords(cut) : "";
    this.marked(found);
    if (!cut || found.length === 0) return this.ranges.replaceChildren();
    this.ranges.replaceChildren(
      h(
        "table",
        {},
        h("caption", {}, `Lost sectors of the array${cut.ranges_in_all > found.length ? `: the first ${found.length} of ${count(cut.ranges_in_all)} ranges` : ""}`),
        h("thead", {}, h("tr", {}, ...["From", "To", "Sectors", ""].map((name) => (name ? h("th", { scope: "col" }, name) : h("td", {}))))),
        h(
          "tbody",
          {},
          ...found.map(({ first_sector: first, sectors }) =>
            h("tr", {}, h("td", {}, String(first)), h("td", {}, String(first + sectors - 1)), h("td", {}, count(sectors)), h("td", {}, h("button", { type: "button", class: "plain", "aria-label": `Show sector ${first} in the map`, click: () => this.look(first) }, "show in the map"))),
          ),
        ),
      ),
    );
  }
}
