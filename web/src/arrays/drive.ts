// What a comparison needs to know of a drive: its capacity, the rate of its outer zone, and the class that decides how many
// of its sectors are unreadable where nobody says so (python/drivelab/arrays/durability/unreadable.py).
import type { Core } from "../core/client";
import { streamText } from "./states";

const FAST_RPM = 9000;
const NEARLINE_BYTES = 6e12;
/** The rate of the outer zone is taken so much higher, for a bound. */
const RATE_MARGIN = 1.25;

/** What is assumed of unreadable sectors, and the class of drives that it is of. */
export interface Assumed {
  rate: string;
  because: string;
}

const FAST: Assumed = { rate: "1e-16/bit", because: "drives of 10 000 rpm and more" };
const NEARLINE: Assumed = { rate: "1e-15/bit", because: "nearline drives" };
const SCSI: Assumed = { rate: "1e-15/bit", because: "SCSI drives of 7 200 rpm" };
const FLASH: Assumed = { rate: "1e-15/bit", because: "flash drives for clients" };
const DESKTOP: Assumed = { rate: "1e-14/bit", because: "desktop drives" };

export const assumedText = ({ rate, because }: Assumed): string => `unreadable sectors ${rate}, by data sheets of ${because}`;

export interface Drive {
  name: string;
  capacity_bytes: number;
  /** The most that its media give. */
  bytes_per_s: number;
  assumed: Assumed;
  /** Whether it is one of two actuators, and fails with the other one. */
  is_paired: boolean;
}

/** The class of a drive: its turn in ns (undefined for flash), its capacity, and its protocol. */
export function classOf(turn: number | undefined, capacity: number, protocol: string | undefined): Assumed {
  if (turn === undefined) return FLASH;
  if (60e9 / turn >= FAST_RPM) return FAST;
  if (capacity >= NEARLINE_BYTES) return NEARLINE;
  return protocol === "scsi-tcq" ? SCSI : DESKTOP;
}

/** Asks the core, by a stream of a few requests. */
export async function driveOf(core: Core, name: string): Promise<Drive> {
  const scenario = { text: streamText(name), log: 1 };
  const target = await core.target({ text: scenario.text });
  const [point] = (await core.run(scenario)).points;
  if (point === undefined) throw new Error(`${name}: the drive reads nothing`);
  return {
    name,
    capacity_bytes: target.capacity_bytes,
    bytes_per_s: RATE_MARGIN * point.bytes_per_s,
    assumed: classOf(point.platter?.rotation_ns, target.capacity_bytes, target.in_force?.protocol),
    is_paired: target.in_force?.two_actuators === true,
  };
}
