// A candidate's chance of loss: the question to the core's solver, with the rebuild that was simulated or the fastest one
// that there could be (python/drivelab/arrays/plan/loss.py and bounds.py).
import type { Core } from "../core/client";
import { Refused, type Losses } from "../core/losses";
import { general } from "../compare/numbers";
import type { Asked, Candidate } from "./candidate";

const NS_PER_HOUR = 3600e9;
/** Nothing is rebuilt: the first failure is the loss. */
const NO_REBUILD = "1h";
/** A pool may not be full, and hosts move its records to the new member. */
const POOL_SHARE = 0.25;
const HISTORIES = 2 ** 18;
/** Effects of assumptions are told with two digits. */
const VARIED = { histories: 2 ** 16, error: "10%" };

const NUMBER = String.raw`\d+(?:\.\d*)?(?:e[+-]?\d+)?`;
const QUANTITY = new RegExp(NUMBER, "i");
const TIME_IN_LAW = new RegExp(String.raw`(?<=[:,])(${NUMBER})(?= ?(?:s|min|h|d|w|y)\b)`, "gi");

/** Whether a value is a law with a name, as in `weibull:2:9y`, and not a quantity. */
export const isLaw = (text: string): boolean => /^\s*\p{L}/u.test(text);

/** A quantity as typed, multiplied: `1.5%`, `2d`, `1e-15/bit`; each time of a law. */
export function times(text: string, factor: number, digits = 9): string {
  const scaled = (match: string) => general(Number(general(Number(match) * factor, digits)), Math.max(digits, 6));
  return text.trim().replace(isLaw(text) ? TIME_IN_LAW : QUANTITY, scaled);
}

/** The simulated rebuild with its interval; undefined where nothing is rebuilt, or its duration is unknown. */
export function rebuildHours({ rebuild }: Candidate): string | undefined {
  if (!rebuild || rebuild.duration_ns === null || rebuild.relative_error === null) return undefined;
  const [hours, error] = [rebuild.duration_ns / NS_PER_HOUR, rebuild.relative_error];
  return `${general(hours)}h(${general(hours * (1 - error))}h..${general(hours * (1 + error))}h)`;
}

/** The hours of the fastest rebuild that there could be: a member's share, at the rate of the outer zone. */
export function fastestHours(one: Candidate, asked: Asked): string {
  const share = (one.capacity_bytes / one.made.members) * (one.made.level.startsWith("raidz") ? POOL_SHARE : 1);
  return `${general(share / asked.drive.bytes_per_s / 3600)}h`;
}

/** The keys of the question, as `drivelab plan` and `compare-levels` ask it. */
export function keysOf(one: Candidate, asked: Asked, rebuild: string | undefined): Record<string, unknown> {
  const { failures, drive } = asked;
  return {
    ...failures,
    // The interval of the failure rate is left out, which a remark says.
    ...(failures["afr"] === undefined ? {} : { afr: failures["afr"].split("(")[0] }),
    level: one.made.level,
    members: one.made.members,
    capacity: `${drive.capacity_bytes}B`,
    rebuild: rebuild ?? NO_REBUILD,
    histories: HISTORIES,
  };
}

/** `isVaried` where only the effect of something that is varied is told. */
export async function lossesOf(core: Core, one: Candidate, asked: Asked, rebuild: string | undefined, isVaried = false): Promise<Losses | undefined> {
  return (await core.losses({ ...keysOf(one, asked, rebuild), ...(isVaried ? VARIED : {}) }))[0];
}

/** The losses with one key multiplied; undefined where its value cannot be. */
export async function lossesAt(core: Core, one: Candidate, asked: Asked, key: string, factor: number): Promise<Losses | undefined> {
  const keys: Record<string, unknown> = { ...keysOf(one, asked, (rebuildHours(one) ?? NO_REBUILD).split("(")[0]), ...VARIED };
  keys[key] = times(String(keys[key]), factor);
  try {
    return (await core.losses(keys))[0];
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}
