// What HD Tach shows of NCQ in the 2005 test: the rules of python/drivelab/experiment/claims/mirpk_2005.py.
import type { Found } from "../found";
import type { Verdict } from "../model";
import type { Claims } from "./pattern";
import { change, rounded } from "./words";

const DRIVES = ["SP2504C", "WD2500"];
const FIGURES = ["buffer", "average", "access"];
const ACCESS = 0.01;
/** The largest difference of the print between NCQ on and off. */
const PRINTED = 0.034;
const NOTHING = 0.005;
const EQUAL = 0.01;
const GAIN = 0.05;

type Changes = [string, number][];

const onOverOff = (found: Found, figure: string): Changes => DRIVES.map((drive) => [drive, found.at(`${drive}/on/${figure}`) / found.at(`${drive}/off/${figure}`) - 1]);

function alike(changes: Changes, allowed: number): Verdict {
  return { holds: changes.every(([, by]) => Math.abs(by) <= allowed), numbers: changes.map(([name, by]) => `${name} ${change(by, 2)}`).join(", ") };
}

function spread(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return rounded(least, 3) === rounded(most, 3) ? change(least) : `${change(least)} to ${change(most)}`;
}

export const CLAIMS: Claims = {
  random_access_unchanged_by_ncq: (found) => alike(onOverOff(found, "access"), ACCESS),
  average_read_unchanged_by_ncq: (found) => alike(onOverOff(found, "average"), PRINTED),
  hdtach_unchanged: (found) => alike(FIGURES.flatMap((figure) => onOverOff(found, figure).map(([drive, by]): [string, number] => [`${figure} ${drive}`, by])), PRINTED),
  link_300(found) {
    const changes = found.ids().map((id) => ({ id, by: found.at(id) / found.at(id, "link-150") - 1 }));
    const of = (isBuffer: boolean) => changes.filter(({ id }) => id.endsWith("/buffer") === isBuffer).map(({ by }) => by);
    const [buffer, others] = [of(true), of(false)];
    const holds = Math.min(...buffer) >= GAIN && Math.max(...others.map(Math.abs)) <= NOTHING;
    return { holds, numbers: `buffer ${spread(buffer)}; mean rate and access time ${spread(others)}` };
  },
  pata_equals_sata(found) {
    const ids = found.ids("pata").filter((id) => !id.endsWith("/buffer"));
    return alike(ids.map((id) => [id, found.at(id, "pata") / found.at(id) - 1]), EQUAL);
  },
};
