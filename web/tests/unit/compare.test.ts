// The logic of comparisons where the test of whole records does not lead: distributions, printed shares, texts of files.
import { describe, expect, it } from "vitest";
import { judged } from "../../src/compare/difference";
import { matched } from "../../src/compare/matching";
import { type DriveRecord, axisName, axisText, axisValue, figureOf } from "../../src/compare/model";
import { general, percent, student } from "../../src/compare/numbers";
import { read } from "../../src/compare/reading";

describe("Student's t", () => {
  // From scipy.special.stdtrit and ndtri.
  it.each([
    [31, 0.95, 2.039513446396408],
    [11, 0.995, 3.4966141732536835],
    [23.7, 0.9983, 3.538022217226146],
    [1, 0.95, 12.706204736174694],
    [500000, 0.9999, 3.8906232773057936],
    [Number.POSITIVE_INFINITY, 0.95, 1.959963984540054],
    [Number.POSITIVE_INFINITY, 0.9999, 3.8905918864131204],
  ])("with %d degrees of freedom at %d", (freedom, confidence, expected) => expect(student(freedom, confidence) / expected).toBeCloseTo(1, 9));
});

describe("a share", () => {
  it.each([
    [0.0125, "+1.2 %"], [0.0375, "+3.8 %"], [-0.0125, "-1.2 %"], [9, "x10"], [12.3456, "x13.3"], [2e6, "x2.0e+06"], [-0.95, "-95.0 %"], [-0.999, "-99.90 %"], [0.9951, "+100 %"], [-0.9949, "-99.49 %"], [0, "0.0 %"], [-1, "-100 %"],
  ])("%d is printed as the package prints it", (share, text) => expect(percent(share)).toBe(text));
  it.each([[5, "5"], [2.5, "2.5"], [0.00001, "1e-05"], [1234567, "1.23457e+06"]])("%d is a number", (value, text) => expect(general(value)).toBe(text));
});

describe("an axis", () => {
  it.each([["workload.job.readers.bs", "readers.bs"], ["target.queue.order", "queue.order"], ["run.seed", "seed"], ["blocksize", "bs"]])("%s has a common name", (path, name) => expect(axisName(path)).toBe(name));
  it.each([["bs", "4KiB", 4096], ["rw", "READWRITE", "rw"], ["iodepth", "4", 4], ["drive", { name: "a", rpm: 1 }, "a"]])("%s has a common value", (name, value, expected) => expect(axisValue(name, value)).toBe(expected));
  it("is text as TOML has it", () => expect([axisText({ a: [1, "x"], b: true }), axisText(true), axisText(0.5)]).toEqual(['{ a = [1, "x"], b = true }', "True", "0.5"]));
});

describe("a threshold", () => {
  const one = { place: {}, figure: "iops", first: 1, other: 1, error: 0.1, freedom: 9, shown: "none", is_open: false } as const;
  it.each([
    [0.01, -0.01, 0.03, "within"],
    [0.2, 0.1, 0.3, "beyond"],
    [0.04, -0.1, 0.1, "open"],
    [null, null, null, "beyond"],
    [0.01, null, null, "within"],
  ] as const)("judges %d from %d to %d", (share, low, high, expected) => expect(judged({ ...one, share, low, high }, 0.05)).toBe(expected));
});

describe("points", () => {
  const record = (...axes: Record<string, unknown>[]): DriveRecord => ({ origin: "", kind: "simulated", name: "", target: "", notes: [], settings: new Map(), points: axes.map((one) => ({ axes: one, figures: { iops: figureOf(1) }, digest: null, direction: "", is_complete: false })) });
  it("match where nothing contradicts, once", () => {
    const found = matched(record({ iodepth: 1 }, { iodepth: 2 }), record({ iodepth: 2, rw: "read" }, { iodepth: 4, rw: "read" }));
    expect(found.pairs.map((pair) => pair.place)).toEqual([{ iodepth: 2, rw: "read" }]);
    expect(found.lonely.map((one) => one.reason)).toEqual(["the other has no iodepth 1, only 2, 4", "the other has no iodepth 4, only 1, 2"]);
  });
  it("differ in what is compared, not in their place", () => expect(matched(record({ drive: "a" }), record({ drive: "b" })).subjects).toEqual({ drive: ["a", "b"] }));
});

describe("a file", () => {
  const page = (inner: string) => `<!DOCTYPE html>\n<html lang="en"><body>\n<p>{ &quot;a&quot;: 2 }</p>\n${inner}\n</body></html>\n`;
  const opening = '<script type="application/json" id="drivelab-record">';
  it("may be a report with the record in it", () => expect(read(page(`${opening}{"name":"\\u003c/script>","points":[]}</script>`), "r.html")).toEqual({ table: { name: "</script>", points: [] } }));
  it.each([
    ["a page without a record", page("<style>\n{ }\n</style>"), "web page without a record"],
    ["a report that was cut short", `${page("").slice(0, 40)}${opening}{"points":[`, "ends within its record"],
  ])("%s is refused", (_, text, why) => expect(read(text, "r.html")).toMatchObject({ problem: expect.stringMatching(new RegExp(`^r.html: .*${why}`)) }));
  it("loses what only a log needs", () => expect(read('{"points": [{"iops": 1, "commands": [1], "member_commands": []}]}', "a")).toEqual({ table: { points: [{ iops: 1 }] } }));
  it("may have text in front", () => expect(read('fio: hm\n{"a": 1}', "a")).toMatchObject({ table: { a: 1 }, note: "text beside the JSON is left out: `fio: hm`" }));
  it.each([
    ["{} {}", "follows the first"],
    ['{"a": nan}', "this is no JSON"],
    ['{"a": [1', "was the run ended"],
    ["\n[1]", "it holds a list"],
    ["  ", "it is empty"],
  ])("%s is refused", (text, why) => expect(read(text, "a.json")).toMatchObject({ problem: expect.stringMatching(new RegExp(`^a.json: .*${why}`)) }));
});
