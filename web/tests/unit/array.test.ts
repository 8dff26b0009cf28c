// The logic of the room "An array": states of members over time, pooled response times, links, and what a map says.
import { describe, expect, it } from "vitest";
import { eventWords, merged, momentAt } from "../../src/arrays/moments";
import { pooled } from "../../src/arrays/pooled";
import { extrapolated, samplingLines } from "../../src/arrays/rebuild";
import type { ArrayPiece, ArrayReport, StripeMap } from "../../src/core/arrays";
import { heldWords, placesWords } from "../../src/rooms/array/map";
import { span } from "../../src/rooms/array/phases";
import { DEFAULT, mainOf, phasesOf, settingOf, stateOf } from "../../src/rooms/array/setting";

const piece = (start: number, more: Partial<ArrayPiece> = {}): ArrayPiece => ({ start_ns: start, ios: 10, iops: 10, mean_latency_ns: 1e6, max_latency_ns: 2e6, errors: 0, rebuilt: null, ...more });
const REPORT: ArrayReport = {
  state: "healthy",
  degraded_ns: 3,
  lost_bytes: 0,
  syncs: [],
  series: [piece(0), piece(10), piece(20, { rebuilt: 0.25 }), piece(30, { rebuilt: 1 })],
  events: [
    { at_ns: 10, what: "failed", slot: 1, drive: 1 },
    { at_ns: 20, what: "replaced", slot: 1, drive: 4 },
    { at_ns: 20, what: "began", sync: "rebuild" },
    { at_ns: 30, what: "ended", sync: "rebuild" },
  ],
};
const LEVEL = { name: "raid5", least_members: 3, stripe_unit: true, layout: true, redundancy: true, write_hole: true };

describe("a member of an array", () => {
  it.each([
    [9, "whole", 1, 1],
    [10, "missing", 0, 1],
    [20, "rebuilding", 0.25, 4],
    [30, "whole", 1, 4],
  ])("is at %d %s", (at, state, share, drive) => expect(momentAt(REPORT, 3, at).members[1]).toEqual({ slot: 1, drive, state, share }));
  it("has its neighbours' pieces where few I/Os ended in each", () => {
    const series = Array.from({ length: 128 }, (_, at) => piece(at, { ios: 1, iops: 1 }));
    const found = merged(series);
    expect(found).toHaveLength(64);
    expect(found[1]).toMatchObject({ start_ns: 2, ios: 2, iops: 1, mean_latency_ns: 1e6 });
  });
  it("fails in words", () => expect(REPORT.events.map(eventWords)[1]).toBe("drive 4 takes the place of member 1"));
});

describe("response times together", () => {
  it("have a percentile where ten lie beyond", () => {
    const found = pooled([[[1, 500], [2, 400]], [[3, 100]]]);
    expect(found).toMatchObject({ n: 1000, mean: 1.6, max: 3, p50: 1, p95: 3, p99: 3, p99_9: null });
  });
  it("are none of nothing", () => expect(pooled([])).toMatchObject({ n: 0, mean: null, p50: null }));
});

describe("a rebuild", () => {
  it("is sampled at 16 places", () => expect(samplingLines()).toContain("places = 16"));
  it("has no hours without its parts", () => expect(extrapolated([])).toBeUndefined());
  it.each([[90e9, "90.0 s"], [600e9, "10.0 min"], [36000e9, "10.0 h"]])("of %d ns is said", (ns, words) => expect(span(ns)).toBe(words));
});

describe("a setting", () => {
  it("is what its state says", () => expect(settingOf(stateOf(DEFAULT))).toEqual(DEFAULT));
  it("has defaults in the place of nonsense", () => expect(settingOf({ members: "no", at: "-1", depth: "1e9", what: "flood", member: "99" })).toEqual(DEFAULT));
  it("fails a member that there is", () => expect(settingOf({ members: "1" }).member).toBe(0));
  it("is a scenario with what happens", () => expect(mainOf(DEFAULT, LEVEL, [])).toContain('faults.fail = [{ drive = 1, at = "10s" }]'));
  it("sweeps the policies of a power cut", () => expect(mainOf({ ...DEFAULT, what: "cut" }, LEVEL, ["open", "ppl"])).toContain('write_hole = ["open", "ppl"]'));
  it("has no states to measure without redundancy", () => expect(phasesOf(DEFAULT, { ...LEVEL, redundancy: false }, 1e9)).toEqual([]));
  it("has four with a new drive, two without", () => expect([5, -1].map((spare) => phasesOf({ ...DEFAULT, spare }, LEVEL, 1e9).length)).toEqual([4, 2]));
});

describe("the map", () => {
  const map: StripeMap = { members: 2, groups: 1, redundancy: "copies", capacity: 100, used: 50, start: 0, row_sectors: 8, rows_in_all: 6, rows: [], addresses: [{ address: 9, row: 1, places: [{ slot: 0, at: 9, what: "data", first: 9, sectors: 7, copy: 0 }, { slot: 1, at: 9, what: "data", first: 9, sectors: 7, copy: 1 }] }] };
  it("names the copies of an address", () => expect(placesWords(map, 9)).toBe("Sector 9 of the array is in row 1: copy a on member 0, sector 9; copy b on member 1, sector 9."));
  it("says where the array ends", () => expect(placesWords(map, 100)).toBe("The array has no sector 100: its last one is 99."));
  it.each([
    [{ what: "data", first: 8, sectors: 8, copy: 1 }, "8–15 b"],
    [{ what: "data", first: 3, sectors: 1, copy: 0 }, "3 a"],
    [{ what: "parity", which: 1 }, "Q"],
    [{ what: "nothing" }, "–"],
  ] as const)("shows %o", (held, words) => expect(heldWords(held, true)).toBe(words));
});
