// What the 2008 study found with arrays: the rules of python/drivelab/experiment/claims/ich9r_2008_raid.py. A system with a plus
// sign has the driver's cache; `on` and `off` are the drives' own caches.
import { fixed } from "../../compare/numbers";
import type { Found } from "../found";
import type { Claims } from "./pattern";
import { change, firstOrder, mostOf } from "./words";

const [KIB, MIB] = [2 ** 10, 2 ** 20];
const SIZES: readonly (readonly [string, number])[] = [
  ["4KiB", 4 * KIB], ["16KiB", 16 * KIB], ["64KiB", 64 * KIB], ["256KiB", 256 * KIB],
  ...[1, 4, 16, 64, 128, 256, 512].map((count): [string, number] => [`${count}MiB`, count * MIB]),
];
/** From this size on the study observed that RAID 1 shares reads. */
const SHARED_FROM = 64 * MIB;
/** A read from both drives, and one from one, relative to a single drive's time. */
const [SHARED, ALONE] = [0.7, 0.9];
const NO_GAIN = 0.03;
const [NEAR_LEAST, NEAR_MOST] = [MIB / 4, 4 * MIB];
/** The model holds if its error is smaller: as for the single drive, and as loosely as in the study's own fits of RAID 5. */
const [HOLDS, ROUGHLY] = [0.05, 0.1];
/** "A little." */
const LITTLE = 0.01;

interface Miss {
  name: string;
  size: string;
  bytes: number;
  miss: number;
}

const at = (found: Found, system: string, cache: string, figure: string, size: string) => found.at(`${system}/${cache}/${figure}/${size}`);
const overSingle = (found: Found, system: string) => at(found, system, "on", "write", "512MiB") / at(found, "single", "on", "write", "512MiB");
const pair = (found: Found, cache: string, figure: string, system: string) => [system, "single"].map((name) => at(found, name, cache, figure, "4KiB")) as [number, number];

function misses(found: Found, name: string, system: string, cache: string, figure: string): Miss[] {
  const times = SIZES.map(([size]) => at(found, system, cache, figure, size));
  const all = firstOrder(SIZES.map(([, bytes]) => bytes), times);
  return SIZES.map(([size, bytes], place) => ({ name, size, bytes, miss: all[place] as number }));
}

const worst = (found: Found, name: string, system: string, cache: string) => mostOf(misses(found, name, system, cache, "write_time"), ({ miss }) => Math.abs(miss));
const listed = (all: readonly Miss[]) => all.map(({ name, size, miss }) => `${name}: most at ${size}, ${change(miss)}`).join("; ");
const spread = (values: readonly number[]) => `x${fixed(Math.min(...values), 2)} to ${fixed(Math.max(...values), 2)}`;

const OF_RAID1: Claims = {
  raid1_reads_split(found) {
    const shares = (system: string) => SIZES.map(([size, bytes]) => ({ bytes, of: at(found, system, "on", "read_time", size) / at(found, "single", "on", "read_time", size) }));
    const [plain, cached] = [shares("raid1"), shares("raid1+")];
    const large = plain.filter(({ bytes }) => bytes >= SHARED_FROM).map(({ of }) => of);
    const rest = [...plain.filter(({ bytes }) => bytes < SHARED_FROM), ...cached].map(({ of }) => of);
    return { holds: Math.max(...large) <= SHARED && Math.min(...rest) >= ALONE, numbers: `from 64 MiB ${spread(large)} of a single drive's time, otherwise ${spread(rest)}` };
  },
  raid1_read_no_gain(found) {
    const [array, single] = pair(found, "on", "read_time", "raid1");
    return { holds: array >= (1 - NO_GAIN) * single, numbers: `${fixed(array, 2)} ms, single ${fixed(single, 2)} ms` };
  },
  raid1_write_model(found) {
    const all = ([["raid1", "off"], ["raid1", "on"], ["raid1+", "on"]] as const).map(([system, cache]) => worst(found, `${system}, cache ${cache}`, system, cache));
    return { holds: all.every(({ miss, bytes }) => Math.abs(miss) > HOLDS && NEAR_LEAST <= bytes && bytes <= NEAR_MOST), numbers: listed(all) };
  },
  raid1_best(found) {
    const [plain, cached] = ["raid1", "raid1+"].map((system) => at(found, system, "on", "read", "512MiB")) as [number, number];
    const small = (system: string, cache: string) => at(found, system, cache, "write_time", "4KiB");
    const [off, on, both] = [small("raid1", "off"), small("raid1", "on"), small("raid1+", "on")];
    return {
      holds: plain > cached && on < off && on <= both * (1 + ROUGHLY),
      numbers: `reads ${fixed(plain, 0)} MiB/s, ${fixed(cached, 0)} with the driver's cache; small writes ${fixed(on, 2)} ms, ${fixed(off, 2)} without the drives' caches, ${fixed(both, 2)} with both`,
    };
  },
};

