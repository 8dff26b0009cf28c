// The predicted figures of an experiment as far as they are there, errors of cells and their summary: the rules of
// python/drivelab/experiment/outcome.py.
import { fixed } from "../compare/numbers";
import { type Cell, type Experiment, type Place, type Role, placesOf, scenarioOf } from "./model";
import { type Figure, figureOf } from "./measures";
import type { Point } from "../core/answers";

/** A claim asked for a figure that is not there yet. */
export class Missing extends Error {}

const key = ([variant, cell]: Place) => `${variant ?? ""} ${cell}`;

export class Found {
  /** The digests of the scenarios that were run, by their numbers. */
  readonly digests = new Map<number, string>();
  private readonly figures = new Map<string, Figure>();
  private readonly numbers: Map<string, number>;
  private readonly places = new Map<number, Place[]>();

  constructor(readonly experiment: Experiment) {
    this.numbers = new Map(experiment.cells.map((cell, number) => [cell.id, number]));
    for (const place of placesOf(experiment)) {
      const scenario = scenarioOf(experiment, place);
      this.places.set(scenario, [...(this.places.get(scenario) ?? []), place]);
    }
  }

  /** Takes the points of a scenario's run. Throws if they lack the figure of a cell. */
  take(scenario: number, digest: string, points: readonly Point[]): void {
    for (const place of this.places.get(scenario) ?? []) this.put(place, figureOf(this.experiment.cells[place[1]] as Cell, points));
    this.digests.set(scenario, digest);
  }

  put(place: Place, figure: Figure): void {
    this.figures.set(key(place), figure);
  }

  /** The figure of a place, undefined if it is not there yet. */
  figure(place: Place): Figure | undefined {
    return this.figures.get(key(place));
  }

  has(place: Place): boolean {
    return this.figures.has(key(place));
  }

  get facts(): Readonly<Record<string, unknown>> {
    return this.experiment.facts;
  }

  /** The ids of all cells, or of those of a variant. */
  ids(variant: string | null = null): string[] {
    const numbers = variant === null ? this.experiment.cells.map((_, number) => number) : Object.keys(this.experiment.variants[variant] ?? {}).map(Number);
    return numbers.map((number) => (this.experiment.cells[number] as Cell).id);
  }

  /** The predicted figure under an id, of the table or of a variant. Throws Missing. */
  at(id: string, variant: string | null = null): number {
    return this.read(id, variant).predicted;
  }

  /** The statistical error under an id, null if none was estimated. Throws Missing. */
  errorAt(id: string, variant: string | null = null): number | null {
    return this.read(id, variant).error;
  }

  published(id: string): number {
    return (this.experiment.cells[this.number(id)] as Cell).published as number;
  }

  private read(id: string, variant: string | null): Figure {
    const found = this.figure([variant, this.number(id)]);
    if (found === undefined) throw new Missing(`${id} ${variant ?? ""}`);
    return found;
  }

  private number(id: string): number {
    const found = this.numbers.get(id);
    if (found === undefined) throw new Error(`${this.experiment.name}: no cell is called ${id}`);
    return found;
  }
}

/** How far a prediction lies outside the rounding of the print, as a signed share of the published figure; null if nothing was published. */
export function errorOf(cell: Cell, predicted: number): number | null {
  if (cell.published === null) return null;
  const distance = predicted - cell.published;
  const beyond = Math.max(0, Math.abs(distance) - cell.resolution);
  return (distance >= 0 ? beyond : -beyond) / cell.published;
}

export interface Summary {
  group: string;
  count: number;
  near: number;
  far: number;
  median: number;
  mean: number;
  worst: number;
}

/** How well the cells were predicted that are there: calibration, validation, and the most important of validation. */
export function summaries(found: Found, near: number, far: number): Summary[] {
  const { cells, main } = found.experiment;
  const groups: [string, Role, boolean][] = [["calibration", "calibration", false], ["validation", "validation", false], ...(main === "" ? [] : [[`validation, ${main}`, "validation", true] as [string, Role, boolean]])];
  return groups.flatMap(([group, role, isMain]) => {
    const errors = cells.flatMap((cell, number) => {
      const figure = cell.role === role && (!isMain || cell.is_main) ? found.figure([null, number]) : undefined;
      const error = figure === undefined ? null : errorOf(cell, figure.predicted);
      return error === null ? [] : [Math.abs(error)];
    });
    if (errors.length === 0) return [];
    const share = (most: number) => errors.filter((error) => error <= most).length / errors.length;
    return [{ group, count: errors.length, near: share(near), far: share(far), median: median(errors), mean: errors.reduce((sum, one) => sum + one, 0) / errors.length, worst: Math.max(...errors) }];
  });
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const half = sorted.length >> 1;
  const upper = sorted[half] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] as number) + upper) / 2;
}

/** A published figure as printed, and a predicted one with one digit more; four figures if nothing was printed. */
export function texts(cell: Cell, predicted: number | undefined): { published: string; predicted: string } {
  const digits = Math.max(0, Math.round(-Math.log10(2 * cell.resolution)));
  if (cell.published === null) return { published: "", predicted: predicted === undefined ? "" : fourFigures(predicted) };
  return { published: fixed(cell.published, digits), predicted: predicted === undefined ? "" : fixed(predicted, digits + 1) };
}

/** Four figures, never in powers of ten. */
export function fourFigures(value: number): string {
  if (value >= 1000 || value === 0) return Number(fixed(value, 0)).toLocaleString("en-US");
  return fixed(value, value >= 100 ? 1 : value >= 1 ? 2 : 4);
}

/** A signed share in whole percent; one that rounds to zero has no sign. */
export function errorText(error: number): string {
  const text = fixed(100 * error, 0);
  return text === "0" || text === "-0" ? "0%" : `${error > 0 ? "+" : ""}${text}%`;
}
