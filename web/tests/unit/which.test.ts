// The logic of the room "Which array": links, commands, verdicts, rebuilds that are simulated again, and the tornado.
import { describe, expect, it } from "vitest";
import { nothingLines, notesOf, pickLines } from "../../src/arrays/answer";
import { type Asked, type Candidate, chanceFigure, grouped, money } from "../../src/arrays/candidate";
import { classOf } from "../../src/arrays/drive";
import { type Figures, latencyInterval } from "../../src/arrays/figures";
import { Runs } from "../../src/arrays/evaluate";
import { bindingsOf, isUndecided, judge, pickOf } from "../../src/arrays/judge";
import { loadTurns } from "../../src/arrays/load-turns";
import { isKeptUp, loadText, scaled, workloadLines } from "../../src/arrays/load";
import { fastestHours, isLaw, rebuildHours, times } from "../../src/arrays/odds";
import { type Extrapolated, FINE, nextWay, samplingLines, USUAL, WHOLE } from "../../src/arrays/rebuild";
import { type Assumption, sorted } from "../../src/arrays/sensitivity";
import { rebuildText, stateText } from "../../src/arrays/states";
import { tornadoSpec } from "../../src/charts/tornado";
import type { Point } from "../../src/core/answers";
import type { Core } from "../../src/core/client";
import type { Losses } from "../../src/core/losses";
import { jsonText } from "../../src/rooms/which/document";
import { askedOf, compareCommand, DEFAULT, durabilityCommand, membersOf, membersWrong, planCommand, settingOf, stateOf, wrongOf } from "../../src/rooms/which/setting";

const DRIVE = { name: "a-drive", capacity_bytes: 10e12, bytes_per_s: 250e6, assumed: { rate: "1e-15/bit", because: "nearline drives" }, is_paired: false };
const ASKED: Asked = askedOf({ ...DEFAULT, drive: "a-drive", capacity: 15, most: 50, loss: 1 }, DRIVE);
const exact = (value: number) => ({ value, low: value, high: value });
const losses = (chance: number): Losses => ({ method: "chain", loss_in_a_year: exact(chance), loss_in_life: exact(5 * chance), loss_in_a_year_over_rebuilds: null, loss_in_a_year_over_failures: null, share_by_sectors: 0.25, mttdl_years: exact(1 / chance), bytes_lost: exact(1), usable_bytes: 1, bears_worst: 1, histories: 0 });
const figures = (ms: number, iops = 150): Figures => ({ iops, iops_relative_error: 0.02, bytes_per_s: 1, latency_ns: { n: 4000, mean: ms * 5e5, min: 1, max: 1, p50: 1, p90: 1, p95: 1, p99: ms * 1e6, p99_9: 1, p99_99: null }, latency_interval_ns: { p99: [ms * 9e5, ms * 1.1e6] } });
const REBUILD: Extrapolated = { member_bytes: 10e12, simulated_bytes: 1e9, parts: [], way: 10, simulated_s: 160, is_steady: true, kept_up: true, duration_ns: 20 * 3600e9, at_least_ns: null, relative_error: 0.05, member_bytes_per_s: 1 };

function candidate(level: string, members: number, ms: number, chance: number, more: Partial<Candidate> = {}): Candidate {
  const one: Candidate = { made: { drive: "a-drive", level, members }, reason: undefined, bears: { worst: 1, best: 1 }, capacity_bytes: 20e12, record_bytes: undefined, cost: 400 * members, states: { healthy: figures(ms) }, rebuild: REBUILD, losses: losses(chance), is_bound: false, troubles: [], failings: [], is_hopeless: false, is_judged: true, ...more };
  judge(one, ASKED);
  return one;
}

describe("a link", () => {
  it("gives the setting back", () => expect(settingOf(stateOf({ ...DEFAULT, scrub: "1w", ask: "depth", sync: true, levels: "raidz1" }))).toEqual({ ...DEFAULT, scrub: "1w", ask: "depth", sync: true, levels: "raidz1" }));
  it("with what cannot be has the default", () => expect(settingOf({ rw: "sideways", rate: "-1", reads: "100", states: "asleep", currency: "usd; rm", bs: "4" })).toEqual(DEFAULT));
  it.each([["4..6", [4, 5, 6]], ["4, 6,4", [4, 6]], ["6..4", undefined], ["4..99", undefined], ["four", undefined], ["0", undefined], ["1..1000000000", undefined]])("has %s drives", (members, found) => expect(membersOf({ ...DEFAULT, members })).toEqual(found));
});

