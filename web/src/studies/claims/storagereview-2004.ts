// What the 2004 study found with single drives: the rules of python/drivelab/experiment/claims/storagereview_2004.py. P, S and T
// are the Promise SATA150 TX4, S150 TX4 and TX4200 with the Raptor, A and C the AHA-29160 and the AcceleRAID 170 with the
// Cheetah. A claim holds if it holds under both readings of the study's 22 KB.
import { fixed } from "../../compare/numbers";
import type { Found } from "../found";
import type { Verdict } from "../model";
import { type Claim, type Claims, byPattern } from "./pattern";
import { change, span } from "./words";

const PATTERNS = ["published", "doubled"];
const SYSTEMS = ["P", "S", "T", "A", "C"];
const DEPTHS = [1, 4, 16, 64];
/** "Well above". */
const WELL = 0.1;
/** "Differs only slightly", and "hardly matters". */
const [SLIGHTLY, HARDLY] = [0.03, 0.02];
/** The statistical error if a run is too short to estimate its own. */
const STATISTICAL_ERROR = 0.01;

type Iops = (system: string, depth: number) => number;

const idOf = (pattern: string, system: string, depth: number, figure = "iops") => `${pattern}/${system}/${depth}/${figure}`;
const listed = (iops: Iops, depth: number) => SYSTEMS.map((system) => `${system} ${fixed(iops(system, depth), 0)}`).join(", ");
const ofIops = (check: (iops: Iops) => Verdict): Claim => byPattern(PATTERNS, (found, pattern) => check((system, depth) => found.at(idOf(pattern, system, depth))));
const noise = (...errors: (number | null)[]) => Math.hypot(...errors.map((error) => error || STATISTICAL_ERROR));

const OF_DEPTHS: Claims = {
  "single-q1-queueing-last": ofIops((iops) => ({ holds: iops("T", 1) < Math.min(iops("S", 1), iops("P", 1)), numbers: listed(iops, 1) })),
  "single-q4-order": ofIops((iops) => {
    const gaps = [1, 4].map((depth) => iops("T", depth) / iops("S", depth) - 1) as [number, number];
    const isLowest = SYSTEMS.filter((other) => other !== "T").every((other) => iops("T", 4) < iops(other, 4));
    const holds = iops("A", 4) > iops("C", 4) && isLowest && Math.abs(gaps[1]) < Math.abs(gaps[0]);
    return { holds, numbers: `${listed(iops, 4)}; T over S ${change(gaps[0])} at 1, ${change(gaps[1])} at 4` };
  }),
  "single-q16-order": ofIops((iops) => ({ holds: iops("A", 16) > iops("C", 16) && iops("C", 16) > iops("T", 16), numbers: listed(iops, 16) })),
  "single-q64-order": ofIops((iops) => {
    const middle = [iops("C", 64), iops("T", 64)];
    const last = [iops("S", 64), iops("P", 64)];
    return { holds: iops("A", 64) >= (1 + WELL) * Math.max(...middle) && Math.min(...middle) > Math.max(...last), numbers: listed(iops, 64) };
  }),
};

function familySame(found: Found): Verdict {
  const places = PATTERNS.flatMap((pattern) => DEPTHS.map((depth) => [pattern, depth] as const));
  const rows = ([["P over S", "P", null], ["T without queueing over S", "T", "queue-off"]] as const).map(([name, system, variant]) => ({
    name,
    pairs: places.map(([pattern, depth]) => {
      const [one, other] = [idOf(pattern, system, depth), idOf(pattern, "S", depth)];
      return { by: found.at(one, variant) / found.at(other) - 1, noise: noise(found.errorAt(one, variant), found.errorAt(other)) };
    }),
  }));
  const holds = rows.every(({ pairs }) => pairs.every((pair) => Math.abs(pair.by) <= pair.noise));
  return { holds, numbers: rows.map(({ name, pairs }) => `${name} ${span(pairs.map(({ by }) => by), 2)}`).join("; ") };
}

function positioning(found: Found, pattern: string, system: string): Verdict {
  const part = (name: string) => found.at(idOf(pattern, system, 1, name));
  const [seeking, transfer, response] = [part("seek") + part("rotation"), part("transfer"), part("response")];
  const moving = transfer + part("link");
  const gain = found.at(idOf(pattern, system, 1), "one-sector") / found.at(idOf(pattern, system, 1)) - 1;
  // Without the transfer time of the data, I/O per second grow by its share and no more.
  const allowed = response / (response - moving) - 1;
  const numbers = `${pattern} ${system}: positioning ${fixed(seeking, 2)} of ${fixed(response, 2)} ms, data ${fixed(moving, 2)} ms, without them ${change(gain)}`;
  return { holds: seeking > transfer && gain <= allowed + 2 * STATISTICAL_ERROR, numbers };
}

export const CLAIMS: Claims = {
  ...OF_DEPTHS,
  "promise-family-same": familySame,
  "positioning-dominates"(found) {
    const parts = PATTERNS.flatMap((pattern) => ["S", "A"].map((system) => positioning(found, pattern, system)));
    const slots = found.ids("fast-slot").map((id) => found.at(id, "fast-slot") / found.at(id) - 1);
    const holds = parts.every((part) => part.holds) && Math.max(...slots.map(Math.abs)) <= HARDLY;
    return { holds, numbers: [...parts.map((part) => part.numbers), `PCI 66/64 ${span(slots)} at 22 and 69.5 KB`].join("; ") };
  },
  "firmware-revisions"(found) {
    const ids = found.ids("fla1").filter((id) => PATTERNS.includes(id.split("/")[0] as string));
    const changes = ids.map((id) => found.at(id, "fla1") / found.at(id) - 1);
    return { holds: Math.max(...changes.map(Math.abs)) <= SLIGHTLY && Math.min(...changes) < 0, numbers: span(changes) };
  },
};
