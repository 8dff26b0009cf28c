// Tables of the room "Your records": the points of a record, and its differences from the first.
import type { Beside } from "../../compare/beside";
import { type Difference, judged, varying } from "../../compare/difference";
import { type DriveRecord, axisText, figureAt } from "../../compare/model";
import { percent } from "../../compare/numbers";
import { title } from "../../compare/verdict";
import { placeNames } from "../../charts/records";
import { h } from "../../page/dom";
import { figure, ms } from "../../page/figures";

const ROWS_MAX = 400;

const scrolled = (label: string, table: HTMLTableElement) => h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": label }, table);
const head = (names: readonly string[]) => h("thead", {}, h("tr", {}, ...names.map((name) => h("th", { scope: "col" }, name))));
const rest = (count: number) => (count > ROWS_MAX ? [h("p", { class: "soft" }, `${count - ROWS_MAX} more points are not shown.`)] : []);

/** The points of a record. */
export function pointsTable(letter: string, record: DriveRecord): HTMLElement {
  const name = placeNames([record]);
  const rows = record.points.slice(0, ROWS_MAX).map((point) => {
    const value = (of: string) => figureAt(point, of)?.value;
    const error = figureAt(point, "iops")?.error;
    const bytes = value("bytes_per_s");
    const cells = [figure(value("iops")), error ? `${figure(100 * error)} %` : "–", figure(bytes === undefined ? undefined : bytes / 1e6), ...["mean", "p50", "p95", "p99", "p99_9", "max"].map((of) => ms(value(of)))];
    return h("tr", {}, h("th", { scope: "row" }, name(point.axes)), ...cells.map((cell) => h("td", {}, cell)));
  });
  const heads = ["Point", "IOPS", "std. error", "MB/s", "mean ms", "p50 ms", "p95 ms", "p99 ms", "p99.9 ms", "max ms"];
  const table = h("table", { class: "left" }, h("caption", {}, `${record.kind}${record.target ? ` ${record.target}` : ""}${record.name ? `: ${record.name}` : ""}`), head(heads), h("tbody", {}, ...rows));
  return h("div", {}, scrolled(`Points of record ${letter}`, table), ...rest(record.points.length), ...record.notes.map((note) => h("p", { class: "soft" }, note)));
}

const WORDS: Record<Difference["shown"], string> = { identical: "the same", more: "more", less: "less", none: "no difference shown", unknown: "no interval" };

/** A record's differences from the first. */
export function differencesTable(beside: Beside, threshold: number | undefined): HTMLElement {
  const axes = varying(beside.differences);
  const place = (one: Difference) => axes.filter((name) => name in one.place).map((name) => `${name} ${axisText(one.place[name])}`).join(", ") || "the point";
  const value = (one: Difference, of: number) => (/iops$|bytes_per_s$/.test(one.figure) ? figure(one.figure.endsWith("bytes_per_s") ? of / 1e6 : of) : ms(of));
  const unit = (name: string) => (/iops$|bytes_per_s$/.test(name) ? "" : ", ms");
  const shares = (one: Difference) => [one.share === null ? "from zero" : percent(one.share), one.low === null || one.high === null ? "–" : `${percent(one.low)} to ${percent(one.high)}`];
  const rows = beside.differences.slice(0, ROWS_MAX).map((one) =>
    h("tr", { class: one.shown }, h("th", { scope: "row" }, `${title(one.figure)}${unit(one.figure)}`), ...[place(one), value(one, one.first), value(one, one.other), ...shares(one), WORDS[one.shown], ...(threshold === undefined ? [] : [judged(one, threshold)])].map((cell) => h("td", {}, cell))),
  );
  const heads = ["Figure", "Point", beside.first, beside.other, "Difference", "Interval", "Result", ...(threshold === undefined ? [] : ["Threshold"])];
  const subjects = Object.entries(beside.subjects).map(([name, [one, other]]) => `${name} ${one} -> ${other}`).join(", ");
  const table = h("table", { class: "left" }, h("caption", {}, `${beside.other} against ${beside.first}${subjects ? ` (${subjects})` : ""}`), head(heads), h("tbody", {}, ...rows));
  const alone = beside.lonely.slice(0, 20).map((one) => h("li", {}, `${one.isFirst ? beside.first : beside.other} at ${Object.entries(one.axes).map(([name, of]) => `${name} ${axisText(of)}`).join(", ")}: ${one.reason}`));
  return h("div", {}, scrolled(`Differences of record ${beside.other}`, table), ...rest(beside.differences.length), ...(alone.length > 0 ? [h("p", {}, "Points without a counterpart:"), h("ul", { class: "notes" }, ...alone)] : []));
}
