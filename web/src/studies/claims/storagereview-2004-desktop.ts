// What the 2004 study found for one user: the rules of python/drivelab/experiment/claims/storagereview_2004_desktop.py. S and T
// are the Promise S150 TX4 and TX4200 with the Raptor, A and C the AHA-29160 and the AcceleRAID 170 with the Cheetah.
import { fixed } from "../../compare/numbers";
import type { Found } from "../found";
import type { Claims } from "./pattern";
import { change, leastOf, span } from "./words";

const LOADS = ["office", "high-end", "bootup", "gaming"];
const STRIPED = ["raid0/1", "raid0/2", "raid0/3", "raid0/4"] as const;
const [ONE, , , FOUR] = STRIPED;
const MIRROR = "raid1/2";
const ARRAYS = [...STRIPED, MIRROR, "raid10/4"];
const SYSTEMS = ["S", "T", "C"];
const MANY = "many-users";
/** "No significant trend". */
const TREND = 0.1;
/** "In three of four". */
const MOST = 3;
/** "Far above". */
const FAR = 2;

const at = (found: Found, load: string, system: string, array: string) => found.at(`${load}/${system}/${array}`);

export const CLAIMS: Claims = {
  "desktop-no-queueing-first"(found) {
    const rows = ["T", "C"].map((system) => ({ system, leads: LOADS.flatMap((load) => ARRAYS.map((array) => ({ name: `${load}/${array}`, lead: at(found, load, "S", array) / at(found, load, system, array) - 1 }))) }));
    const numbers = rows.map(({ system, leads }) => {
      const least = leastOf(leads, ({ lead }) => lead);
      return `S before ${system} in ${leads.filter(({ lead }) => lead > 0).length} of ${leads.length}, by ${change(least.lead)} (${least.name}) to ${change(Math.max(...leads.map(({ lead }) => lead)))}`;
    });
    return { holds: rows.every(({ leads }) => leads.every(({ lead }) => lead > 0)), numbers: numbers.join("; ") };
  },
  "desktop-members"(found) {
    const rows = LOADS.map((load) => ({ load, rates: STRIPED.map((array) => at(found, load, "S", array)) as [number, number, number, number] }));
    const holds = rows.every(({ rates: [one, two, three, four] }) => three - two < two - one && four < three);
    return { holds, numbers: `S: ${rows.map(({ load, rates }) => `${load} ${rates.map((rate) => fixed(rate, 0)).join(", ")}`).join("; ")}` };
  },
  "desktop-mirroring"(found) {
    const changes = LOADS.map((load) => SYSTEMS.map((system) => at(found, load, system, MIRROR) / at(found, load, system, ONE) - 1));
    const flat = changes.filter((of) => of.every((by) => Math.abs(by) <= TREND));
    return { holds: flat.length >= MOST, numbers: span(changes.flat()) };
  },
  "desktop-scsi"(found) {
    const leads = LOADS.map((load) => at(found, load, "C", ONE) / at(found, load, "A", ONE) - 1);
    const cached = LOADS.map((load) => found.at(`${load}/C/${ONE}`, "write-cache") / at(found, load, "A", ONE) - 1);
    return { holds: Math.min(...leads) > 0, numbers: `${span(leads)}; with its memory taking writes ${span(cached)}` };
  },
  "desktop-raptor"(found) {
    const leads = LOADS.map((load) => ({ load, by: at(found, load, "T", ONE) / Math.max(at(found, load, "A", ONE), at(found, load, "C", ONE)) - 1 }));
    return { holds: leads.filter(({ by }) => by > 0).length >= MOST, numbers: leads.map(({ load, by }) => `${load} ${change(by)}`).join(", ") };
  },
  "raid-for-many-users"(found) {
    const gain = (load: string, system: string) => at(found, load, system, FOUR) / at(found, load, system, ONE);
    const rows = SYSTEMS.map((system) => ({ system, many: gain(MANY, system), one: Math.max(...LOADS.map((load) => gain(load, system))) }));
    return { holds: rows.every(({ many, one }) => many >= FAR * one), numbers: rows.map(({ system, many, one }) => `${system} x${fixed(many, 2)} and at most x${fixed(one, 2)}`).join(", ") };
  },
  "queueing-for-many-users"(found) {
    const gain = (load: string) => at(found, load, "T", ONE) / at(found, load, "S", ONE) - 1;
    const one = LOADS.map((load) => ({ load, by: gain(load) }));
    const holds = gain(MANY) > 0 && Math.max(...one.map(({ by }) => by)) < 0;
    return { holds, numbers: `many users ${change(gain(MANY))}; ${one.map(({ load, by }) => `${load} ${change(by)}`).join(", ")}` };
  },
};
