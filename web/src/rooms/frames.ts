// What a drive does at an instant, from the log of its commands alone: who waits, who is served, where arm and platter
// are, and what has been answered so far.
import type { Command, Point } from "../core/answers";

/** A command that the drive has started, with its place on the platter. */
export interface Placed extends Command {
  /** In the order of arrival, and of service. */
  arrival: number;
  service: number;
  /** Where it begins, as a share of a turn: the platter was there when its transfer began. */
  angle: number;
  begun_ns: number;
  ended_ns: number;
  /** When the arm left for it and when it was there. */
  leaves_ns: number;
  settles_ns: number;
  from_cylinder: number;
  first_cylinder: number;
  /** Commands that arrived before it and were served after it, and the reverse. */
  overtook: number[];
  overtakenBy: number[];
}

export interface Film {
  commands: Placed[];
  /** The same in the order of service. */
  served: Placed[];
  /** Those that the buffer answered: they have no place on the platter. */
  buffered: Command[];
  rotation_ns: number;
  cylinders: number;
  start_ns: number;
  /** Where the log still has all that wait: until the last logged command arrives, if the run had more of them. */
  end_ns: number;
}

/** The film of a point with a log; undefined for a target without platters. */
export function filmOf(point: Point): Film | undefined {
  const { platter, commands = [] } = point;
  if (platter === undefined || platter === null) return undefined;
  const turn = platter.rotation_ns;
  const reached = commands.filter((one) => one.begun_ns !== null && one.ended_ns !== null && one.first_cylinder !== null);
  const placed = reached.map((one, arrival): Placed => {
    const begun = one.begun_ns as number;
    const settles = begun - (one.breakdown_ns?.rotation ?? 0);
    return {
      ...one,
      arrival,
      service: 0,
      angle: (begun % turn) / turn,
      begun_ns: begun,
      ended_ns: one.ended_ns as number,
      settles_ns: settles,
      leaves_ns: settles - (one.breakdown_ns?.seek ?? 0),
      from_cylinder: one.from_cylinder ?? (one.first_cylinder as number),
      first_cylinder: one.first_cylinder as number,
      overtook: [],
      overtakenBy: [],
    };
  });
  const served = [...placed].sort((one, other) => one.begun_ns - other.begun_ns);
  served.forEach((one, service) => {
    one.service = service;
  });
  for (const one of served) {
    for (const other of placed) {
      if (other.arrival < one.arrival && other.service > one.service) {
        one.overtook.push(other.id);
        other.overtakenBy.push(one.id);
      }
    }
  }
  const isPart = commands.length < (point.latency_ns?.n ?? 0);
  const from = isPart ? commands.map((one) => one.submitted_ns) : commands.map((one) => one.completed_ns);
  return {
    commands: placed,
    served,
    buffered: commands.filter((one) => one.first_cylinder === null),
    rotation_ns: turn,
    cylinders: platter.cylinders,
    start_ns: Math.min(...commands.map((one) => one.submitted_ns)),
    end_ns: Math.max(...from),
  };
}

export interface Frame {
  waiting: Placed[];
  /** The command that the drive is busy with, and what it does for it. */
  now: Placed | undefined;
  doing: "seek" | "rotation" | "transfer" | "other";
  done: Placed[];
  cylinder: number;
  /** How far the platter has turned, as a share of a turn. */
  angle: number;
}

export function frameAt(film: Film, at: number): Frame {
  const now = film.served.find((one) => one.ended_ns > at);
  const isIn = now !== undefined && now.submitted_ns <= at && now.leaves_ns <= at;
  const waiting = film.commands.filter((one) => one.submitted_ns <= at && one.ended_ns > at && !(isIn && one === now));
  const done = film.commands.filter((one) => one.completed_ns <= at);
  const last = film.served[(now?.service ?? film.served.length) - 1];
  let cylinder = now?.from_cylinder ?? last?.to_cylinder ?? 0;
  let doing: Frame["doing"] = "other";
  if (now !== undefined && isIn) {
    if (at < now.settles_ns) {
      const share = (at - now.leaves_ns) / Math.max(now.settles_ns - now.leaves_ns, 1);
      // An arm gains speed and brakes.
      cylinder = now.from_cylinder + (now.first_cylinder - now.from_cylinder) * share * share * (3 - 2 * share);
      doing = "seek";
    } else {
      cylinder = now.first_cylinder;
      doing = at < now.begun_ns ? "rotation" : "transfer";
    }
  }
  return { waiting, now: isIn ? now : undefined, doing, done, cylinder, angle: (at % film.rotation_ns) / film.rotation_ns };
}

export interface SoFar {
  done: number;
  waiting: number;
  iops: number | undefined;
  mean_ns: number | undefined;
  p50_ns: number | undefined;
  p95_ns: number | undefined;
  longest: { command: Placed; age_ns: number } | undefined;
}

/** What was answered up to an instant. A percentile needs ten commands beyond it, as in the record. */
export function soFar(film: Film, frame: Frame, at: number): SoFar {
  const ended = [...frame.done, ...film.buffered.filter((one) => one.completed_ns <= at)];
  const spans = ended.map((one) => one.completed_ns - one.submitted_ns).sort((one, other) => one - other);
  const percentile = (share: number) => (spans.length * (1 - share) >= 10 ? spans[Math.ceil(spans.length * share) - 1] : undefined);
  const seconds = (at - film.start_ns) / 1e9;
  const oldest = frame.waiting.reduce<Placed | undefined>((old, one) => (old === undefined || one.submitted_ns < old.submitted_ns ? one : old), undefined);
  return {
    done: spans.length,
    waiting: frame.waiting.length + film.buffered.filter((one) => one.submitted_ns <= at && one.completed_ns > at).length,
    iops: seconds > 0 && spans.length > 0 ? spans.length / seconds : undefined,
    mean_ns: spans.length > 0 ? spans.reduce((sum, one) => sum + one, 0) / spans.length : undefined,
    p50_ns: percentile(0.5),
    p95_ns: percentile(0.95),
    longest: oldest === undefined ? undefined : { command: oldest, age_ns: at - oldest.submitted_ns },
  };
}

/** The next instant at which one of the films ends a command; the one before it, with `back`. */
export function stepFrom(films: readonly Film[], at: number, back = false): number {
  const ends = films.flatMap((film) => film.commands.map((one) => one.ended_ns)).sort((one, other) => one - other);
  if (back) return [...ends].reverse().find((end) => end < at) ?? Math.min(...films.map((film) => film.start_ns));
  return ends.find((end) => end > at) ?? at;
}
