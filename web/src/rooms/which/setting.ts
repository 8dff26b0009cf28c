// The room "Which array": what stands in its link, the question that it means, and the commands that ask the same.
import type { Asked, Limits } from "../../arrays/candidate";
import type { Drive } from "../../arrays/drive";
import { KINDS, type Load, loadOptions } from "../../arrays/load";
import type { State } from "../../arrays/states";

export interface Setting {
  drive: string;
  levels: string;
  members: string;
  price: number;
  currency: string;
  rw: string;
  bs: string;
  reads: number;
  /** Whether a rate is asked for, or a number of requests is outstanding. */
  ask: "rate" | "depth";
  rate: number;
  process: string;
  depth: number;
  sync: boolean;
  seed: number;
  /** What is needed; 0 for no limit, but of the capacity. */
  capacity: number;
  quantile: string;
  most: number;
  iops: number;
  loss: number;
  states: string;
  /** What fails, and how it is repaired, as typed. */
  life: "afr" | "mttf";
  afr: string;
  mttf: string;
  ure: string;
  scrub: string;
  detection: string;
  replacement: string;
  spares: number;
  common: string;
  batch: string;
}

export const DEFAULT: Setting = {
  drive: "seagate-exos-x24-24tb",
  levels: "raid10,raid5,raid6",
  members: "5,6",
  price: 400,
  currency: "USD",
  rw: "randrw",
  bs: "4KiB",
  reads: 70,
  ask: "rate",
  rate: 150,
  process: "poisson",
  depth: 16,
  sync: false,
  seed: 1,
  capacity: 60,
  quantile: "p99",
  most: 70,
  iops: 0,
  loss: 0.1,
  states: "healthy",
  life: "afr",
  afr: "1.5%",
  mttf: "500000h",
  ure: "",
  scrub: "",
  detection: "",
  replacement: "2d",
  spares: 0,
  common: "",
  batch: "",
};

export const MEMBERS_MAX = 32;
export const CANDIDATES_MAX = 40;
export const QUANTILES = ["mean", "p50", "p90", "p95", "p99"] as const;
/** The states in which limits of latency and IOPS may hold. */
export const WHERE: readonly (readonly [string, string])[] = [
  ["healthy", "while it is healthy"],
  ["healthy,degraded", "also with a drive missing"],
  ["healthy,degraded,rebuilding", "also while it is rebuilt"],
];
const SIZES = /^[1-9]\d*(B|KiB|MiB)$/;

function number(text: string | undefined, otherwise: number, least: number, most: number, isWhole = false): number {
  const found = text === undefined || text === "" ? Number.NaN : Number(text);
  return found >= least && found <= most && (!isWhole || Number.isInteger(found)) ? found : otherwise;
}

export function settingOf(state: Record<string, string>): Setting {
  const text = (name: keyof Setting) => state[name] ?? String(DEFAULT[name]);
  const oneOf = <Name extends string>(given: string, names: readonly Name[], otherwise: Name): Name => names.find((name) => name === given) ?? otherwise;
  return {
    drive: text("drive"),
    levels: text("levels"),
    members: text("members"),
    price: number(state["price"], DEFAULT.price, 0.01, 1e7),
    currency: /^[A-Z]{3}$/.test(text("currency")) ? text("currency") : DEFAULT.currency,
    rw: oneOf(text("rw"), Object.keys(KINDS), DEFAULT.rw),
    bs: SIZES.test(text("bs")) ? text("bs") : DEFAULT.bs,
    reads: number(state["reads"], DEFAULT.reads, 1, 99, true),
    ask: oneOf(text("ask"), ["rate", "depth"], DEFAULT.ask),
    rate: number(state["rate"], DEFAULT.rate, 0.1, 1e6),
    process: oneOf(text("process"), ["poisson", "linear"], "poisson"),
    depth: number(state["depth"], DEFAULT.depth, 1, 256, true),
    sync: state["sync"] === "true",
    seed: number(state["seed"], DEFAULT.seed, 1, 2 ** 31, true),
    capacity: number(state["capacity"], DEFAULT.capacity, 0.001, 1e6),
    quantile: oneOf(text("quantile"), QUANTILES, "p99"),
    most: number(state["most"], DEFAULT.most, 0, 1e6),
    iops: number(state["iops"], DEFAULT.iops, 0, 1e7),
    loss: number(state["loss"], DEFAULT.loss, 0, 99),
    states: oneOf(text("states"), WHERE.map(([value]) => value), "healthy"),
    life: oneOf(text("life"), ["afr", "mttf"], "afr"),
    afr: text("afr"),
    mttf: text("mttf"),
    ure: text("ure"),
    scrub: text("scrub"),
    detection: text("detection"),
    replacement: text("replacement"),
    spares: number(state["spares"], DEFAULT.spares, 0, 64, true),
    common: text("common"),
    batch: text("batch"),
  };
}

export function stateOf(setting: Setting): Record<string, string> {
  return Object.fromEntries(Object.entries(setting).map(([key, value]) => [key, String(value)]));
}

export const levelsOf = ({ levels }: Setting): string[] => [...new Set(levels.split(",").map((name) => name.trim()).filter(Boolean))];