const OF_RAID10: Claims = {
  raid10_best(found) {
    const both = (figure: string, size: string) => ["raid10", "raid10+"].map((system) => at(found, system, "on", figure, size)) as [number, number];
    const [reads, writes, small] = [both("read", "512MiB"), both("write", "512MiB"), both("write_time", "4KiB")];
    return {
      holds: reads[1] < reads[0] * (1 - ROUGHLY) && writes[1] >= writes[0] * (1 - LITTLE) && small[1] <= small[0],
      numbers: `reads ${fixed(reads[0], 0)} and ${fixed(reads[1], 0)} MiB/s, writes ${fixed(writes[0], 0)} and ${fixed(writes[1], 0)} MiB/s, small writes ${fixed(small[0], 2)} and ${fixed(small[1], 2)} ms`,
    };
  },
  raid10_write_rate(found) {
    const ratios = ["raid10", "raid10+"].map((system) => overSingle(found, system));
    return { holds: Math.min(...ratios) >= 1.75 && Math.max(...ratios) <= 2, numbers: ratios.map((ratio) => `x${fixed(ratio, 2)}`).join(", ") };
  },
  raid10_small_writes(found) {
    const [array, single] = pair(found, "on", "write_time", "raid10");
    return { holds: array < single, numbers: `${fixed(array, 2)} ms, single ${fixed(single, 2)} ms` };
  },
  raid10_write_model(found) {
    const all = ["raid10", "raid10+"].map((system) => worst(found, system, system, "on"));
    const isMiddle = all.every(({ bytes }) => 64 * KIB <= bytes && bytes <= 64 * MIB);
    return { holds: isMiddle && Math.min(...all.map(({ miss }) => Math.abs(miss))) > HOLDS, numbers: listed(all) };
  },
};

const OF_RAID5: Claims = {
  raid5_write_rate(found) {
    const ratio = overSingle(found, "raid5+");
    return { holds: 1.6 <= ratio && ratio <= 2.4, numbers: `x${fixed(ratio, 2)}` };
  },
  raid5_read_latency(found) {
    const [array, single] = pair(found, "on", "read_time", "raid5+");
    return { holds: single < array && array <= 1.2 * single, numbers: `${fixed(array, 2)} ms, single ${fixed(single, 2)} ms` };
  },
  raid5_read_model(found) {
    const all = misses(found, "", "raid5+", "on", "read_time");
    const of = (isInside: boolean) => all.filter(({ bytes }) => (MIB <= bytes && bytes <= SHARED_FROM) === isInside).map(({ miss }) => miss);
    const [inside, outside] = [of(true), of(false)];
    const holds = Math.max(...outside.map(Math.abs)) <= ROUGHLY && Math.max(...inside) < 0;
    const words = (values: readonly number[]) => `${change(Math.min(...values))} to ${change(Math.max(...values))}`;
    return { holds, numbers: `1 to 64 MiB ${words(inside)}, elsewhere ${words(outside)}` };
  },
  raid5_write_model_uncached(found) {
    const all = ["off", "on"].map((cache) => worst(found, `cache ${cache}`, "raid5", cache));
    return { holds: Math.max(...all.map(({ miss }) => Math.abs(miss))) <= ROUGHLY, numbers: listed(all) };
  },
  raid5_write_model_cached(found) {
    const model = found.facts["raid5_model"] as { latency_ms: number; rate_mib_s: number };
    const all = SIZES.filter(([, bytes]) => bytes >= MIB).map(([size, bytes]) => ({ size, miss: at(found, "raid5+", "on", "write_time", size) / (model.latency_ms + (bytes / MIB / model.rate_mib_s) * 1e3) - 1 }));
    return { holds: Math.max(...all.map(({ miss }) => Math.abs(miss))) <= ROUGHLY, numbers: all.map(({ size, miss }) => `${size} ${change(miss, 0)}`).join(", ") };
  },
  raid5_without_caches_unfit(found) {
    const [array, single] = pair(found, "off", "write_time", "raid5");
    return { holds: array > 3 * single, numbers: `${fixed(array, 1)} ms, single ${fixed(single, 1)} ms: x${fixed(array / single, 2)}` };
  },
};

export const CLAIMS: Claims = { ...OF_RAID1, ...OF_RAID10, ...OF_RAID5 };
