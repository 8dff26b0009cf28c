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

/** What a number of the form may be. */
interface Span {
  label: string;
  least: number;
  most: number;
  isWhole?: boolean;
  /** Whether an empty field is 0, for no limit. */
  isLimit?: boolean;
}

export const NUMBERS = {
  price: { label: "Price of a drive", least: 0.01, most: 1e7 },
  reads: { label: "Reads, %", least: 1, most: 99, isWhole: true },
  rate: { label: "Requests per second", least: 0.1, most: 1e6 },
  depth: { label: "Requests outstanding", least: 1, most: 256, isWhole: true },
  seed: { label: "Seed", least: 1, most: 2 ** 31, isWhole: true },
  capacity: { label: "Capacity, TB", least: 0.001, most: 1e6 },
  most: { label: "at most, ms", least: 0, most: 1e6, isLimit: true },
  iops: { label: "IOPS, at least", least: 0, most: 1e7, isLimit: true },
  loss: { label: "Chance of loss in a year, %", least: 0, most: 99, isLimit: true },
  spares: { label: "Hot spares", least: 0, most: 64, isWhole: true },
} satisfies Record<string, Span>;
export type NumberKey = keyof typeof NUMBERS;

/** A number as typed; undefined where it cannot be. */
function number(text: string, { least, most, isWhole = false, isLimit = false }: Span): number | undefined {
  const found = text.trim() === "" ? (isLimit ? 0 : Number.NaN) : Number(text);
  return found >= least && found <= most && (!isWhole || Number.isInteger(found)) ? found : undefined;
}

/** A currency as typed, in capitals; undefined where it is none. */
function currency(text: string): string | undefined {
  const found = text.trim().toUpperCase();
  return /^[A-Z]{3}$/.test(found) ? found : undefined;
}

/** What was typed into numbers and the currency and cannot be, with what can. */
export function wrongOf(typed: Record<string, string>): string[] {
  const shown = (value: number) => value.toLocaleString("en-US", { maximumFractionDigits: 3 }).replace(/,/g, " ");
  const found: string[] = [];
  for (const [key, text] of Object.entries(typed)) {
    const span: Span | undefined = Object.hasOwn(NUMBERS, key) ? NUMBERS[key as NumberKey] : undefined;
    const given = text.trim() || "nothing";
    if (span && number(text, span) === undefined) found.push(`${span.label}, ${given}: ${span.isWhole ? "a whole number " : ""}from ${shown(span.least)} to ${shown(span.most)}`);
    if (key === "currency" && currency(text) === undefined) found.push(`Currency, ${given}: three letters, such as ${DEFAULT.currency}`);
  }
  return found;
}

/** The setting of a link or a form; numbers and currencies that cannot be stay as in `last`. */
export function settingOf(state: Record<string, string>, last: Setting = DEFAULT): Setting {
  const text = (name: keyof Setting) => state[name] ?? String(DEFAULT[name]);
  const numberOf = (name: NumberKey) => number(text(name), NUMBERS[name]) ?? last[name];
  const oneOf = <Name extends string>(given: string, names: readonly Name[], otherwise: Name): Name => names.find((name) => name === given) ?? otherwise;
  return {
    drive: text("drive"),
    levels: text("levels"),
    members: text("members"),
    price: numberOf("price"),
    currency: currency(text("currency")) ?? last.currency,
    rw: oneOf(text("rw"), Object.keys(KINDS), DEFAULT.rw),
    bs: SIZES.test(text("bs")) ? text("bs") : DEFAULT.bs,
    reads: numberOf("reads"),
    ask: oneOf(text("ask"), ["rate", "depth"], DEFAULT.ask),
    rate: numberOf("rate"),
    process: oneOf(text("process"), ["poisson", "linear"], "poisson"),
    depth: numberOf("depth"),
    sync: state["sync"] === "true",
    seed: numberOf("seed"),
    capacity: numberOf("capacity"),
    quantile: oneOf(text("quantile"), QUANTILES, "p99"),
    most: numberOf("most"),
    iops: numberOf("iops"),
    loss: numberOf("loss"),
    states: oneOf(text("states"), WHERE.map(([value]) => value), "healthy"),
    life: oneOf(text("life"), ["afr", "mttf"], "afr"),
    afr: text("afr"),
    mttf: text("mttf"),
    ure: text("ure"),
    scrub: text("scrub"),
    detection: text("detection"),
    replacement: text("replacement"),
    spares: numberOf("spares"),
    common: text("common"),
    batch: text("batch"),
  };
}

export function stateOf(setting: Setting): Record<string, string> {
  return Object.fromEntries(Object.entries(setting).map(([key, value]) => [key, String(value)]));
}

export const levelsOf = ({ levels }: Setting): string[] => [...new Set(levels.split(",").map((name) => name.trim()).filter(Boolean))];

const RANGE = /^\s*(\d+)\s*\.\.\s*(\d+)\s*$/;

/** The numbers of drives: `4..8`, or `4,6,8`; undefined where the text is neither. */
export function membersOf({ members }: Setting): number[] | undefined {
  const range = RANGE.exec(members);
  const [from, to] = [Number(range?.[1]), Number(range?.[2])];
  if (range && to - from > MEMBERS_MAX) return undefined;
  const found = range ? Array.from({ length: Math.max(to - from + 1, 0) }, (_, at) => from + at) : members.split(",").map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : Number.NaN));
  const isSound = found.length > 0 && found.every((one) => one >= 1 && one <= MEMBERS_MAX);
  return isSound ? [...new Set(found)] : undefined;
}

/** Why a text names no numbers of drives. */
export function membersWrong({ members }: Setting): string {
  const range = RANGE.exec(members);
  if (range && Number(range[1]) > Number(range[2])) return "the first number is larger";
  return range || /^[\d\s,]*\d[\d\s,]*$/.test(members) ? `they are from 1 to ${MEMBERS_MAX}` : "this is neither a range nor a list of whole numbers";
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
 *  `levels` are those that so many drives make. The seed is left out, which is told with the copy. */
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
