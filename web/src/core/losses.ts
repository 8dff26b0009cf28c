// What the core answers of losses: chances, mean times and their intervals, as crates/durability has them; and of a target.
import type { InForce } from "./answers";

/** A figure with its interval of 95 %; the value is null where only a bound is known. */
export interface Estimate {
  value: number | null;
  low: number;
  high: number;
}

/** The losses of a level. Chances are between 0 and 1. */
export interface Losses {
  method: string;
  loss_in_a_year: Estimate;
  loss_in_life: Estimate;
  loss_in_a_year_over_rebuilds: Estimate | null;
  loss_in_a_year_over_failures: { low: number; high: number } | null;
  /** Null where no sectors are unreadable. */
  share_by_sectors: number | null;
  mttdl_years: Estimate;
  bytes_lost: Estimate;
  usable_bytes: number;
  bears_worst: number;
  histories: number;
}

/** What is wrong with a key of the question. */
export interface Wrong {
  key: string;
  given: string | null;
  message: string;
  remedy: string;
}

/** How many members may fail: whichever they are, and in the best case; or what the members lack. */
export interface Tolerance {
  lacks?: string;
  bears?: { worst: number; best: number };
}

export interface TargetEntry {
  capacity_bytes: number;
  in_force: InForce | null;
}

/** All that is wrong with the keys of a question. */
export class Refused extends Error {
  constructor(readonly list: Wrong[]) {
    super(list.map((one) => `${one.key}: ${one.message}`).join("; "));
  }
}
