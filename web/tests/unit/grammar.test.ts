// The chart that the page draws of a record is the one that Python draws: `DRIVELAB_PAGE_CHARTS` names a file with records'
// points and Python's specifications of them, which the test of the package writes. Alone, there is nothing to compare.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Point } from "../../src/core/answers";
import { depthAxis, depthSpec } from "../../src/charts/depth";
import { ranged } from "../../src/record/record";

interface Case {
  name: string;
  title: string;
  points: Point[];
  spec: Record<string, unknown>;
}

const path = process.env["DRIVELAB_PAGE_CHARTS"];
const cases = path === undefined ? [] : (JSON.parse(readFileSync(path, "utf8")) as Case[]);

describe.skipIf(path === undefined)("the chart of", () => {
  it.each(cases)("$name", ({ title, points, spec }) => {
    const bare = ranged(points.map(({ iops_low: _, iops_high: __, ...point }) => point as Point));
    expect(bare.map(({ iops_low, iops_high }) => [iops_low, iops_high])).toEqual(points.map(({ iops_low, iops_high }) => [iops_low, iops_high]));
    const axis = depthAxis(bare) as string;
    expect(named(depthSpec(bare, axis, title))).toEqual(named(spec));
  });
});

/** A specification whose data sets are named by their order, which is all that differs between two writers. */
function named(spec: Record<string, unknown>): unknown {
  const sets = spec["datasets"] as Record<string, unknown>;
  let text = JSON.stringify({ ...spec, datasets: Object.values(sets) });
  Object.keys(sets).forEach((name, at) => {
    text = text.replaceAll(`"name":"${name}"`, `"name":"set ${at}"`);
  });
  return JSON.parse(text);
}
