// The tables of the room "Which array": the levels side by side, and the assumptions with what each changes.
import { iopsText, causesOf, latencyNames, rebuildText, turnPart } from "../../arrays/answer";
import { type Asked, type Candidate, arrayName, chanceText, grouped, isRedundant, knowsFailures, latencyName } from "../../arrays/candidate";
import { general } from "../../compare/numbers";
import type { Figures } from "../../arrays/figures";
import type { Assumption, Varied } from "../../arrays/sensitivity";
import { h } from "../../page/dom";

const NONE = "–";
/** What is not known yet. */
const OPEN = "…";

/** A row for each candidate, in the order of their prices; those that are impossible come last. */
export function levelsTable(candidates: readonly Candidate[], pick: Candidate | undefined, asked: Asked): HTMLElement {
  const names = latencyNames(asked);
  const heads = ["Array", "Out for", "Usable TB", asked.currency, "May fail", ...names.map((name) => `${latencyName(name)} ms`), "IOPS", "With a drive missing", "While it is rebuilt", "Rebuild", "Loss in a year, %", "by failed drives, %", "by unreadable sectors, %", "Mean time to loss, years"];
  const ordered = [...candidates].sort((one, other) => Number(one.reason !== undefined) - Number(other.reason !== undefined) || one.cost - other.cost);
  const row = (one: Candidate) => {
    const isPick = one === pick;
    const cells = one.reason === undefined ? cellsOf(one, asked, names) : Array.from({ length: heads.length - 2 }, () => NONE);
    return h("tr", isPick ? { class: "pick" } : {}, h("th", { scope: "row" }, arrayName(one)), h("td", { class: "words" }, isPick ? "the pick" : one.failings.map(({ text }) => text).join("; ")), ...cells.map((cell) => h("td", {}, cell)));
  };
  return h(
    "table",
    { class: "wrapped which" },
    h("caption", {}, `Levels of ${asked.drive.name} side by side. … is not known yet; ≥ is a chance with the fastest rebuild that there could be. The chance in a year is split by the causes of losses within five years.`),
    h("thead", {}, h("tr", {}, ...heads.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, ...ordered.map(row)),
  );
}

function cellsOf(one: Candidate, asked: Asked, names: readonly string[]): string[] {
  const healthy = one.states.healthy;
  const ms = (name: string) => {
    const value = healthy?.latency_ns[name as "p99"];
    return healthy === undefined ? OPEN : value === null || value === undefined ? NONE : grouped(value / 1e6, 3);
  };
  const { worst, best } = one.bears;
  return [
    grouped(one.capacity_bytes / 1e12, 4),
    one.cost.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
    worst === best ? String(worst) : `${worst} to ${best}`,
    ...names.map(ms),
    healthy === undefined ? OPEN : iopsText(healthy).replace(" IOPS", ""),
    stateCell(one, one.states.degraded, names, asked),
    stateCell(one, one.states.rebuilding, names, asked),
    isRedundant(one) ? (one.rebuild === undefined ? OPEN : rebuildText(one) || NONE) : NONE,
    ...lossCells(one, asked),
  ];
}

/** IOPS in another state, or the latency where a rate is asked for. */
function stateCell(one: Candidate, figures: Figures | undefined, names: readonly string[], { load }: Asked): string {
  if (!isRedundant(one)) return "loses data";
  if (figures === undefined) return OPEN;
  if (load.rate === undefined) return grouped(figures.iops, 4);
  const name = names[names.length - 1] as string;
  const value = figures.latency_ns[name as "p99"];
  return `${latencyName(name)} ${value === null ? "unknown" : grouped(value / 1e6, 3)} ms`;
}

function lossCells(one: Candidate, asked: Asked): string[] {
  if (!knowsFailures(asked) || one.losses === undefined) return Array.from({ length: 4 }, () => NONE);
  const { loss_in_a_year: year, mttdl_years: mean, share_by_sectors: share } = one.losses;
  // Below what the least chance lies says nothing of the chance.
  if (one.is_bound && year.value === null) return Array.from({ length: 4 }, () => NONE);
  const bound = one.is_bound ? "≥ " : "";
  // Of losses that were not seen there are no causes.
  const causes = year.value === null ? undefined : causesOf(one);
  const drives = causes ? bound + general(causes.drives, 3) : NONE;
  const sectors = causes ? (share === null ? "0" : bound + general(causes.sectors, 3)) : NONE;
  const years = mean.value === null ? `>${general(mean.low, 3)}` : mean.value >= 100 && mean.value < 1e6 ? Math.round(mean.value).toLocaleString("en-US") : general(mean.value, 3);
  return [`${bound}${chanceText(year)}`, drives, sectors, `${one.is_bound ? "≤ " : ""}${years}`];
}

/** A row for each assumption, those with the largest effect first; those that nobody gave last. Where the pick turns is known
 *  for the pick alone. */
export function assumptionsTable(assumptions: readonly Assumption[], leftOut: readonly (readonly [string, string])[], name: string, isPick: boolean): HTMLElement {
  const heads = ["Assumption", "Is", "Loss in a year at half of it, %", "at twice of it, %", ...(isPick ? ["The pick turns"] : [])];
  const chance = (one: Varied | undefined) => (one === undefined ? NONE : `${one.is_told ? "" : "~"}${general(one.value, 2)}`);
  const rows = [
    ...assumptions.map((one) => [one.name, one.value, chance(one.low), chance(one.high), ...(isPick ? [one.turns.map((turn) => turnPart(one, turn)).join("; ")] : [])]),
    ...leftOut.map(([what, value]) => [what, value, NONE, NONE, ...(isPick ? [""] : [])]),
  ];
  return h(
    "table",
    { class: "wrapped assumptions" },
    h("caption", {}, `What the chance of loss of ${name} depends on`),
    h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, ...rows.map(([first, ...rest]) => h("tr", {}, h("th", { scope: "row" }, first as string), ...rest.map((text) => h("td", {}, text))))),
  );
}