describe("a field", () => {
  it.each([
    ["price", "-5", "Price of a drive, -5: from 0.01 to 10 000 000"],
    ["capacity", "1e9", "Capacity, TB, 1e9: from 0.001 to 1 000 000"],
    ["seed", "0", "Seed, 0: a whole number from 1 to 2 147 483 648"],
    ["price", "", "Price of a drive, nothing: from 0.01 to 10 000 000"],
    ["most", "no number", "at most, ms, no number: from 0 to 1 000 000"],
    ["currency", "euro", "Currency, euro: three letters, such as USD"],
  ])("%s cannot be %j", (key, given, said) => {
    const last = { ...DEFAULT, price: 300, capacity: 20, seed: 7, most: 9, currency: "EUR" };
    expect(wrongOf({ [key]: given })).toEqual([said]);
    expect(settingOf({ ...stateOf(last), [key]: given }, last)).toEqual(last);
  });
  it("that is empty is no limit", () => expect([wrongOf({ most: "", iops: "0", loss: "" }), settingOf({ most: "", loss: "" })]).toEqual([[], { ...DEFAULT, most: 0, loss: 0 }]));
  it("has a currency in capitals", () => expect([wrongOf({ currency: "eur" }), settingOf({ currency: "eur" }).currency]).toEqual([[], "EUR"]));
  it.each([["6..4", "the first number is larger"], ["4..99", "they are from 1 to 32"], ["0", "they are from 1 to 32"], ["four", "this is neither a range nor a list of whole numbers"]])("has no drives for %s", (members, why) => expect(membersWrong({ ...DEFAULT, members })).toBe(why));
});

describe("a command", () => {
  it("of a plan has the need and what fails", () => {
    expect(planCommand({ ...DEFAULT, ask: "depth", iops: 200, states: "healthy,degraded", common: "a shelf:20y:30%", seed: 7 })).toBe(
      "drivelab plan --capacity 60TB --drive seagate-exos-x24-24tb --drive-price 400USD --level raid10,raid5,raid6 --members 5,6 --rw randrw --bs 4KiB --rwmixread 70 --iodepth 16 --max-latency p99=70ms --min-iops 200 --max-loss 0.1%/year --states healthy,degraded --afr 1.5% --replacement 2d --common 'a shelf:20y:30%' --randseed 7",
    );
  });
  it("has nothing on failures where none is known", () => {
    const unknown = { ...DEFAULT, afr: "", spares: 2 };
    expect(planCommand(unknown)).not.toMatch(/--(max-loss|replacement|spares)/);
    expect(durabilityCommand(unknown, 5, ["raid6"])).toBeUndefined();
    expect(askedOf(unknown, DRIVE)).toMatchObject({ failures: {}, spares: 0, limits: { loss_percent: undefined } });
  });
  it("of reads has neither a mix nor FUA", () => expect(compareCommand({ ...DEFAULT, rw: "randread", sync: true, process: "linear" }, 4)).toMatch(/--rw randread --bs 4KiB --rate-iops 150 --rate-process linear --drive-price/));
});

describe("a load", () => {
  it("in words and in lines", () => {
    expect(loadText(ASKED.load)).toBe("random reads and writes of 4KiB (70 % reads), 150 Poisson arrivals a second");
    expect(workloadLines({ ...ASKED.load, rate: undefined, sync: true })).toEqual(['rw = "randrw"', 'bs = "4KiB"', "rwmixread = 70", "sync = true", "iodepth = 16"]);
  });
  it("is kept up with but for chance", () => expect([145, 140].map((iops) => isKeptUp(ASKED.load, figures(1, iops)))).toEqual([true, false]));
  it("is not halved below one, and rounds to even", () => {
    expect(scaled({ ...ASKED.load, rate: undefined, depth: 1 }, 0.5)).toBeUndefined();
    expect([3, 5].map((depth) => scaled({ ...ASKED.load, rate: undefined, depth }, 0.5)?.depth)).toEqual([2, 2]);
  });
  it("runs in each state", () => {
    expect(stateText({ drive: "d", level: "raid6", members: 5 }, ASKED.load, "degraded", 3)).toMatch(/members = 5\nmissing = \[0\]\n\n\[workload\]\n[^]*\[run\]\nwarmup = "10s"\nios = 4000\nseed = 3\n$/);
    expect(rebuildText({ drive: "d", level: "raid6", members: 5 }, ASKED.load, 60, 1)).toMatch(/rebuilding = true\n[^]*until = "sampled"\nplaces = 16\nstay = "60s"\nseed = 1\n$/);
    expect(samplingLines(WHOLE)).toEqual(['until = "rebuilt"', 'duration = "48h"']);
  });
});

