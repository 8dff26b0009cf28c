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
    expect(inlined(depthSpec(bare, axis, title))).toEqual(inlined(spec));
  });
});

/**
 * A specification with its rows where it refers to them, since two writers name them differently, and with twelve digits of
 * each number: the last ones of a power differ between languages.
 */
function inlined(spec: Record<string, unknown>): unknown {
  const { datasets, ...rest } = spec;
  const sets = datasets as Record<string, unknown>;
  return JSON.parse(JSON.stringify(rest), (key, value: unknown) => (key === "data" ? sets[(value as { name: string }).name] : typeof value === "number" ? Number(value.toPrecision(12)) : value));
}
