// What the 2004 study found with arrays: the rules of python/drivelab/experiment/claims/storagereview_2004_raid.py. S and T are
// the Promise S150 TX4 and TX4200 with the Raptor, C the AcceleRAID 170 with the Cheetah. A claim holds if it holds under
// both readings of the study's 22 KB. Light load is one outstanding, heavy load 64.
import { fixed } from "../../compare/numbers";
import type { Verdict } from "../model";
import { type Claim, type Claims, byPattern } from "./pattern";
import { change, mostOf } from "./words";

const PATTERNS = ["published", "doubled"];
const SYSTEMS = ["S", "T", "C"] as const;
const DEPTHS = [1, 4, 16, 64];
/** "A few per cent", "small margins", "about even". */
const CLOSE = 0.1;
/** Around the printed lead of 13 %. */
const [LEAD_LEAST, LEAD_MOST] = [0.08, 0.18];

type Iops = (system: string, array: string, depth: number) => number;

const of = (check: (iops: Iops) => Verdict): Claim => byPattern(PATTERNS, (found, pattern) => check((system, array, depth) => found.at(`${pattern}/${system}/${array}/${depth}/iops`)));
const listed = (iops: Iops, array: string, depth: number) => SYSTEMS.map((system) => `${system} ${fixed(iops(system, array, depth), 0)}`).join(", ");

const OF_STRIPES: Claims = {
  "striped-levels-out": of((iops) => {
    const two = (system: string, depth: number) => iops(system, "raid0x2", depth);
    const gain = (system: string) => two(system, 64) / two(system, 16) - 1;
    const rise = (system: string) => two(system, 64) / two(system, 1);
    const isLast = two("S", 64) < Math.min(two("T", 64), two("C", 64));
    const holds = isLast && gain("S") < gain("T") && rise("S") < Math.min(rise("T"), rise("C"));
    return { holds, numbers: `${listed(iops, "raid0x2", 64)}; from 16 ${SYSTEMS.map((system) => `${system} ${change(gain(system), 0)}`).join(", ")}` };
  }),
  "striped-larger-array": of((iops) => {
    const four = (system: string, depth: number) => iops(system, "raid0x4", depth);
    const isBehind = [16, 64].every((depth) => four("S", depth) < Math.min(four("T", depth), four("C", depth)));
    return { holds: isBehind && four("T", 64) > four("C", 64), numbers: `16: ${listed(iops, "raid0x4", 16)}, 64: ${listed(iops, "raid0x4", 64)}` };
  }),
  "two-members-close": of((iops) => {
    const rates = SYSTEMS.map((system) => iops(system, "raid0x2", 1));
    const gain = (system: string) => iops(system, "raid0x2", 1) / iops(system, "raid0x1", 1);
    const holds = Math.min(...rates) >= (1 - CLOSE) * Math.max(...rates) && gain("C") < gain("S");
    return { holds, numbers: `${listed(iops, "raid0x2", 1)}; second member x${fixed(gain("S"), 2)} with S, x${fixed(gain("C"), 2)} with C` };
  }),
  "light-load-3-4": of((iops) => {
    const arrays = ["raid0x3", "raid0x4"];
    const holds = arrays.every((array) => {
      const [s, t, c] = SYSTEMS.map((system) => iops(system, array, 1)) as [number, number, number];
      return s > t && t > c && c >= (1 - CLOSE) * s;
    });
    return { holds, numbers: arrays.map((array) => listed(iops, array, 1)).join("; ") };
  }),
  "heavy-load-1-to-4": of((iops) => {
    const lead = iops("T", "raid0x4", 64) / iops("C", "raid0x4", 64) - 1;
    // C leads with one drive and T with four: so T has the steeper slope.
    const holds = iops("C", "raid0x1", 64) > iops("T", "raid0x1", 64) && LEAD_LEAST <= lead && lead <= LEAD_MOST;
    return { holds, numbers: `one drive ${listed(iops, "raid0x1", 64)}; four ${listed(iops, "raid0x4", 64)}, T over C ${change(lead)}` };
  }),
};

const OF_COPIES: Claims = {
  "raid1-drop": of((iops) => {
    const by = (array: string) => iops("T", array, 64) / iops("T", array, 16) - 1;
    return { holds: by("raid1x2") < 0 && by("raid10x4") >= 0, numbers: ["raid1x2", "raid10x4"].map((array) => `${array} ${change(by(array))}`).join(", ") };
  }),
  "raid10-over-raid1": of((iops) => {
    const gains = SYSTEMS.flatMap((system) => DEPTHS.map((depth) => iops(system, "raid10x4", depth) / iops(system, "raid1x2", depth)));
    return { holds: Math.min(...gains) > 1, numbers: `x${fixed(Math.min(...gains), 2)} to ${fixed(Math.max(...gains), 2)}` };
  }),
  "raid10-order": of((iops) => {
    const rate = (system: string, depth: number) => iops(system, "raid10x4", depth);
    const sixteen = SYSTEMS.map((system) => rate(system, 16));
    const isEven = Math.min(...sixteen) >= (1 - CLOSE) * Math.max(...sixteen);
    const holds = mostOf(SYSTEMS, (system) => rate(system, 4)) === "S" && isEven && rate("S", 64) < rate("T", 64);
    return { holds, numbers: [4, 16, 64].map((depth) => `${depth}: ${listed(iops, "raid10x4", depth)}`).join("; ") };
  }),
};

export const CLAIMS: Claims = {
  ...OF_STRIPES,
  ...OF_COPIES,
  "sata-like-scsi": of((iops) => {
    const gain = (system: string) => iops(system, "raid0x4", 64) / iops(system, "raid0x1", 1);
    return { holds: gain("T") >= gain("C"), numbers: ["T", "C"].map((system) => `${system} x${fixed(gain(system), 2)}`).join(", ") };
  }),
};