describe("a rebuild", () => {
  it.each([
    ["known well enough", {}, USUAL, undefined],
    ["too uncertain", { relative_error: 0.12 }, USUAL, 20],
    ["on which a decision depends", { relative_error: 0.08 }, FINE, 50],
    ["far too uncertain", { relative_error: 0.9 }, USUAL, 60],
    ["short", { duration_ns: 1200e9 }, USUAL, WHOLE],
    ["that made no progress", { duration_ns: null, relative_error: null }, USUAL, 60],
    ["simulated whole", { way: WHOLE, duration_ns: 1200e9 }, USUAL, undefined],
  ] as const)("%s is simulated again as Python does", (_, more, precision, way) => expect(nextWay({ ...REBUILD, ...more }, precision)).toBe(way));
  it("is told with its interval", () => expect(rebuildHours(candidate("raid6", 4, 20, 1e-4))).toBe("20h(19h..21h)"));
  it("takes as long as its share at the rate of the media", () => expect(fastestHours(candidate("raid6", 4, 20, 1e-4), ASKED)).toBe("5.55556h"));
});

describe("a quantity", () => {
  it.each([["1.5%", 2, "3%"], ["1e-15/bit", 0.5, "5e-16/bit"], ["2d", 1.5, "3d"], ["weibull:1.1:9y", 2, "weibull:1.1:18y"], ["shelf:20y:30%", 2, "shelf:40y:30%"]])("%s times %d is %s", (text, factor, found) => expect(times(text, factor)).toBe(found));
  it("is no law", () => expect([isLaw("2d"), isLaw("fixed:2d")]).toEqual([false, true]));
  it("for people", () => expect([chanceFigure(0.00123456), chanceFigure(99.97), chanceFigure(100), grouped(72000, 4), money(1234.5, "EUR"), money(400, "USD")]).toEqual(["0.00123", "99.97", ">99.9999", "72,000", "1,234.50 EUR", "400 USD"]));
});

describe("the verdict", () => {
  const good = candidate("raid6", 6, 30, 1e-4);
  it("is the cheapest that holds, then the safest", () => {
    const same = candidate("raid10", 6, 20, 2e-4);
    expect(pickOf([candidate("raid5", 4, 70, 1e-4), same, good, candidate("raid6", 8, 10, 1e-6)])).toBe(good);
    expect(notesOf(good, [same, good], [], ASKED)[0]).toBe("raid10 of 6 x a-drive costs the same: the pick loses data less often");
    const [first, ...rest] = pickLines(good, [same, good], ASKED, true);
    expect(first).toBe("pick: raid6 of 6 x a-drive, 20 TB usable: the cheapest of 2 that hold, of 2 candidates; writes end in volatile caches");
    expect(rest).toEqual([
      "gives: p99 30 ms (27 to 33), 150 IOPS ± 2.0%",
      "costs: 2,400 USD (6 drives 2,400 USD), 120 USD for a usable TB; exact",
      "survives: the failure of any one drive; rebuilt in 20 h ± 5.0% beside this load; data lost within a year with a chance of 0.01 % (exact), 0.05 % in 5 years",
    ]);
  });
  it("says what a candidate misses", () => expect(candidate("raid5", 4, 70, 0.02, { capacity_bytes: 9e12 }).failings.map(({ text }) => text)).toEqual(["holds 9 TB", "p99 70 ms", "2 % a year"]));
  it("is not of what is not known", () => expect(pickOf([{ ...good, is_judged: false }])).toBeUndefined());
  it("warns where the limit lies within an interval", () => expect(notesOf(candidate("raid6", 6, 48, 1e-4), [], [], ASKED)[0]).toBe("the limit lies within the interval of the pick's p99: another seed may turn the pick"));
  it("names what rules all of them out", () => {
    const slow = candidate("raid6", 4, 70, 1e-4);
    const unsafe = candidate("raid10", 4, 20, 0.02);
    expect(nothingLines([slow, unsafe], ASKED)).toEqual(["nothing holds, of 2 candidates", "the latency binds: without it raid6 of 4 x a-drive holds; p99 70 ms", "the chance of loss binds: without it raid10 of 4 x a-drive holds; 2 % a year"]);
    const both = candidate("raid5", 4, 70, 0.02);
    expect(bindingsOf([both], ASKED).map(({ limit, is_alone }) => [limit, is_alone])).toEqual([["latency", false], ["loss", false]]);
  });
  it("holds without the load as far as is known", () => {
    const slow = { states: { healthy: figures(20, 100) }, rebuild: null, is_bound: true };
    expect(nothingLines([candidate("raid6", 4, 20, 1e-4, slow)], ASKED)[1]).toBe("the load binds: without it raid6 of 4 x a-drive holds, as far as is known without its chance of loss; does 100 of 150 IOPS");
    expect(nothingLines([candidate("raid6", 4, 20, 1e-4, { ...slow, is_bound: false })], ASKED)[1]).toBe("the load binds: without it raid6 of 4 x a-drive holds; does 100 of 150 IOPS");
  });
  it("has the least chance of loss where its rebuild is not known", () => expect(pickLines({ ...good, is_bound: true }, [good], ASKED, false)[3]).toMatch(/with a chance of at least 0.01 % \(exact\), at least 0.05 % in 5 years$/));
  it("says that an interval of the failure rate is left out", () => {
    const note = "the interval of the annual failure rate is left out here: drivelab plan takes it";
    expect([notesOf(good, [], [], ASKED), notesOf(good, [], [], { ...ASKED, failures: { ...ASKED.failures, afr: "1.5%(1.2%..1.9%)" } })].map((notes) => notes.includes(note))).toEqual([false, true]);
  });
  it("names the array of its assumptions", () => expect(JSON.parse(jsonText({ asked: ASKED, candidates: [], pick: good, assumptions: [], subject: candidate("raid5", 4, 70, 1e-4), lines: [], notes: [], commands: [] }, {}))).toMatchObject({ pick: "raid6 of 6 x a-drive", assumptions_of: "raid5 of 4 x a-drive" }));
  it("turns under less load to an array that then loses data less often", async () => {
    const point = { ...figures(20, 1e4), series: [], depth: { in_drives: null }, read: {}, write: {}, array: { syncs: [{ kind: "rebuild", ended_ns: 1e12, duration_ns: 1e12, member_bytes_in_all: 1e9 }] } } as unknown as Point;
    const core = { histograms: () => Promise.resolve([[], []]), losses: () => Promise.resolve([losses(0.005)]) } as unknown as Core;
    const runs = Object.assign(new Runs(core), { point: () => Promise.resolve(point) });
    const rival = candidate("raid5", 4, 20, 0.02);
    expect(await loadTurns(runs, good, [rival, good], ASKED, () => {})).toEqual([{ factor: 0.8, why: undefined, then: "raid5 of 4 x a-drive" }]);
  });
  it("asks for a finer rebuild where the limit lies within its interval", () => {
    const near = candidate("raid6", 4, 20, 0.0095, { losses: { ...losses(0.0095), loss_in_a_year_over_rebuilds: { value: null, low: 0.009, high: 0.0105 } } });
    expect([isUndecided(near, ASKED.limits), isUndecided(good, ASKED.limits)]).toEqual([true, false]);
  });
});

