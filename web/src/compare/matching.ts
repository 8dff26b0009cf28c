// Which points of two records are at the same place: the rules of python/drivelab/comparison/matching.py.
import { type Axes, type DriveRecord, type Figure, OPTIONAL_AXES, type RecordPoint, axisText, isWorkload, last } from "./model";
import { ofRepeats } from "./precision";

const SEED = "seed";
const NOT_GIVEN = "not given";
export const SHARED = "its counterpart fits several points of this record";
const REPEATABLE = ["simulated", "measured", "fio"];

export interface Pair {
  place: Axes;
  first: RecordPoint;
  other: RecordPoint;
}

export interface Lonely {
  axes: Axes;
  isFirst: boolean;
  reason: string;
}

export interface Matched {
  pairs: Pair[];
  lonely: Lonely[];
  /** Axes that distinguish the records, with the value of each. */
  subjects: Record<string, [string, string]>;
}

const key = (axes: Axes): string => JSON.stringify(Object.entries(axes).map(([name, value]) => [name, axisText(value)]).sort(([one], [other]) => ((one as string) < (other as string) ? -1 : 1)));
const without = (axes: Axes, names: ReadonlySet<string>): Axes => Object.fromEntries(Object.entries(axes).filter(([name]) => !names.has(name)));

/** The record with runs that differ only in their seed pooled as repeats of one point. */
export function pooled(record: DriveRecord): DriveRecord {
  if (!REPEATABLE.includes(record.kind)) return record;
  const groups = new Map<string, RecordPoint[]>();
  for (const point of record.points) {
    const place = key(without(point.axes, new Set([SEED])));
    groups.set(place, [...(groups.get(place) ?? []), point]);
  }
  const all = [...groups.values()];
  if (all.every((group) => group.length === 1)) return record;
  const count = Math.max(...all.map((group) => group.length));
  const note = `runs that differ in nothing but their seed or their time are repeats: up to ${count} at a point`;
  return { ...record, points: all.map((group) => (group.length === 1 ? (group[0] as RecordPoint) : mean(group))), notes: [...record.notes, note] };
}

function mean(group: readonly RecordPoint[]): RecordPoint {
  const first = group[0] as RecordPoint;
  const names = Object.keys(first.figures).filter((name) => group.every((point) => name in point.figures));
  const figures = Object.fromEntries(names.map((name) => [name, ofRepeats(group.map((point) => (point.figures[name] as Figure).value))]));
  return { axes: without(first.axes, new Set([SEED])), figures, digest: null, direction: first.direction, is_complete: first.is_complete };
}

/** The points of two records that are at the same place. */
export function matched(first: DriveRecord, other: DriveRecord): Matched {
  const subjects = subjectsOf(first, other);
  const places = [first, other].map((record) => record.points.map((point) => without(point.axes, subjects))) as [Axes[], Axes[]];
  // What is absent is judged from both as they are, so the first may have got axes when the other's turn comes.
  [first, other].forEach((record, at) => addAbsent(record, places[at] as Axes[], [...places[0], ...places[1]]));
  const fits = fitting(places[0], places[1]);
  const [ofFirst, ofOther] = [ends(fits, 0), ends(fits, 1)];
  const pairs: Pair[] = [];
  const lonely: Lonely[] = [];
  const at = (list: readonly Axes[], index: number) => list[index] as Axes;
  first.points.forEach((point, a) => {
    const found = ofFirst.get(a) ?? [];
    const [b] = found;
    if (b !== undefined && found.length === 1 && ofOther.get(b)?.length === 1) pairs.push({ place: { ...at(places[1], b), ...at(places[0], a) }, first: point, other: other.points[b] as RecordPoint });
    else lonely.push({ axes: at(places[0], a), isFirst: true, reason: reasonOf(at(places[0], a), found.map((one) => at(places[1], one)), places[1]) });
  });
  other.points.forEach((_, b) => {
    const found = ofOther.get(b) ?? [];
    const [a] = found;
    if (a === undefined || found.length !== 1 || ofFirst.get(a)?.length !== 1) {
      lonely.push({ axes: at(places[1], b), isFirst: false, reason: reasonOf(at(places[1], b), found.map((one) => at(places[0], one)), places[0]) });
    }
  });
  const text = (record: DriveRecord, name: string) => axisText(record.points[0]?.axes[name]);
  return { pairs, lonely, subjects: Object.fromEntries([...subjects].sort().map((name) => [name, [text(first, name), text(other, name)]])) };
}

/** Axes that another point states and whose absence in a complete point means their default. */
function addAbsent(record: DriveRecord, places: Axes[], everywhere: readonly Axes[]): void {
  const before = (name: string) => name.slice(0, Math.max(0, name.lastIndexOf(".")));
  const wanted = [...new Set(everywhere.flatMap((place) => Object.keys(place).filter((name) => OPTIONAL_AXES.includes(last(name)))))];
  record.points.forEach((point, at) => {
    if (!point.is_complete) return;
    for (const name of wanted) {
      const isOfJob = Object.keys(point.axes).some((axis) => axis.endsWith("rw") && before(axis) === before(name));
      if (isOfJob) (places[at] as Axes)[name] ??= NOT_GIVEN;
    }
  });
}

