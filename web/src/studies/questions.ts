// The questions of a published table: its tables and its claims, by the words that a link has for them.
import type { ClaimEntry, Experiment, Place, TableEntry } from "./model";
import { placesOf, scenarioOf } from "./model";

export type Question = { key: string; title: string } & ({ table: TableEntry } | { claim: ClaimEntry });

/** Tables first, in the order in which `drivelab reproduce` prints them. */
export function questionsOf(experiment: Experiment): Question[] {
  const tables = experiment.tables.map((table, at) => ({ key: `table-${at + 1}`, title: table.title, table }));
  return [...tables, ...experiment.claims.map((claim) => ({ key: claim.id, title: claim.text, claim }))];
}

/** The places whose figures a question needs. */
export function placesFor(question: Question): Place[] {
  if ("claim" in question) return question.claim.reads;
  return question.table.places.flatMap(([, cells]) => Object.values(cells).map((cell): Place => [null, cell]));
}

/** The scenarios behind some places, each once. */
export function scenariosFor(experiment: Experiment, places: readonly Place[]): number[] {
  return [...new Set(places.map((place) => scenarioOf(experiment, place)))];
}

/** Every scenario of an experiment. */
export const allScenarios = (experiment: Experiment): number[] => scenariosFor(experiment, placesOf(experiment));

/** By how much a browser is slower than a native program on one core. */
const SLOWER = 1.6;

/** How long some runs take, in seconds: from how long others took here, or from the native program; undefined if neither was timed. */
export function estimate(count: number, experiment: Experiment, timed: { runs: number; seconds: number }, workers: number): number | undefined {
  if (timed.runs > 0) return (count * timed.seconds) / timed.runs;
  return experiment.seconds === null ? undefined : (count * SLOWER * experiment.seconds) / experiment.scenarios.length / workers;
}

/** Seconds for people. */
export function secondsText(seconds: number): string {
  if (seconds < 1.5) return "about a second";
  if (seconds < 90) return `about ${seconds < 10 ? Math.ceil(seconds) : 5 * Math.ceil(seconds / 5)} s`;
  return `about ${Math.ceil(seconds / 60)} min`;
}
