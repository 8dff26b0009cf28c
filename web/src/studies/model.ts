// Published tables as `studies.js` has them (tools/page_studies.py writes it), and how they are loaded.
import { addScript } from "../core/loading";

export type Role = "calibration" | "validation" | "unpublished";

/** One figure of a published table, and the scenario that predicts it. */
export interface Cell {
  id: string;
  /** As printed; null if nothing was, and a claim needs the figure. */
  published: number | null;
  /** Half a unit of the last printed digit. */
  resolution: number;
  role: Role;
  is_main: boolean;
  unit: string;
  /** By which a figure of the record is divided to be in this unit. */
  divisor: number;
  /** The path of the figure in a point of the record, or its name in the measurement. */
  metric: string;
  measure: Measure | null;
  scenario: number;
}

export type Measure = "surface-read" | "surface-write" | "access" | "burst";

/** A cell's number under a variant, or under none. */
export type Place = [variant: string | null, cell: number];

export interface Verdict {
  holds: boolean;
  numbers: string;
}

export interface ClaimEntry {
  id: string;
  text: string;
  reads: Place[];
  /** The verdict of a claim that reads no cell. */
  fixed?: Verdict;
}

export interface TableEntry {
  title: string;
  /** The names of the fields that make a row, and the columns. */
  rows: string[];
  shown: string[];
  /** For each row its fields, and the number of the cell in each column. */
  places: [string[], Record<string, number>][];
}

export interface Experiment {
  name: string;
  title: string;
  source: string;
  /** Seconds of one core that all of its runs took as a native program; null if nobody has measured them. */
  seconds: number | null;
  /** Which cells are the most important, in words; empty if none are. */
  main: string;
  scenarios: { text: string; log: number }[];
  cells: Cell[];
  variants: Record<string, Record<string, number>>;
  tables: TableEntry[];
  claims: ClaimEntry[];
  facts: Record<string, unknown>;
  not_modelled: { what: string; why: string }[];
}

export interface Studies {
  /** The bands by which cells are counted, as shares of the published figure. */
  near: number;
  far: number;
  experiments: Experiment[];
}

/** The published tables. They are loaded once, when a room wants them. */
export async function loadStudies(): Promise<Studies> {
  await addScript("studies.js");
  const found = (globalThis as { drivelabStudies?: Studies }).drivelabStudies;
  if (found === undefined) throw new Error("studies.js is not what it should be: build the page again");
  return found;
}

/** The number of the scenario that predicts a cell. */
export function scenarioOf(experiment: Experiment, [variant, cell]: Place): number {
  const found = variant === null ? experiment.cells[cell]?.scenario : experiment.variants[variant]?.[String(cell)];
  if (found === undefined) throw new Error(`${experiment.name}: no scenario predicts cell ${cell} of ${variant ?? "the table"}`);
  return found;
}

/** Every place of an experiment: its cells, then those of its variants. */
export function placesOf(experiment: Experiment): Place[] {
  const own = experiment.cells.map((_, cell): Place => [null, cell]);
  const varied = Object.entries(experiment.variants).flatMap(([name, cells]) => Object.keys(cells).map((cell): Place => [name, Number(cell)]));
  return [...own, ...varied];
}
