// Records compared with the first of them: the rules of python/drivelab/comparison/beside.py with its defaults.
import { type Difference, difference, eachOf, isUncertain } from "./difference";
import { type Lonely, type Pair, SHARED, matched, pooled } from "./matching";
import { DIRECTIONS, type DriveRecord, FIGURES, PERCENTILES, RecordError, axisValue, figureAt, isWorkload } from "./model";
import { asAxis } from "./settings";

export const CONFIDENCE = 0.95;
const JUDGED = ["iops", "mean", "p99"];
const NAMED = ["figure", ...FIGURES, ...DIRECTIONS.flatMap((one) => FIGURES.map((name) => `${one}.${name}`))].filter((name) => !name.endsWith("max"));
export const RECORDS_MAX = 26;

interface Levels {
  judged: number;
  shifts: number;
}

/** One record compared with the first. */
export interface Beside {
  first: string;
  other: string;
  differences: Difference[];
  shifts: Difference[];
  lonely: Lonely[];
  subjects: Record<string, [string, string]>;
}

export interface Compared {
  records: Map<string, DriveRecord>;
  besides: Beside[];
  /** Why a record could not be compared with the first. */
  refused: { other: string; why: string }[];
}

export const figuresOf = (beside: Beside): string[] => [...new Set(beside.differences.map((one) => one.figure))];

/** Records compared with the first. */
export function compared(records: readonly DriveRecord[]): Compared {
  const names = [...new Set(records.flatMap((record) => record.points.flatMap((point) => Object.keys(point.axes))))];
  const found = records.slice(0, RECORDS_MAX).map((record) => pooled(withSettings(record, names)));
  const lettered = new Map(found.map((record, at) => [String.fromCharCode(65 + at), record]));
  const [first, ...others] = [...lettered] as [[string, DriveRecord], ...[string, DriveRecord][]];
  let levels: Levels = { judged: CONFIDENCE, shifts: CONFIDENCE };
  let besides: Beside[] = [];
  let refused: Compared["refused"] = [];
  // The number of intervals is known only after the first pass.
  for (let pass = 0; pass < 2; pass++) {
    [besides, refused] = [[], []];
    for (const other of others) {
      try {
        besides.push(besideOf(first, other, levels));
      } catch (error) {
        if (!(error instanceof RecordError)) throw error;
        refused.push({ other: other[0], why: error.message });
      }
    }
    levels = levelsOf(besides);
  }
  return { records: lettered, besides, refused };
}

/** High enough for all intervals that are read together to hold jointly. */
function levelsOf(besides: readonly Beside[]): Levels {
  const judged = besides.flatMap((beside) => beside.differences.filter(isUncertain)).length;
  const shifts = besides.flatMap((beside) => beside.shifts.filter((one) => isUncertain(one) && !figuresOf(beside).includes(one.figure))).length;
  return { judged: eachOf(judged, CONFIDENCE), shifts: eachOf(shifts, CONFIDENCE) };
}

/** The record with what it has set once and another record sweeps as an axis of its points. */
function withSettings(record: DriveRecord, axes: readonly string[]): DriveRecord {
  const there = new Set(record.points.flatMap((point) => Object.keys(point.axes)));
  const own: Record<string, unknown> = {};
  for (const axis of axes) {
    const value = there.has(axis) || isWorkload(axis) ? undefined : asAxis(record.settings, axis);
    if (value !== undefined) own[axis] = axisValue(axis, value);
  }
  return Object.keys(own).length === 0 ? record : { ...record, points: record.points.map((point) => ({ ...point, axes: { ...point.axes, ...own } })) };
}

function besideOf([one, record]: [string, DriveRecord], [two, twin]: [string, DriveRecord], levels: Levels): Beside {
  const found = matched(record, twin);
  if (found.pairs.length === 0) {
    const alone = found.lonely.filter((lone) => lone.reason !== SHARED);
    const reasons = [...new Set((alone.length > 0 ? alone : found.lonely).map((lone) => `${lone.isFirst ? one : two}: ${lone.reason}`))];
    throw new RecordError(`no point of ${twin.origin} is at the same place as one of ${record.origin}: ${reasons.slice(0, 2).join("; ")}`);
  }
  const others = found.pairs.filter((pair) => !JUDGED.some((name) => both(pair, name)));
  const names = [...JUDGED, ...NAMED.filter((name) => others.some((pair) => both(pair, name)))];
  const byFigure = new Map(names.map((name) => [name, differencesOf(found.pairs, name, levels.judged)]));
  const differences = [...byFigure.values()].flat();
  if (differences.length === 0) throw new RecordError(`${record.origin} and ${twin.origin} have none of ${names.join(", ")} in common`);
  const shifts = Object.keys(PERCENTILES).flatMap((name) => {
    const known = byFigure.get(name);
    return known?.length ? known : differencesOf(found.pairs, name, levels.shifts);
  });
  return { first: one, other: two, differences, shifts, lonely: found.lonely, subjects: found.subjects };
}

function both(pair: Pair, name: string): boolean {
  if (name.includes(".") && pair.first.direction === pair.other.direction && pair.first.direction !== "") return false;
  return figureAt(pair.first, name) !== undefined && figureAt(pair.other, name) !== undefined;
}

function differencesOf(pairs: readonly Pair[], name: string, confidence: number): Difference[] {
  return pairs.flatMap((pair) => {
    const [left, right] = [figureAt(pair.first, name), figureAt(pair.other, name)];
    if (left === undefined || right === undefined) return [];
    const { digest } = pair.first;
    const isSame = digest && pair.other.digest ? digest === pair.other.digest : sameFigures(pair);
    return [difference(pair.place, name, left, right, confidence, isSame)];
  });
}

function sameFigures({ first, other }: Pair): boolean {
  const text = (figures: object) => JSON.stringify(Object.entries(figures).sort(([one], [two]) => (one < two ? -1 : 1)));
  return text(first.figures) === text(other.figures);
}
