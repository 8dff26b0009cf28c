// How far the I/Os per second may lie from the prediction of a drive whose seeks, queue or cache nobody measured: the
// same rules as those of the command line (python/drivelab/scenarios/firmware.py), which a test holds equal.
import type { Bound, Point } from "../core/answers";
import { figure } from "../page/figures";

type Range = readonly [number, number];

/** `iops_low` and `iops_high` of a point; undefined where all that decides them was measured or set. */
export function iopsRange(point: Point): { iops_low: number; iops_high: number } | undefined {
  const firmware = point.in_force?.firmware ?? [];
  const cached = point.in_force?.cached_writes ?? [];
  const inside = point.depth.in_drives;
  if (firmware.length + cached.length === 0 || inside === null || !point.iops || point.depth.asked === null) return undefined;
  const depth = inside / (point.in_force?.array?.members ?? 1);
  const ranged = firmware.filter((one) => one.range.length > 0);
  const reads = widest(ranged.map((one) => bounds(one.range, depth)));
  const writes = widest(
    cached.map((one) => {
      const [low, high] = widest(ranged.map((of) => bounds(of.range, Math.max(depth, one.segments))));
      return [low * one.low, high * one.high] as const;
    }),
  );
  const [low, high] = mixed(reads, cached.length > 0 ? writes : reads, shareOfWrites(point));
  return low === high ? undefined : { iops_low: point.iops * low, iops_high: point.iops * high };
}

/**
 * How many times the I/Os per second of another point a point has, with the least and the most where either has a range.
 * What nobody measured of a drive is the same in both of its points.
 */
export function timesAsMany(one: Point, other: Point, isSameDrive: boolean): string {
  const times = one.iops / other.iops;
  const [own, others] = [iopsRange(one), iopsRange(other)];
  if (!own && !others) return `${figure(times)} times`;
  if (own && others && isSameDrive) {
    const ends = [own.iops_low / others.iops_low, own.iops_high / others.iops_high, times].map(figure);
    const [least, most] = [ends.reduce((a, b) => (Number(a) < Number(b) ? a : b)), ends.reduce((a, b) => (Number(a) > Number(b) ? a : b))];
    return least === most ? `${figure(times)} times` : `${figure(times)} times (between ${least} and ${most})`;
  }
  const least = (own?.iops_low ?? one.iops) / (others?.iops_high ?? other.iops);
  const most = (own?.iops_high ?? one.iops) / (others?.iops_low ?? other.iops);
  return `${figure(times)} times (between ${figure(least)} and ${figure(most)})`;
}

/** The least and the most of several ranges; 1 where there is none. */
function widest(ranges: readonly Range[]): Range {
  if (ranges.length === 0) return [1, 1];
  return [Math.min(...ranges.map(([low]) => low)), Math.max(...ranges.map(([, high]) => high))];
}

function shareOfWrites(point: Point): number {
  const sum = point.read.iops + point.write.iops;
  return sum ? point.write.iops / sum : 0;
}

/** The range of reads and writes together: each kind takes its share of the time. */
function mixed(reads: Range, writes: Range, share: number): Range {
  const one = (at: 0 | 1) => 1 / ((1 - share) / reads[at] + share / writes[at]);
  return [one(0), one(1)];
}

/** Least and most as shares of the prediction at this depth, linear over the depth's logarithm. */
export function bounds(known: readonly Bound[], depth: number): Range {
  const places = known.map((one) => [Math.log2(one.depth), one.low, one.high] as const);
  const first = places[0];
  if (first !== undefined && first[0] > 0) places.unshift([0, 1, 1]);
  const at = Math.log2(Math.max(depth, 1));
  for (let index = 0; index + 1 < places.length; index++) {
    const [left, low, high] = places[index] as readonly [number, number, number];
    const [right, nextLow, nextHigh] = places[index + 1] as readonly [number, number, number];
    if (at <= right) {
      const share = (at - left) / (right - left);
      return [low + share * (nextLow - low), high + share * (nextHigh - high)];
    }
  }
  const [, low, high] = places[places.length - 1] ?? [0, 1, 1];
  return [low, high];
}

/** What the ranges of these points are drawn from; undefined where none has one. */
export function rangeNote(points: readonly Point[]): string | undefined {
  const counts = new Map<string, readonly [number, number]>();
  const segments = new Set<number>();
  let accesses = 0;
  for (const point of points) {
    if (point.iops_low === undefined) continue;
    for (const one of point.in_force?.firmware ?? []) {
      accesses = Math.max(accesses, one.access_drives ?? 0);
      if (one.drives) counts.set(one.class, [one.drives, one.of_class]);
    }
    if (shareOfWrites(point)) {
      for (const one of point.in_force?.cached_writes ?? []) if (one.low !== one.high) segments.add(one.segments);
    }
  }
  const unknown: string[] = [];
  const bases: string[] = [];
  if (accesses) {
    unknown.push("its mean seek time");
    bases.push(`the access times of ${accesses} drive${accesses === 1 ? "" : "s"}`);
  }
  if (counts.size > 0) {
    const [drives] = [...counts.values()][0] as readonly [number, number];
    const members = [...counts].map(([name, [, ofClass]]) => `${ofClass} of class ${name}`).join(", ");
    unknown.push("what its queue gains");
    bases.push(`the gains of ${drives} (${members})`);
  }
  const lines: string[] = [];
  if (unknown.length > 0) {
    const was = unknown.length > 1 ? "were" : "was";
    lines.push(
      `IOPS range: ${unknown.join(" and ")} ${was} not measured on this drive; 9 of 10 drives are inside, by ${bases.join(" and ")}`,
    );
  }
  if (segments.size > 0) {
    const assumed = [...segments].sort((one, other) => one - other).join(" and ");
    lines.push(
      `IOPS range: how many writes its cache holds was not measured on this drive; ${assumed} here, range from the fewest and the most that are known of a drive, 11 and 2304`,
    );
  }
  return lines.join("\n") || undefined;
}