/** Pairs of points without contradicting axes. A pair with the same axes and values matches nothing else. */
function fitting(firsts: readonly Axes[], others: readonly Axes[]): [number, number][] {
  const [mine, theirs] = [firsts.map(key), others.map(key)];
  const count = (keys: readonly string[], one: string) => keys.filter((found) => found === one).length;
  const exact: [number, number][] = [];
  mine.forEach((one, a) => {
    if (count(mine, one) === 1 && count(theirs, one) === 1) exact.push([a, theirs.indexOf(one)]);
  });
  const taken = [new Set(exact.map(([a]) => a)), new Set(exact.map(([, b]) => b))] as const;
  const found = [...exact];
  firsts.forEach((left, a) => {
    others.forEach((right, b) => {
      if (!taken[0].has(a) && !taken[1].has(b) && conflicts(left, right).length === 0) found.push([a, b]);
    });
  });
  return found.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
}

function ends(fits: readonly [number, number][], end: 0 | 1): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const pair of fits) found.set(pair[end], [...(found.get(pair[end]) ?? []), pair[end === 0 ? 1 : 0]]);
  return found;
}

/** Axes with one value in each record, different ones, that are not part of the workload. */
function subjectsOf(first: DriveRecord, other: DriveRecord): Set<string> {
  const [mine, theirs] = [constant(first), constant(other)];
  return new Set(Object.keys(mine).filter((name) => name in theirs && !isWorkload(name) && !same(mine[name], theirs[name])));
}

function constant(record: DriveRecord): Axes {
  const axes = record.points[0]?.axes ?? {};
  return Object.fromEntries(Object.entries(axes).filter(([name, value]) => record.points.every((point) => name in point.axes && same(point.axes[name], value))));
}

/** Whether two values of an axis are equal, 4 and the text 4 too. */
export function same(one: unknown, other: unknown): boolean {
  const isNumber = (value: unknown): value is number | boolean => typeof value === "number" || typeof value === "boolean";
  if (isNumber(one) && isNumber(other)) {
    const [left, right] = [Number(one), Number(other)];
    return left === right || Math.abs(left - right) <= 1e-9 * Math.max(Math.abs(left), Math.abs(right));
  }
  return axisText(one).toLowerCase() === axisText(other).toLowerCase();
}

function conflicts(left: Axes, right: Axes): string[] {
  const found = Object.keys(left).filter((name) => name in right && !same(left[name], right[name]));
  const isSingle = (axes: Axes) => "rw" in axes;
  const isSeveral = (axes: Axes) => !("rw" in axes) && Object.keys(axes).some((name) => name.endsWith(".rw"));
  if ((isSingle(left) && isSeveral(right)) || (isSingle(right) && isSeveral(left))) found.push("rw");
  return found;
}

/** Why a point has no counterpart. */
function reasonOf(axes: Axes, fitted: readonly Axes[], others: readonly Axes[]): string {
  const withoutDepth = (names: readonly string[]) => names.filter((name) => name !== "depth" || !names.includes("iodepth"));
  if (fitted.length > 0) {
    if (fitted.length === 1) return SHARED;
    const names = [...new Set(fitted.flatMap((place) => Object.keys(place)))].filter((name) => new Set(fitted.map((place) => axisText(place[name]))).size > 1);
    const apart = withoutDepth(names).join(", ");
    return `it fits ${fitted.length} points of the other${apart ? ` that differ in ${apart}` : ""}`;
  }
  const fewest = others.map((place) => conflicts(axes, place)).reduce((least, one) => (one.length < least.length ? one : least));
  if (fewest.length === 0) return "the point of the other that it fits states the same axes as another point, and is matched with that";
  return withoutDepth([...new Set(fewest)]).map((name) => differs(name, axes, others)).join("; ");
}

/** How all points of the other differ in an axis. */
function differs(name: string, axes: Axes, others: readonly Axes[]): string {
  if (axes[name] === NOT_GIVEN) return `the other has ${name} ${listed(others, name)}`;
  const value = name in axes ? axisText(axes[name]) : "of several jobs";
  if (others.every((place) => !(name in place) || place[name] === NOT_GIVEN)) return `the other is without ${name}, here ${value}`;
  return `the other has no ${name} ${value}, only ${listed(others, name)}`;
}

function listed(places: readonly Axes[], name: string): string {
  const values = [...new Set(places.filter((place) => name in place).map((place) => axisText(place[name])))];
  const found = values.slice(0, 6).join(", ") || "several jobs";
  return values.length > 6 ? `${found}, ..` : found;
}
