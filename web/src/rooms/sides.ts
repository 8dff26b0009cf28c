// The two drives of the room "A queue at work": what stands in the link, and the scenario that it means.
import { quoted } from "../scenario/lines";

export interface Side {
  drive: string;
  queue: string;
}

export interface Setting {
  sides: [Side, Side];
  rw: string;
  bs: string;
  depth: number;
  seed: number;
}

/** What may be chosen as a drive's queue: name, words, and the keys of the scenario. */
export const QUEUES: readonly (readonly [string, string, readonly string[]])[] = [
  ["none", "No queue: one command at a time", ['queue.protocol = "none"']],
  ["own", "The drive's own queue", []],
  ["sptf", "Shortest positioning time first", ['queue.order = "sptf"']],
  ["sstf", "Shortest seek first", ['queue.order = "sstf"']],
  ["fcfs", "A queue, served in order of arrival", ['queue.order = "fcfs"']],
];

export const DEPTH_MAX = 256;
/** Commands of a run, of which so many are logged and shown. */
export const IOS = 2000;
export const SHOWN = 400;

export const DEFAULT: Setting = {
  sides: [
    { drive: "wd-4tb-7200", queue: "none" },
    { drive: "wd-4tb-7200", queue: "own" },
  ],
  rw: "randread",
  bs: "4KiB",
  depth: 8,
  seed: 1,
};

/** The scenario of a side. The addresses come from the seed alone, so both sides get the same commands. */
export function scenarioOf(setting: Setting, side: Side): string {
  const keys = QUEUES.find(([name]) => name === side.queue)?.[2] ?? [];
  const lines = [
    'name = "a queue at work"',
    "",
    "[target]",
    `drive = ${quoted(side.drive)}`,
    ...keys,
    "",
    "[workload]",
    `rw = ${quoted(setting.rw)}`,
    `bs = ${quoted(setting.bs)}`,
    `iodepth = ${setting.depth}`,
    "",
    "[run]",
    `ios = ${IOS}`,
    `seed = ${setting.seed}`,
    "",
  ];
  return lines.join("\n");
}

export function settingOf(state: Record<string, string>): Setting {
  const whole = (text: string | undefined, otherwise: number, most: number) => {
    const found = Number(text);
    return Number.isInteger(found) && found >= 1 && found <= most ? found : otherwise;
  };
  const side = (name: string, otherwise: Side): Side => {
    const [drive, queue] = (state[name] ?? "").split(",");
    return { drive: drive || otherwise.drive, queue: QUEUES.some(([known]) => known === queue) ? (queue as string) : otherwise.queue };
  };
  return {
    sides: [side("left", DEFAULT.sides[0]), side("right", DEFAULT.sides[1])],
    rw: state["rw"] ?? DEFAULT.rw,
    bs: state["bs"] ?? DEFAULT.bs,
    depth: whole(state["depth"], DEFAULT.depth, DEPTH_MAX),
    seed: whole(state["seed"], DEFAULT.seed, 2 ** 31),
  };
}

export function stateOf({ sides, rw, bs, depth, seed }: Setting): Record<string, string> {
  const [left, right] = sides.map(({ drive, queue }) => `${drive},${queue}`) as [string, string];
  return { left, right, rw, bs, depth: String(depth), seed: String(seed) };
}
