// The rules of the room "The studies". `DRIVELAB_PAGE_STUDIES` names a file with the published tables, made-up figures of their
// cells, and what the package says of these: the page, which is given only the figures that a claim reads, says the same.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fixed } from "../../src/compare/numbers";
import { ROWS_MAX, studySpec } from "../../src/charts/studies";
import { rowsOf } from "../../src/rooms/studies/figure";
import { judge } from "../../src/studies/claims/index";
import { changeText, firstOrder } from "../../src/studies/claims/words";
import { documentOf } from "../../src/studies/document";
import { Found, errorOf, errorText, fourFigures, summaries, texts } from "../../src/studies/found";
import { figureOf } from "../../src/studies/measures";
import { type Question, allScenarios, estimate, placesFor, questionsOf, scenariosFor, secondsText } from "../../src/studies/questions";
import type { Cell, Experiment, Place, Studies, Verdict } from "../../src/studies/model";
import type { Point } from "../../src/core/answers";

interface Case {
  name: string;
  figures: [string | null, number, number, number | null][];
  verdicts: { id: string; verdict: Verdict | null }[];
  errors: (number | null)[];
  summary: ({ count: number; within_5_percent: number; within_15_percent: number; error_median: number; error_max: number } | null)[];
}

const path = process.env["DRIVELAB_PAGE_STUDIES"];
const given = path === undefined ? { studies: { near: 0, far: 0, experiments: [] }, cases: [] } : (JSON.parse(readFileSync(path, "utf8")) as { studies: Studies; cases: Case[] });

describe.skipIf(path === undefined)("made-up figures are judged as the package judges them", () => {
  it.each(given.cases.map((one, at) => [at, one.name, one] as const))("case %i of %s", (_, name, one) => {
    const experiment = given.studies.experiments.find((of) => of.name === name) as Experiment;
    const places = new Map(one.figures.map(([variant, cell, predicted, error]) => [`${variant} ${cell}`, { predicted, error }]));
    const put = (found: Found, place: Place) => found.put(place, places.get(`${place[0]} ${place[1]}`) as { predicted: number; error: number | null });
    for (const claim of experiment.claims) {
      const found = new Found(experiment);
      for (const place of claim.reads) put(found, place);
      const expected = one.verdicts.find(({ id }) => id === claim.id)?.verdict ?? null;
      if (expected === null) expect(() => judge(found, claim)).toThrow("there is no rate to fit");
      else expect({ id: claim.id, ...judge(found, claim) }).toEqual({ id: claim.id, ...expected });
    }
    const found = new Found(experiment);
    experiment.cells.forEach((cell, number) => {
      put(found, [null, number]);
      expect(errorOf(cell, found.figure([null, number])?.predicted as number)).toEqual(one.errors[number]);
    });
    const shown = summaries(found, given.studies.near, given.studies.far).map(({ count, near, far, median, worst }) => ({ count, within_5_percent: near, within_15_percent: far, error_median: median, error_max: worst }));
    expect(shown).toEqual(one.summary.filter((summary, at) => summary !== null && (at < 2 || experiment.main !== "")));
  });
});

const CELL: Cell = { id: "a", published: 2.5, resolution: 0.05, role: "validation", is_main: false, unit: "ms", divisor: 1e6, metric: "latency_ns.mean", measure: null, scenario: 0 };
const EXPERIMENT: Experiment = { name: "lkml-2007", title: "", source: "", seconds: null, main: "", scenarios: [{ text: "", log: 0 }], cells: [CELL], variants: { off: { 0: 0 } }, tables: [], claims: [], facts: {}, not_modelled: [] };
const point = (offset: number, ms: number, cylinder: number) => ({
  axes: { "workload.offset": `${offset}%` },
  depth: { asked: 1 },
  latency_ns: { n: 10, mean: ms * 1e6 },
  read: { bytes: 10e6 },
  write: { bytes: 0 },
  commands: [{ first_cylinder: null, to_cylinder: cylinder, from_cylinder: 0 }],
  iops_relative_error: 0.01,
  digest: `${offset}`,
}) as unknown as Point;

