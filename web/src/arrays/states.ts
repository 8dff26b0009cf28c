// The scenarios of a comparison: a level healthy, with a member missing, and while a new one is rebuilt, as
// python/drivelab/arrays/simulation/planning.py makes them.
import { quoted } from "../scenario/lines";
import { type Load, REQUESTS, WARM_UP, workloadLines } from "./load";
import { samplingLines, type Way } from "./rebuild";

export type State = "healthy" | "degraded" | "rebuilding";

/** What each state is in words, and the keys that it adds to `[target.array]`. */
export const STATES: Record<State, readonly string[]> = {
  healthy: [],
  degraded: ["missing = [0]"],
  rebuilding: ["missing = [0]", "rebuilding = true"],
};
export const STATE_WORDS: Record<State, string> = { healthy: "healthy", degraded: "with a drive missing", rebuilding: "while it is rebuilt" };

/** As many copies and groups as a level has that says nothing of them, where it has any. */
export const COPIES = 2;
export const GROUPS = 2;

/** A level over some members of one drive. */
export interface Made {
  drive: string;
  level: string;
  members: number;
}

function scenario(made: Made, seed: number, state: State, workload: readonly string[], run: readonly string[]): string {
  const lines = [
    `name = ${quoted(`${made.level} of ${made.members} x ${made.drive}, ${state}`)}`,
    "",
    "[target]",
    `drive = ${quoted(made.drive)}`,
    "",
    "[target.array]",
    `level = ${quoted(made.level)}`,
    `members = ${made.members}`,
    ...STATES[state],
    "",
    "[workload]",
    ...workload,
    "",
    "[run]",
    ...run,
    `seed = ${seed}`,
    "",
  ];
  return lines.join("\n");
}

/** A level under the load. */
export function stateText(made: Made, load: Load, state: State, seed: number): string {
  return scenario(made, seed, state, workloadLines(load), [`warmup = "${WARM_UP}"`, `ios = ${REQUESTS}`]);
}

/** Its rebuild under the load. */
export function rebuildText(made: Made, load: Load, way: Way, seed: number): string {
  return scenario(made, seed, "rebuilding", workloadLines(load), samplingLines(way));
}

/** A few writes to the healthy array, one at a time: with FUA they end on the media. */
export function writesText(made: Made, isForced: boolean): string {
  return scenario(made, 1, "healthy", ['rw = "randwrite"', 'bs = "4KiB"', "iodepth = 1", `fua = ${isForced}`], ["ios = 12"]);
}

/** A stream from the first address of one drive: what its outer zone gives at most. */
export function streamText(drive: string): string {
  return `[target]\ndrive = ${quoted(drive)}\n\n[workload]\nrw = "read"\nbs = "16MiB"\niodepth = 1\noffset = "0B"\n\n[run]\nios = 8\n`;
}
