// The parts of a record that tell of an array, and what the core answers of levels and of the map of an array.

/** A level, and which keys it uses. */
export interface LevelEntry {
  name: string;
  least_members: number;
  stripe_unit: boolean;
  layout: boolean;
  redundancy: boolean;
  write_hole: boolean;
}

export type Held = { what: "data"; first: number; sectors: number; copy: number } | { what: "parity"; which: number } | { what: "nothing" };

export interface MapRow {
  row: number;
  at: number;
  cells: Held[];
}

export type MapPlace = Held & { slot: number; at: number };

export interface MapAddress {
  address: number;
  row: number;
  places: MapPlace[];
}

/** The map of an array; sizes and places in sectors of 512 bytes. */
export interface StripeMap {
  members: number;
  groups: number;
  redundancy: "copies" | "parity" | null;
  capacity: number;
  used: number;
  start: number;
  row_sectors: number;
  rows_in_all: number;
  rows: MapRow[];
  addresses: MapAddress[];
}

export interface Sync {
  kind: "rebuild" | "resync" | "scrub";
  began_ns: number;
  ended_ns: number | null;
  duration_ns: number | null;
  given_up: boolean;
  member_bytes_before: number;
  member_bytes: number;
  member_bytes_in_all: number;
  member_bytes_per_s: number | null;
  remaining_ns: number | null;
  floor_missed_ns: number;
}

export interface ArrayEvent {
  at_ns: number;
  what: string;
  slot?: number;
  drive?: number;
  sync?: string;
  lost?: { bytes: number; first: number; times: number };
}

export interface ArrayPiece {
  start_ns: number;
  ios: number;
  iops: number;
  mean_latency_ns: number | null;
  max_latency_ns: number | null;
  errors: number;
  rebuilt: number | null;
}

/** What happened to an array. */
export interface ArrayReport {
  state: string;
  degraded_ns: number;
  lost_bytes: number;
  events: ArrayEvent[];
  syncs: Sync[];
  series: ArrayPiece[];
  /** The parts of a rebuild that was sampled. */
  sampled?: { settled_ns: number; is_steady: boolean; parts: SampledPart[] };
}

export interface SampledPart {
  rebuilt: number;
  counted_ns: number;
  member_bytes: number;
  ios: number;
}

export interface PowerCut {
  at_ns: number;
  lost: { commands: number; sectors: number; bytes: number };
  lost_since_ns: number | null;
  lost_although_flushed_sectors: number;
  lost_from: Record<string, number>;
  ranges: { first_sector: number; sectors: number }[];
  ranges_in_all: number;
  in_flight: { commands: number; commands_done: number; commands_undone: number; commands_torn: number };
  array: {
    what: "parity" | "copies";
    write_hole: string;
    members: number;
    rows: number;
    rows_unfit: number | null;
    rows_unfit_after_recovery: number | null;
    wrong_with_member_lost_in_cut_sectors: number | null;
    wrong_with_member_lost_later_sectors: number | null;
    wrong_now_sectors: number | null;
    is_started?: boolean;
  } | null;
}