/** The numbers of drives: `4..8`, or `4,6,8`; undefined where the text is neither. */
export function membersOf({ members }: Setting): number[] | undefined {
  const range = /^\s*(\d+)\s*\.\.\s*(\d+)\s*$/.exec(members);
  const [from, to] = [Number(range?.[1]), Number(range?.[2])];
  if (range && to - from > MEMBERS_MAX) return undefined;
  const found = range ? Array.from({ length: Math.max(to - from + 1, 0) }, (_, at) => from + at) : members.split(",").map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : Number.NaN));
  const isSound = found.length > 0 && found.every((one) => one >= 1 && one <= MEMBERS_MAX);
  return isSound ? [...new Set(found)] : undefined;
}

export function loadOf(setting: Setting): Load {
  const { rw, bs, reads, process, depth } = setting;
  const isRead = rw === "read" || rw === "randread";
  return { rw, bs, reads, process, depth, sync: setting.sync && !isRead, rate: setting.ask === "rate" ? setting.rate : undefined };
}

const WAITS = ["scrub", "detection", "replacement", "common", "batch"] as const;

/** The keys on failures as typed; those that are left out are not there. */
export function failuresOf(setting: Setting): Record<string, string> {
  const found: Record<string, string> = {};
  const life = setting[setting.life].trim();
  if (life === "") return found;
  found[setting.life] = life;
  for (const key of ["ure", ...WAITS] as const) if (setting[key].trim() !== "") found[key] = setting[key].trim();
  if (setting.spares > 0) found["spares"] = String(setting.spares);
  return found;
}

export function limitsOf(setting: Setting): Limits {
  return {
    capacity_bytes: setting.capacity * 1e12,
    latency: setting.most > 0 ? { name: setting.quantile, most_ns: setting.most * 1e6 } : undefined,
    iops: setting.iops > 0 ? setting.iops : undefined,
    loss_percent: setting.loss > 0 && setting[setting.life].trim() !== "" ? setting.loss : undefined,
    states: setting.states.split(",") as State[],
  };
}

export function askedOf(setting: Setting, drive: Drive): Asked {
  const given = failuresOf(setting);
  const isAssumed = given["ure"] === undefined;
  const knows = Object.keys(given).length > 0;
  // In the order of the keys of the command, which decides between assumptions of equal effect.
  const failures = knows && isAssumed ? { ...given, ure: drive.assumed.rate } : given;
  return { drive, load: loadOf(setting), failures, is_ure_assumed: isAssumed, limits: limitsOf(setting), spares: knows ? setting.spares : 0, price: setting.price, currency: setting.currency, seed: setting.seed };
}

/** A word that a shell leaves alone. */
const shell = (word: string) => (/^[\w./:%+,=@-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

const joined = (verb: string, options: readonly (readonly [string, string])[]) => ["drivelab", verb, ...options.map(([name, value]) => (value === "" ? `--${name}` : `--${name} ${shell(value)}`))].join(" ");

const failureOptions = (setting: Setting) => Object.entries(failuresOf(setting)).map(([key, value]) => [key.replace("_", "-"), value] as const);
const seedOption = ({ seed }: Setting): (readonly [string, string])[] => (seed === 1 ? [] : [["randseed", String(seed)]]);

/** The pick and its sensitivities in a terminal. */
export function planCommand(setting: Setting): string {
  const limits = limitsOf(setting);
  const isLimited = limits.latency !== undefined || limits.iops !== undefined || setting.ask === "rate";
  return joined("plan", [
    ["capacity", `${setting.capacity}TB`],
    ["drive", setting.drive],
    ["drive-price", `${setting.price}${setting.currency}`],
    ["level", levelsOf(setting).join(",")],
    ["members", setting.members.replace(/\s/g, "")],
    ...loadOptions(loadOf(setting)),
    ...(limits.latency ? [["max-latency", `${limits.latency.name}=${setting.most}ms`] as const] : []),
    ...(limits.iops ? [["min-iops", String(limits.iops)] as const] : []),
    ...(limits.loss_percent ? [["max-loss", `${setting.loss}%/year`] as const] : []),
    ...(setting.states !== "healthy" && isLimited ? [["states", setting.states] as const] : []),
    ...failureOptions(setting),
    ...seedOption(setting),
  ]);
}

/** The levels side by side, for the first number of drives. */
export function compareCommand(setting: Setting, members: number): string {
  return joined("compare-levels", [
    ["drive", setting.drive],
    ["members", String(members)],
    ["levels", levelsOf(setting).join(",")],
    ...loadOptions(loadOf(setting)),
    ["drive-price", `${setting.price}${setting.currency}`],
    ...failureOptions(setting),
    ...seedOption(setting),
  ]);
}

/** The chances of loss alone, with the rebuild simulated under the load; undefined where nothing fails.
 *  `levels` are those that so many drives make. */
export function durabilityCommand(setting: Setting, members: number, levels: readonly string[]): string | undefined {
  const failures = failureOptions(setting);
  if (failures.length === 0 || levels.length === 0) return undefined;
  return joined("durability", [
    ["level", levels.join(",")],
    ["members", String(members)],
    ["drive", setting.drive],
    ["rebuild", "simulated"],
    ...loadOptions(loadOf(setting)),
    ...failures,
  ]);
}
