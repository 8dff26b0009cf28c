// What the 2005 test found with applications: the rules of python/drivelab/experiment/claims/mirpk_2005_desktop.py. Gains are
// those of NCQ on over off.
import { fixed } from "../../compare/numbers";
import type { Found } from "../found";
import type { Claims } from "./pattern";
import { changeText } from "./words";

const DRIVES = ["SP2504C", "WD2500"];
const COPYING = "file-copying";
const TRACES = ["xp-startup", "application-loading", COPYING, "general-usage"];
const APPLICATIONS = ["acdsee", "photoshop", "premiere", "directx", "opengl"];
const DEPTHS = [1, 2, 4, 8, 16, 32];
/** Printed gains above this have a sign. */
const SIGNED = 0.02;
const OFF = 0.08;
/** Copying gains less than this. */
const LITTLE = 0.01;
/** "None, slightly lower": the largest change of the print is 2.4 %. */
const SAME = 0.03;

const printed = (found: Found, drive: string, test: string) => found.published(`${drive}/on/${test}`) / found.published(`${drive}/off/${test}`) - 1;
const gain = (found: Found, drive: string, test: string, variant: string | null = null) => found.at(`${drive}/on/${test}`, variant) / found.at(`${drive}/off/${test}`, variant) - 1;
const cases = DRIVES.flatMap((drive) => TRACES.map((trace) => ({ drive, trace })));
const changes = (found: Found) => DRIVES.flatMap((drive) => APPLICATIONS.map((test) => gain(found, drive, test)));
const spread = (values: readonly number[]) => `${changeText(Math.min(...values))} to ${changeText(Math.max(...values))}`;

export const CLAIMS: Claims = {
  pcmark_gain(found) {
    const rows = cases.map(({ drive, trace }) => ({ drive, trace, print: printed(found, drive, trace), by: gain(found, drive, trace) }));
    const isRight = rows.every(({ print, by }) => print <= SIGNED || (by > 0 && Math.abs(by - print) <= OFF));
    const isLeast = DRIVES.every((drive) => {
      const own = rows.filter((row) => row.drive === drive);
      const copying = (own.find(({ trace }) => trace === COPYING) as { by: number }).by;
      return copying <= Math.min(...own.map(({ by }) => by)) + 1e-12 && copying < LITTLE;
    });
    return { holds: isRight && isLeast, numbers: rows.map(({ drive, trace, by }) => `${trace} ${drive} ${changeText(by)}`).join(", ") };
  },
  pcmark_queue(found) {
    const traces = Math.min(...cases.filter(({ trace }) => trace !== COPYING).map(({ drive, trace }) => gain(found, drive, trace)));
    const applications = Math.max(...changes(found).map((by) => -by));
    return { holds: traces > SAME && SAME > applications, numbers: `traces ${changeText(traces)} at least, applications ${changeText(applications)} at most` };
  },
  worldbench_gain(found) {
    const all = changes(found);
    return { holds: Math.max(...all.map(Math.abs)) <= SAME, numbers: spread(all) };
  },
  worldbench_nero(found) {
    const nero = DRIVES.map((drive) => gain(found, drive, "nero"));
    const numbers = DRIVES.map((drive, at) => `${drive} ${changeText(nero[at] as number)} (printed ${changeText(printed(found, drive, "nero"))})`);
    return { holds: Math.max(...nero) < Math.min(0, ...changes(found)), numbers: numbers.join(", ") };
  },
  asynchronous_io(found) {
    const traces = TRACES.filter((trace) => trace !== COPYING);
    const of = (variant: string | null) => traces.map((trace) => gain(found, "SP2504C", trace, variant));
    const asItIs = of(null);
    const varied = ["synchronous", "defragmented"].map((name) => ({ name, gains: of(name) }));
    const holds = varied.every(({ gains }) => gains.every((by, at) => by < (asItIs[at] as number)));
    return { holds, numbers: [{ name: "as it is", gains: asItIs }, ...varied].map(({ name, gains }) => `${name} ${spread(gains)}`).join("; ") };
  },
  ncq_against_10k(found) {
    const rate = (depth: number) => found.at(`SP2504C/on/random-${depth}`);
    const raptor = Math.max(...[1, 32].map((depth) => found.at(`Raptor/off/random-${depth}`)));
    const passes = DEPTHS.find((depth) => rate(depth) > raptor);
    const numbers = DEPTHS.map((depth) => `${depth}: ${fixed(rate(depth), 0)}`).join(", ");
    const where = passes === undefined ? "at no depth" : `from ${passes}`;
    return { holds: passes !== undefined, numbers: `${where}: ${numbers}; the Raptor without a queue ${fixed(raptor, 0)}` };
  },
};
