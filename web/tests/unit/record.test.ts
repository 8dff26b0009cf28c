// Ranges, digests and the record: the page's side of what Python has, on small inputs whose answers are known.
import { describe, expect, it } from "vitest";
import type { Point } from "../../src/core/answers";
import { bounds, iopsRange, timesAsMany } from "../../src/record/ranges";
import { combinedDigest, jobsOf, recordText, targetName } from "../../src/record/record";
import { sha256 } from "../../src/record/sha256";
import { sizeWithUnit, workloadOf } from "../../src/record/words";

const RANGE = [
  { depth: 1, low: 1, high: 1 },
  { depth: 4, low: 0.8, high: 1.2 },
];

function point(more: Partial<Point> = {}): Point {
  return {
    axes: {},
    in_force: { firmware: [{ class: "c", drives: 8, of_class: 5, access_drives: 0, range: RANGE }] },
    iops: 100,
    bytes_per_s: 409600,
    read: { iops: 100, histogram: "" },
    write: { iops: 0, histogram: "" },
    depth: { asked: 2, achieved: 2, in_drives: 2 },
    latency_ns: { n: 1, mean: 1, min: 1, max: 1, p50: 1, p90: 1, p95: 1, p99: 1, p99_9: 1, p99_99: 1 },
    breakdown_ns: null,
    digest: "0123456789abcdef",
    window_ns: 1,
    ...more,
  };
}

describe("sha256", () => {
  // From FIPS 180-4's examples, and a text that fills a block to the last byte but its length.
  it.each([
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    ["abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"],
  ])("of %j", (text, digest) => expect(sha256(text)).toBe(digest));
});

describe("the digest of several points", () => {
  it("is that of the point where there is one", () => expect(combinedDigest([point()])).toBe("0123456789abcdef"));
  it("is the beginning of the hash of all", () => expect(combinedDigest([point(), point()])).toBe(sha256("0123456789abcdef0123456789abcdef").slice(0, 16)));
});

describe("a range", () => {
  it("is linear over the logarithm of the depth", () => expect(bounds(RANGE, 2)).toEqual([0.9, 1.1]));
  it("stays as it is beyond the deepest", () => expect(bounds(RANGE, 99)).toEqual([0.8, 1.2]));
  it("is that of the commands in the drive", () => {
    const found = iopsRange(point());
    expect(found?.iops_low).toBeCloseTo(90, 9);
    expect(found?.iops_high).toBeCloseTo(110, 9);
  });
  it.each([
    ["no drive", { in_force: null }],
    ["a rate of its own", { depth: { asked: null, achieved: 2, in_drives: 2 } }],
    ["one command", { depth: { asked: 1, achieved: 1, in_drives: 1 } }],
  ] as const)("is none with %s", (_, more) => expect(iopsRange(point(more))).toBeUndefined());
});

describe("a record", () => {
  const plan = { name: "n", seed: "9007199254740993", scenario_hash: "h", axes: [{}], skipped: "[]", fio: ["[global]\nrw=read\n[job]\nbs=4096\nioengine=x\n"], scenario: 'target.drive = "own/d.toml"\n', files: {}, traces: {}, notes: [] };
  const about = { version: "1", model_version: 2, record_version: 1, generator: "g" };
  const outcome = { plan, points: [point()], places: [0], entries: ['{"iops":100.0}'], failures: [] };
  const text = recordText(about, outcome);
  it("keeps what the core wrote, to the digit", () => {
    expect(text).toContain('"seed": 9007199254740993');
    expect(text).toContain('{"iops":100.0,"iops_low":');
  });
  it("is named in its scenario, and names its target and its workload", () => {
    const read = JSON.parse(text) as { scenario: string; target: string; points: { workload: object }[] };
    expect(read.scenario).toBe('name = "n"\ntarget.drive = "own/d.toml"\n');
    expect(read.target).toBe("d");
    expect(read.points[0]?.workload).toEqual({ job: { bs: "4096" } });
  });
  it("tells arrays by level, members and drive", () => {
    expect(targetName('target.array.level = "raid5"\ntarget.array.members = 4\ntarget.drive = "d"\n')).toBe("raid5 of 4 d");
  });
  it("has every job of a job file", () => expect(Object.keys(jobsOf("[global]\n[a]\nrw=read\n[b]\nrw=write\n"))).toEqual(["a", "b"]));
});

describe("a workload in words", () => {
  it("has kind and size where all points share them", () => expect(workloadOf(["rw=randread\nbs=4096\n", "rw=randread\nbs=4096\n"])).toBe("random reads of 4 KiB"));
  it("leaves out what differs", () => expect(workloadOf(["rw=randread\nbs=4096\n", "rw=randread\nbs=512\n"])).toBe("random reads"));
  it("has sizes in the largest unit", () => expect([512, 1536, 2 ** 20].map(sizeWithUnit)).toEqual(["512 B", "1.5 KiB", "1 MiB"]));
});

describe("how many times as many", () => {
  const known = point({ in_force: {} });

  it("has a range where either point has one", () => {
    // The depth of two is half way to that of four.
    expect(timesAsMany(point(), known, true)).toBe("1.00 times (between 0.900 and 1.10)");
    expect(timesAsMany(known, point(), true)).toBe("1.00 times (between 0.909 and 1.11)");
    expect(timesAsMany(point(), point(), false)).toBe("1.00 times (between 0.818 and 1.22)");
  });

  it("has none for what is unknown of one drive on both sides", () => {
    expect(timesAsMany(point(), point(), true)).toBe("1.00 times");
    expect(timesAsMany(point({ iops: 150 }), point({ depth: { asked: 4, achieved: 4, in_drives: 4 } }), true)).toBe("1.50 times (between 1.38 and 1.69)");
  });

  it("has none where all was measured", () => {
    expect(timesAsMany(point({ in_force: {}, iops: 150 }), known, false)).toBe("1.50 times");
  });
});
