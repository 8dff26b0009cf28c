// What state each member of an array is in at an instant of a run, from the events and the series of its record.
import type { ArrayEvent, ArrayPiece, ArrayReport } from "../core/arrays";

export interface Member {
  slot: number;
  drive: number;
  state: "whole" | "missing" | "rebuilding";
  /** How much of it is there, as a share. */
  share: number;
}

export interface Moment {
  members: Member[];
  /** The piece of the run that the instant is in. */
  piece: ArrayPiece | undefined;
  /** The events so far. */
  events: ArrayEvent[];
  scrub: "none" | "runs" | "ended";
}

/** The piece of a series that an instant is in. */
export function pieceAt(report: ArrayReport, at: number): ArrayPiece | undefined {
  let found: ArrayPiece | undefined;
  for (const piece of report.series) {
    if (piece.start_ns > at) break;
    found = piece;
  }
  return found;
}

export function momentAt(report: ArrayReport, count: number, at: number): Moment {
  const members = Array.from({ length: count }, (_, slot): Member => ({ slot, drive: slot, state: "whole", share: 1 }));
  const events = report.events.filter((event) => event.at_ns <= at);
  const piece = pieceAt(report, at);
  let scrub: Moment["scrub"] = "none";
  for (const event of events) {
    const member = event.slot === undefined ? undefined : members[event.slot];
    if (event.what === "failed" && member) Object.assign(member, { state: "missing", share: 0 });
    else if (event.what === "replaced" && member) Object.assign(member, { state: "rebuilding", drive: event.drive ?? member.slot, share: 0 });
    else if (event.what === "ended" && event.sync === "rebuild") {
      for (const one of members) if (one.state === "rebuilding") Object.assign(one, { state: "whole", share: 1 });
    }
    if (event.sync === "scrub") scrub = event.what === "began" ? "runs" : "ended";
  }
  for (const one of members) if (one.state === "rebuilding") one.share = piece?.rebuilt ?? 0;
  return { members, piece, events, scrub };
}

/** An event in words. */
export function eventWords(event: ArrayEvent): string {
  const drive = event.drive === undefined ? "" : `drive ${event.drive}`;
  switch (event.what) {
    case "failed":
      return `${drive} failed`;
    case "replaced":
      return `${drive} takes the place of member ${event.slot}`;
    case "began":
    case "ended":
    case "given-up":
      return `${event.sync} ${event.what === "given-up" ? "given up" : event.what}`;
    case "began-anew":
      return `${event.sync} began anew`;
    case "lost":
      return `data lost: ${event.lost?.times ?? 0} ranges of ${event.lost?.bytes ?? 0} bytes, from byte ${event.lost?.first ?? 0} on`;
    case "write-error":
      return `a write to ${drive} failed`;
    case "stale":
      return `${drive} holds old data`;
    case "spare-failed":
      return `${drive}, a spare, failed`;
    case "journal-failed":
      return `${drive}, the journal, failed`;
    default:
      return event.what;
  }
}

/** While few I/Os end in each piece, neighbours become one: the mean of two I/Os is only noise. */
export function merged(series: readonly ArrayPiece[], least = 20, pieces = 60): ArrayPiece[] {
  let found = [...series];
  const ios = found.reduce((sum, piece) => sum + piece.ios, 0);
  while (found.length >= 2 * pieces && ios < least * found.length) {
    found = found.filter((_, at) => at % 2 === 0).map((piece, at) => joined(piece, found[2 * at + 1]));
  }
  return found;
}

function joined(one: ArrayPiece, other: ArrayPiece | undefined): ArrayPiece {
  if (other === undefined) return one;
  const ios = one.ios + other.ios;
  const seconds = [one, other].reduce((sum, piece) => sum + (piece.iops ? piece.ios / piece.iops : 0), 0);
  const isHalf = [one, other].some((piece) => !piece.iops);
  const times = [one.max_latency_ns, other.max_latency_ns].filter((time): time is number => time !== null);
  return {
    start_ns: one.start_ns,
    ios,
    // How long a piece was in which nothing ended is not in the record; all but the last are of one length.
    iops: ios ? (ios / seconds) * (isHalf ? 0.5 : 1) : 0,
    mean_latency_ns: ios ? (one.ios * (one.mean_latency_ns ?? 0) + other.ios * (other.mean_latency_ns ?? 0)) / ios : null,
    max_latency_ns: times.length > 0 ? Math.max(...times) : null,
    errors: one.errors + other.errors,
    rebuilt: other.rebuilt,
  };
}
