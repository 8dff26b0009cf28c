// The room "An array": what stands in its link, and the scenarios that it means.
import type { LevelEntry } from "../../core/arrays";
import { samplingLines } from "../../arrays/rebuild";
import { quoted } from "../../scenario/lines";

/** What goes wrong. */
export type Event = "fail" | "scrub" | "cut";

export interface Setting {
  level: string;
  members: number;
  drive: string;
  unit: string;
  layout: string;
  rw: string;
  bs: string;
  depth: number;
  what: Event;
  /** The member that fails; with a power cut the one that is missing, -1 for none. */
  member: number;
  /** When it happens, and how long the run is, in seconds. */
  at: number;
  length: number;
  /** Seconds until a new drive takes the place; none where it is negative. */
  spare: number;
  pace: string;
  cache: string;
  seed: number;
}

export const DEFAULT: Setting = {
  level: "raid5",
  members: 4,
  drive: "wd-wd740gd-00fla0",
  unit: "64KiB",
  layout: "",
  rw: "randrw",
  bs: "4KiB",
  depth: 4,
  what: "fail",
  member: 1,
  at: 10,
  length: 40,
  spare: 5,
  pace: "draining",
  cache: "",
  seed: 1,
};

export const LEVELS_KNOWN = ["jbod", "raid0", "raid1", "raid01", "raid10", "raid3", "raid4", "raid5", "raid6", "raid30", "raid50", "raid60", "raidz1", "raidz2", "raidz3"];
export const MEMBERS_MAX = 32;
/** A run of an array may not be longer: a page is to answer. */
export const LENGTH_MAX = 3600;
/** What settles before a state is measured, and how long it is measured, in seconds. */
const SETTLED = 10;
const WHOLE_WINDOW = 160;

function whole(text: string | undefined, otherwise: number, least: number, most: number): number {
  const found = text === undefined || text === "" ? Number.NaN : Number(text);
  return Number.isInteger(found) && found >= least && found <= most ? found : otherwise;
}

/** Seconds, to a thousandth: an instant of a power cut is a fine thing. */
function seconds(text: string | undefined, otherwise: number, most: number): number {
  const found = text === undefined || text === "" ? Number.NaN : Number(text);
  return found >= 0 && found <= most ? Math.round(found * 1000) / 1000 : otherwise;
}

export function settingOf(state: Record<string, string>): Setting {
  const text = (name: keyof Setting) => state[name] ?? String(DEFAULT[name]);
  const what = (["fail", "scrub", "cut"] as const).find((one) => one === state["what"]) ?? DEFAULT.what;
  const members = whole(state["members"], DEFAULT.members, 1, MEMBERS_MAX);
  return {
    level: text("level"),
    members,
    drive: text("drive"),
    unit: text("unit"),
    layout: text("layout"),
    rw: text("rw"),
    bs: text("bs"),
    depth: whole(state["depth"], DEFAULT.depth, 1, 256),
    what,
    member: whole(state["member"], what === "cut" ? -1 : Math.min(DEFAULT.member, members - 1), what === "cut" ? -1 : 0, members - 1),
    at: seconds(state["at"], DEFAULT.at, LENGTH_MAX),
    length: Math.max(1, whole(state["length"], DEFAULT.length, 1, LENGTH_MAX)),
    spare: whole(state["spare"], DEFAULT.spare, -1, LENGTH_MAX),
    pace: state["pace"] === "waiting" ? "waiting" : "draining",
    cache: ["", "true", "false"].includes(state["cache"] ?? "") ? (state["cache"] ?? "") : "",
    seed: whole(state["seed"], DEFAULT.seed, 1, 2 ** 31),
  };
}

export function stateOf(setting: Setting): Record<string, string> {
  return Object.fromEntries(Object.entries(setting).map(([key, value]) => [key, String(value)]));
}

/** A scenario of this array and load. */
function scenario(setting: Setting, level: LevelEntry | undefined, name: string, target: readonly string[], array: readonly string[], run: readonly string[]): string {
  const lines = [
    `name = ${quoted(name)}`,
    "",
    "[target]",
    `drive = ${quoted(setting.drive)}`,
    ...(setting.cache === "" ? [] : [`write_cache = ${setting.cache}`]),
    ...target,
    "",
    "[target.array]",
    `level = ${quoted(setting.level)}`,
    `members = ${setting.members}`,
    ...(level?.stripe_unit ? [`stripe_unit = ${quoted(setting.unit)}`] : []),
    ...(level?.layout && setting.layout !== "" ? [`layout = ${quoted(setting.layout)}`] : []),
    ...array,
    "",
    "[workload]",
    `rw = ${quoted(setting.rw)}`,
    `bs = ${quoted(setting.bs)}`,
    `iodepth = ${setting.depth}`,
    "",
    "[run]",
    ...run,
    `seed = ${setting.seed}`,
    "",
  ];
  return lines.join("\n");
}

