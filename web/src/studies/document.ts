// The figures of a published table as a file: cells and claims as `drivelab reproduce --json` has them, as far as
// they were run, and the summary of errors.
import { judge } from "./claims/index";
import { type Found, errorOf, summaries } from "./found";

/** The figures that are there. */
export function documentOf(found: Found, { near, far }: { near: number; far: number }): object {
  const { experiment } = found;
  const cells = experiment.cells.flatMap((cell, number) => {
    const figure = found.figure([null, number]);
    if (figure === undefined) return [];
    const { id, published, unit, resolution, role } = cell;
    return [{ id, published, predicted: figure.predicted, unit, resolution, role, error: errorOf(cell, figure.predicted), statistical_error: figure.error, digest: found.digests.get(cell.scenario) }];
  });
  const claims = experiment.claims.flatMap((claim) => {
    const verdict = judge(found, claim);
    return verdict === undefined ? [] : [{ id: claim.id, text: claim.text, ...verdict }];
  });
  return { experiment: experiment.name, title: experiment.title, source: experiment.source, runs: found.digests.size, cells, claims, not_modelled: experiment.not_modelled, summary: summaries(found, near, far) };
}
