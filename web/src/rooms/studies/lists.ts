// Lists of the room "The studies": the published tables, and the questions of one.
import { h } from "../../page/dom";
import { fragmentOf } from "../../page/fragment";
import { judge } from "../../studies/claims/index";
import type { Found } from "../../studies/found";
import type { Experiment } from "../../studies/model";
import { type Question, placesFor, questionsOf } from "../../studies/questions";

/** A link that the room follows itself; a new window can be given it, too. */
function link(text: string, state: Record<string, string>, open: () => void, more: Record<string, string | boolean> = {}): HTMLAnchorElement {
  const click = (event: Event) => {
    const { ctrlKey, metaKey, shiftKey } = event as MouseEvent;
    if (ctrlKey || metaKey || shiftKey) return;
    event.preventDefault();
    open();
  };
  return h("a", { href: fragmentOf({ room: "studies", state }), click, ...more }, text);
}

/** The published tables, by their studies. */
export function studyList(experiments: readonly Experiment[], open: (experiment: Experiment) => void): HTMLElement {
  const studies = new Map<string, Experiment[]>();
  for (const experiment of experiments) {
    const name = /^(.*?-\d{4})/.exec(experiment.name)?.[1] ?? experiment.name;
    studies.set(name, [...(studies.get(name) ?? []), experiment]);
  }
  const item = (experiment: Experiment) => {
    const published = experiment.cells.filter((cell) => cell.published !== null).length;
    return h("li", {}, link(experiment.title, { study: experiment.name }, () => open(experiment)), h("br"), h("small", {}, `${published} published figures, ${experiment.claims.length} claims, ${experiment.scenarios.length} runs; drivelab reproduce ${experiment.name}`));
  };
  return h("div", {}, ...[...studies.values()].flatMap((own) => [h("h3", {}, (own[0] as Experiment).source), h("ul", { class: "studies" }, ...own.map(item))]));
}

/** The questions of a published table, each with how far it is. */
export function questionList(found: Found, chosen: Question, isOpen: boolean, open: (question: Question) => void): HTMLElement {
  const { experiment } = found;
  const item = (question: Question) => {
    const places = placesFor(question);
    const done = places.filter((place) => found.has(place)).length;
    const verdict = "claim" in question ? judge(found, question.claim) : undefined;
    const far = verdict !== undefined ? (verdict.holds ? "holds" : "does not hold") : `${done} of ${places.length} cells`;
    const isChosen = question.key === chosen.key;
    const own = { "data-key": question.key, ...(isChosen ? { "aria-current": "true" } : {}) };
    return h("li", {}, link(question.title, { study: experiment.name, question: question.key }, () => open(question), own), " ", h("small", { class: verdict === undefined ? "" : verdict.holds ? "near" : "far" }, far));
  };
  const questions = questionsOf(experiment);
  const list = (label: string, of: Question[]) => (of.length === 0 ? [] : [h("h4", {}, label), h("ul", { class: "studies" }, ...of.map(item))]);
  return h("details", { open: isOpen }, h("summary", {}, `Questions of this study: ${questions.length}`), ...list("Tables", questions.filter((one) => "table" in one)), ...list("Claims", questions.filter((one) => "claim" in one)));
}