describe("a cell", () => {
  it("has the figure of its run, in its unit, with its statistical error", () => {
    expect(figureOf(CELL, [point(0, 4, 0)])).toEqual({ predicted: 4, error: 0.01 });
    expect(() => figureOf({ ...CELL, metric: "breakdown_ns.seek" }, [point(0, 4, 0)])).toThrow("a: the runs have no figure breakdown_ns.seek");
  });

  it("has figures of a surface", () => {
    const surface = { ...CELL, measure: "surface-read" as const, divisor: 1e6 };
    const points = [point(75, 20, 30), point(25, 10, 10), point(50, 12.5, 20)];
    expect(figureOf({ ...surface, metric: "max_bytes_per_s" }, points)).toEqual({ predicted: 100, error: null });
    expect(figureOf({ ...surface, metric: "mean_bytes_per_s" }, points).predicted).toBeCloseTo(230 / 3, 9);
    const line = [point(0, 10, 0), point(50, 12.5, 20), point(100, 1000 / 60, 40)];
    expect(figureOf({ ...surface, divisor: 1, metric: "r2_over_cylinder" }, line).predicted).toBeCloseTo(1, 9);
  });

  it("counts the reads that a buffer served towards a burst", () => {
    const commands = [["buffered", 8], ["media", 80], ["buffered", 12]].map(([served, ms]) => ({ served, sectors: 100, submitted_ns: 0, completed_ns: (ms as number) * 1e6 }));
    const burst = { ...point(0, 4, 0), commands } as unknown as Point;
    expect(figureOf({ ...CELL, measure: "burst", metric: "bytes_per_s", divisor: 1 }, [burst]).predicted).toBeCloseTo((200 * 512) / 20e-3, 6);
  });

  it.each([
    [2.53, 0],
    [2.6, 0.02],
    [2.4, -0.02],
  ])("at %d has an error of %d beyond the rounding of the print", (predicted, error) => {
    expect(errorOf(CELL, predicted)).toBeCloseTo(error, 12);
  });

  it("is printed with its digits, and predicted with one more", () => {
    expect(texts(CELL, 2.456)).toEqual({ published: "2.5", predicted: "2.46" });
    expect(texts({ ...CELL, published: null }, 1234.5)).toEqual({ published: "", predicted: "1,234" });
    expect([0.5, 12.345, 123.45].map(fourFigures)).toEqual(["0.5000", "12.35", "123.5"]);
    expect([0.004, -0.004, 0.05, -0.126].map(errorText)).toEqual(["0%", "0%", "+5%", "-13%"]);
    expect([0.0004, -0.0004, 0.05].map(changeText)).toEqual(["0.0%", "0.0%", "+5.0%"]);
  });
});

describe("figures that are there", () => {
  it("come from one run for a cell and its variant", () => {
    const found = new Found(EXPERIMENT);
    expect(() => found.at("a")).toThrow("a");
    found.take(0, "digest", [point(0, 3, 0)]);
    expect([found.at("a"), found.at("a", "off"), found.digests.get(0)]).toEqual([3, 3, "digest"]);
    expect(() => found.at("b")).toThrow("lkml-2007: no cell is called b");
  });

  it("leave a claim open while some are missing", () => {
    const claim = { id: "queueing_never_worse", text: "", reads: [] };
    expect(judge(new Found(EXPERIMENT), claim)).toBeUndefined();
    expect(() => judge(new Found(EXPERIMENT), { ...claim, id: "other" })).toThrow("no function checks the claim other");
  });
});

describe("the model of first order", () => {
  it("misses nothing on its own times, and refuses times that fall", () => {
    for (const miss of firstOrder([1, 10, 100], [12, 21, 111])) expect(miss).toBeCloseTo(0, 9);
    expect(() => firstOrder([1, 10], [20, 10])).toThrow("there is no rate to fit");
  });
});

describe("a number with so many digits", () => {
  it.each([
    [12.345, 2, "12.35"],
    [0.125, 2, "0.12"],
    [0.375, 2, "0.38"],
    [-0.125, 2, "-0.12"],
    [2.5, 0, "2"],
    [3.5, 0, "4"],
    [0.5, 0, "0"],
    [-0.4, 0, "-0"],
    [1.005, 2, "1.00"],
  ])("%d with %d is %s, as in Python", (value, digits, text) => expect(fixed(value, digits)).toBe(text));
});