describe("figures", () => {
  it("have the interval of Python's rule", () => {
    const point = { latency_ns: { mean: 50.5 }, series: [] } as unknown as Point;
    const counts = Array.from({ length: 100 }, (_, at) => [at + 1, 4] as [number, number]);
    expect(latencyInterval(point, [counts, []], 0.9)).toEqual([88, 93]);
    const [low, high] = latencyInterval(point, [counts], undefined) ?? [];
    expect([low, high]).toEqual([expect.closeTo(47.671, 3), expect.closeTo(53.329, 3)]);
    expect(latencyInterval(point, [[[1, 99]]], 0.5)).toBeUndefined();
  });
  it.each([[undefined, 1e12, undefined, "flash drives for clients"], [6e6, 1e12, "sas", "drives of 10 000 rpm and more"], [8.33e6, 8e12, "ncq", "nearline drives"], [8.33e6, 1e12, "scsi-tcq", "SCSI drives of 7 200 rpm"], [8.33e6, 1e12, "ncq", "desktop drives"]])("of a turn of %s ns and %d bytes are of a class", (turn, bytes, protocol, because) => expect(classOf(turn, bytes, protocol).because).toBe(because));
});

describe("the tornado", () => {
  const bar = (key: string, low: number, high: number, is_told = true): Assumption => ({ key, name: key, value: "1", low: { value: low, low, high: low, is_told }, high: { value: high, low: high, high, is_told }, turns: [] });
  it("has the widest bar first, and none for what is not told", () => {
    const all = sorted([bar("narrow", 0.9, 1.1), bar("noise", 0.1, 10, false), bar("wide", 0.5, 2)]);
    expect(all.map(({ key }) => key)).toEqual(["wide", "narrow", "noise"]);
    const spec = tornadoSpec(all, 1, undefined, 400) as unknown as { datasets: { bars: { name: string; value: number; now: number }[] }; layer: unknown[] };
    expect(spec.datasets.bars.map(({ name, value, now }) => [name, value, now])).toEqual([["wide, 1", 0.5, 1], ["wide, 1", 2, 1], ["narrow, 1", 0.9, 1], ["narrow, 1", 1.1, 1]]);
    expect([spec.layer.length, (tornadoSpec(all, 1, 3, 400) as { layer: unknown[] }).layer.length]).toEqual([3, 4]);
  });
  it("is none without a bar", () => expect(tornadoSpec([bar("noise", 0.1, 10, false)], 1, 2, 400)).toBeUndefined());
});