const pace = (setting: Setting) => (setting.pace === "draining" ? [] : [`rebuild.gives_way = ${quoted(setting.pace)}`]);

/** The array and its load, and nothing that goes wrong: for the map. */
export function plainOf(setting: Setting, level: LevelEntry | undefined, layout = setting.layout): string {
  return scenario({ ...setting, layout }, level, "an array", [], [], ["ios = 1"]);
}

/** A power cut under each of these policies; one of them is no sweep. */
export function cutOf(setting: Setting, level: LevelEntry | undefined, policies: readonly string[]): string {
  const list = policies.map(quoted);
  const holes = list.length === 0 ? [] : [`write_hole = ${list.length === 1 ? list[0] : `[${list.join(", ")}]`}`];
  const missing = setting.member < 0 ? [] : [`missing = [${setting.member}]`];
  return scenario(setting, level, "an array: the power is cut", [`faults.power_cut = "${setting.at}s"`], [...holes, ...missing], []);
}

/** The run that is shown over time. */
export function mainOf(setting: Setting, level: LevelEntry | undefined, policies: readonly string[]): string {
  const run = [`duration = "${setting.length}s"`];
  if (setting.what === "cut") return cutOf(setting, level, policies);
  if (setting.what === "scrub") return scenario(setting, level, "an array: a scrub", [], [`scrub_at = "${setting.at}s"`, ...pace(setting)], run);
  const fails = [`faults.fail = [{ drive = ${setting.member}, at = "${setting.at}s" }]`];
  const isReplaced = setting.spare >= 0 && level?.redundancy;
  const spare = isReplaced ? ["spares = 1", `replaced_after = "${setting.spare}s"`, ...pace(setting)] : [];
  return scenario(setting, level, "an array: a member fails", fails, spare, run);
}

/** A state of the array in which its load is measured by itself. */
export interface Phase {
  name: string;
  words: string;
  text: string;
  /** Whether its rebuild is sampled. */
  isRebuild?: boolean;
  isScrub?: boolean;
  isAfter?: boolean;
}

/** How much of the new member is not there yet where the state after a rebuild is measured. */
const REST_BYTES = 32 * 2 ** 20;
/** How long the rest may take before the measurement begins, in seconds. */
const REST_S = 60;

/** The states whose load is measured; `used` are the bytes of a member that the array uses. */
export function phasesOf(setting: Setting, level: LevelEntry | undefined, used: number): Phase[] {
  const long = [`warmup = "${SETTLED}s"`, `duration = "${WHOLE_WINDOW}s"`];
  const own = (name: string, array: readonly string[], run = long) => scenario(setting, level, `an array: ${name}`, [], array, run);
  const before = { name: "before", words: "all members there", text: own("all members there", []) };
  if (!level?.redundancy || setting.what === "cut") return [];
  if (setting.what === "scrub") {
    return [before, { name: "during", words: "a scrub runs", text: own("a scrub runs", ['scrub_at = "0s"', ...pace(setting)]), isScrub: true }];
  }
  const missing = `missing = [${setting.member}]`;
  const found: Phase[] = [before, { name: "without", words: "a member is missing", text: own("a member is missing", [missing]) }];
  if (setting.spare < 0) return found;
  const during = [missing, "rebuilding = true", ...pace(setting)];
  found.push({
    name: "during",
    words: "a new member is rebuilt",
    text: own("a new member is rebuilt", during, [`warmup = "${SETTLED}s"`, ...samplingLines()]),
    isRebuild: true,
  });
  // To the last piece: the run begins with the end of a rebuild, and what counts is the array behind it.
  const done = (100 * Math.max(0, 1 - REST_BYTES / Math.max(used, 1))).toFixed(6);
  const rest = [missing, "rebuilding = true", `rebuilt = "${done}%"`, ...pace(setting)];
  const run = [`warmup = "${REST_S}s"`, `duration = "${WHOLE_WINDOW}s"`];
  found.push({ name: "after", words: "the new member is rebuilt", text: own("a new member is rebuilt", rest, run), isAfter: true });
  return found;
}