const TABLED: Experiment = {
  ...EXPERIMENT,
  scenarios: [{ text: "a", log: 0 }, { text: "b", log: 0 }, { text: "c", log: 0 }],
  cells: [CELL, { ...CELL, id: "b", scenario: 1, published: null, role: "unpublished" }],
  variants: { off: { 0: 2 } },
  tables: [{ title: "one", rows: ["size"], shown: ["x", "y"], places: [[["4KiB"], { x: 0, y: 1 }]] }],
  claims: [{ id: "queueing_never_worse", text: "less", reads: [["off", 0], [null, 0]] }, { id: "sum", text: "adds up", reads: [], fixed: { holds: true, numbers: "1" } }],
};

describe("the questions of a published table", () => {
  it("are its tables, then its claims, each with the runs that it needs", () => {
    const questions = questionsOf(TABLED);
    expect(questions.map(({ key, title }) => [key, title])).toEqual([["table-1", "one"], ["queueing_never_worse", "less"], ["sum", "adds up"]]);
    expect(questions.map((one) => scenariosFor(TABLED, placesFor(one)))).toEqual([[0, 1], [2, 0], []]);
    expect(allScenarios(TABLED)).toEqual([0, 1, 2]);
  });

  it("are timed by the runs that were, and before by the native program", () => {
    expect(estimate(10, TABLED, { runs: 0, seconds: 0 }, 2)).toBeUndefined();
    expect(estimate(10, TABLED, { runs: 4, seconds: 2 }, 2)).toBe(5);
    expect(estimate(3, { ...TABLED, seconds: 30 }, { runs: 0, seconds: 0 }, 2)).toBeCloseTo(24, 9);
    expect([0.4, 4.2, 31, 200].map(secondsText)).toEqual(["about a second", "about 5 s", "about 35 s", "about 4 min"]);
  });

  it("have a chart of what is there", () => {
    const found = new Found(TABLED);
    const [table, claim] = questionsOf(TABLED) as [Question, Question];
    expect(rowsOf(found, table)).toEqual([
      { panel: "x", row: "4KiB", unit: "ms", published: 2.5, simulated: null, isCalibration: false },
      { panel: "y", row: "4KiB", unit: "ms", published: null, simulated: null, isCalibration: false },
    ]);
    // A column without a figure has no panel.
    expect((studySpec(rowsOf(found, table), 600) as { concat: unknown[] }).concat).toHaveLength(1);
    found.put([null, 1], { predicted: 300, error: null });
    const spec = studySpec(rowsOf(found, table), 600) as { concat: { layer: unknown[]; width: number }[]; datasets: { cells: unknown[] } };
    expect(spec.concat.map(({ layer }) => layer.length)).toEqual([1, 1]);
    expect(spec.datasets.cells).toHaveLength(2);
    // Both columns have one unit, and 300 ms beside 2.5 ms: one logarithmic axis for both.
    expect(new Set(spec.concat.map(({ layer }) => JSON.stringify((layer[0] as { encoding: { x: { scale: object } } }).encoding.x.scale))).size).toBe(1);
    expect(JSON.stringify(spec)).toContain('"type":"log"');
    expect(studySpec(rowsOf(new Found({ ...TABLED, cells: TABLED.cells.map((cell) => ({ ...cell, published: null })) }), claim), 600)).toBeUndefined();
  });

  it("have one chart of simulated over published where there are many cells", () => {
    const rows = Array.from({ length: ROWS_MAX + 1 }, (_, at) => ({ panel: "", row: `${at}`, unit: "ms", published: 1 + at, simulated: 2 + at, isCalibration: at === 0 }));
    const spec = studySpec(rows, 1000) as { layer: unknown[]; width: number; height: number };
    expect(spec.layer).toHaveLength(2);
    expect(spec.width).toBe(spec.height);
    expect(studySpec(rows.map((row) => ({ ...row, published: null })), 1000)).toHaveProperty("concat");
    expect(studySpec(rows.map((row) => ({ ...row, published: null, simulated: null })), 1000)).toBeUndefined();
  });

  it("are in the file as far as they were run", () => {
    const found = new Found(TABLED);
    expect(documentOf(found, { near: 0.05, far: 0.15 })).toMatchObject({ experiment: "lkml-2007", runs: 0, cells: [], claims: [{ id: "sum", holds: true }], summary: [] });
  });
});
