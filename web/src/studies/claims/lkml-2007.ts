// What the 2007 linux-kernel table shows: the rules of python/drivelab/experiment/claims/lkml_2007.py. Sizes are in KiB.
import { fixed } from "../../compare/numbers";
import type { Found } from "../found";
import type { Claims } from "./pattern";
import { change, isWithin, leastOf, rounded, share } from "./words";

const [SCSI, SATA] = ["scsi-10k-74gb", "sata-st3250620as"] as const;
const SIZES_16_UP = [16, 64, 128, 512, 1024] as const;
const SIZES = [4, ...SIZES_16_UP];
const THREADS = [1, 2, 4] as const;
const FLAT = 0.08;
const DROP_TOLERANCE = 0.05;
const DROPS = [0.69, 0.63, 0.37];
/** The statistical error if a run is too short to estimate its own. */
const STATISTICAL_ERROR = 0.005;

type Rate = (size: number, threads: number, column: string) => number;
const ratesOf = (found: Found, drive: string): Rate => (size, threads, column) => found.at(`${drive}/${size}/${threads}/${column}`);
const total = (rate: Rate, size: number, threads: number) => rate(size, threads, "rndRW_read") + rate(size, threads, "rndRW_write");
const writeShare = (rate: Rate, size: number, threads: number) => rate(size, threads, "rndRW_write") / total(rate, size, threads);
const listed = (values: readonly number[]) => values.map((value) => fixed(value, 2)).join(", ");
const percents = (values: readonly number[]) => values.map((value) => share(value)).join(", ");
const spread = (values: readonly number[], mark: string) => `${mark}${fixed(Math.min(...values), 2)} to ${mark}${fixed(Math.max(...values), 2)}`;

export const CLAIMS: Claims = {
  scsi_reads_grow(found) {
    const rate = ratesOf(found, SCSI);
    const gains = (column: string) => SIZES_16_UP.map((size) => rounded(rate(size, 4, column) / rate(size, 1, column), 2));
    const [reads, writes] = [gains("rndRd"), gains("rndWr")];
    return { holds: isWithin(reads, 1.19, 1.35) && isWithin(writes, 1.14, 1.38), numbers: `reads x${listed(reads)}; writes x${listed(writes)}` };
  },
  scsi_total_grows(found) {
    const rate = ratesOf(found, SCSI);
    const totals = SIZES_16_UP.map((size) => THREADS.map((threads) => total(rate, size, threads)) as [number, number, number]);
    const gains = totals.map(([one, , four]) => rounded(four / one - 1, 2));
    const rises = totals.every(([one, two, four]) => one < two && two < four);
    return { holds: rises && isWithin(gains, 0.17, 0.32), numbers: `gains ${percents(gains)}; rises at each step: ${rises ? "yes" : "no"}` };
  },
  scsi_reads_favoured(found) {
    const rate = ratesOf(found, SCSI);
    const shares = SIZES.map((size) => rounded(writeShare(rate, size, 4), 2));
    return { holds: isWithin(shares, 0.15, 0.25), numbers: `write shares ${percents(shares)}` };
  },
  scsi_mixed_write_flat(found) {
    const rate = ratesOf(found, SCSI);
    const ratios = [16, 64].flatMap((size) => [2, 4].map((threads) => rate(size, threads, "rndRW_write") / rate(size, 1, "rndRW_write")));
    return { holds: isWithin(ratios, 1 - FLAT, 1 + FLAT), numbers: `x${listed(ratios)} of 1 thread (16 and 64 KiB, 2 and 4 threads)` };
  },
  scsi_mixed_write_drops(found) {
    const rate = ratesOf(found, SCSI);
    const ratios = [128, 512, 1024].map((size) => rate(size, 4, "rndRW_write") / rate(size, 1, "rndRW_write"));
    const holds = ratios.every((ratio, at) => Math.abs(ratio - (DROPS[at] as number)) <= DROP_TOLERANCE);
    return { holds, numbers: `x${listed(ratios)} against ${listed(DROPS)}, each within ${DROP_TOLERANCE}` };
  },
  sata_threads_hardly_matter(found) {
    const rate = ratesOf(found, SATA);
    const ratios = SIZES_16_UP.slice(1).flatMap((size) => ["rndRd", "rndWr"].flatMap((column) => [2, 4].map((threads) => rate(size, threads, column) / rate(size, 1, column))));
    return { holds: isWithin(ratios, 0.9, 1.1), numbers: `${spread(ratios, "x")} of 1 thread` };
  },
  sata_shares_even(found) {
    const rate = ratesOf(found, SATA);
    const shares = SIZES_16_UP.flatMap((size) => THREADS.map((threads) => rounded(writeShare(rate, size, threads), 2)));
    return { holds: isWithin(shares, 0.44, 0.51), numbers: `write shares ${spread(shares, "")}` };
  },
  queueing_never_worse(found) {
    const off = "queue-off";
    const sums = new Map<string, { on: number; off: number; error: number }>();
    for (const id of found.ids()) {
      const key = id.replace(/_read$/, "").replace(/_write$/, "");
      const { on, off: without, error } = sums.get(key) ?? { on: 0, off: 0, error: 0 };
      const allowed = Math.hypot(found.errorAt(id) || STATISTICAL_ERROR, found.errorAt(id, off) || STATISTICAL_ERROR);
      sums.set(key, { on: on + found.at(id), off: without + found.at(id, off), error: Math.max(error, allowed) });
    }
    const changes = [...sums].map(([key, { on, off: without, error }]) => ({ key, by: on / without - 1, error }));
    const worse = changes.filter(({ by, error }) => by < -error);
    const compared = `${changes.length} columns, reader and writer of a mixed one together`;
    if (worse.length === 0) return { holds: true, numbers: `none of ${compared}, is worse` };
    const worst = leastOf(worse, ({ by }) => by);
    return { holds: false, numbers: `${worse.length} of ${compared}, are worse, most ${worst.key}: ${change(worst.by, 0)}` };
  },
};
