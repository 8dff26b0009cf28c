// The record of a run: the same document that `drivelab simulate --json` prints, so that the command line opens it.
import type { About, Point } from "../core/answers";
import type { Outcome } from "../core/client";
import { iopsRange } from "./ranges";
import { sha256 } from "./sha256";

/** One digest for several runs; that of the run itself where there is one. */
export function combinedDigest(points: readonly Point[]): string {
  const digests = points.map((point) => point.digest);
  return digests.length === 1 ? (digests[0] as string) : sha256(digests.join("")).slice(0, 16);
}

/** The points with the ranges that a record has. */
export function ranged(points: readonly Point[]): Point[] {
  return points.map((point) => ({ ...point, ...iopsRange(point) }));
}

/** The record as JSON text. What the core wrote is not written anew: JavaScript would round large numbers. */
export function recordText(about: About, outcome: Outcome): string {
  const { plan, points, entries, failures } = outcome;
  const text = (value: unknown) => JSON.stringify(value);
  const target = targetName(plan.scenario);
  const named = /^name = /m.test(plan.scenario) ? "" : `name = ${text(plan.name)}\n`;
  const fields: [string, string][] = [
    ["record_version", text(about.record_version)],
    ["name", text(plan.name)],
    ...(target ? [["target", text(target)] as [string, string]] : []),
    ["version", text(about.version)],
    ["model_version", text(about.model_version)],
    ["scenario_hash", text(plan.scenario_hash)],
    ["seed", plan.seed],
    ["digest", text(combinedDigest(points))],
    ["generator", text(about.generator)],
    ["interrupted", "false"],
    ["failures", `[${failures.join(",")}]`],
    ["skipped", plan.skipped],
    ["scenario", text(named + plan.scenario)],
    ["overrides", "[]"],
    ["files", text(plan.files)],
    ["traces", text(plan.traces)],
    ["points", `[\n${entries.map((entry, at) => stated(entry, points[at] as Point, plan.fio[outcome.places[at] as number] ?? "")).join(",\n")}\n]`],
  ];
  return `{\n${fields.map(([key, value]) => `${text(key)}: ${value}`).join(",\n")}\n}\n`;
}

/** An entry with its range and its workload. */
function stated(entry: string, point: Point, fio: string): string {
  const jobs = jobsOf(fio);
  const more = { ...iopsRange(point), ...(Object.keys(jobs).length > 0 ? { workload: jobs } : {}) };
  const text = JSON.stringify(more);
  return text === "{}" ? entry : `${entry.slice(0, -1)},${text.slice(1)}`;
}

const AXES = ["rw", "bs", "iodepth", "numjobs", "rwmixread"];
const MORE = ["bssplit", "rate_iops", "percentage_random", "random_distribution", "fsync"];

/** The jobs of a job file written by the core, with the options that tell them apart. */
export function jobsOf(fio: string): Record<string, Record<string, string>> {
  const kept = new Set([...AXES, ...MORE]);
  const jobs: Record<string, Record<string, string>> = {};
  let own: Record<string, string> = {};
  for (const line of fio.split("\n")) {
    const section = /^\[(.*)\]$/.exec(line)?.[1];
    if (section !== undefined) {
      own = {};
      if (section !== "global") jobs[section] = own;
    } else if (!line.startsWith(";") && line.includes("=")) {
      const [name, value] = [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)];
      if (kept.has(name)) own[name] = value;
    }
  }
  return jobs;
}

/** What a record is of, from the scenario as the core writes it, a key a line. */
export function targetName(scenario: string): string {
  const values = new Map<string, string>();
  for (const line of scenario.split("\n")) {
    const cut = line.indexOf(" = ");
    if (cut > 0) values.set(line.slice(0, cut), line.slice(cut + 3));
  }
  const plain = (key: string) => (values.get(key) ?? "").replace(/[[\]"']/g, "").replace(/, */g, ", ");
  let drive = plain("target.drive") || plain("target.drive.base");
  if (drive.endsWith(".toml") && !drive.includes(",")) drive = (drive.split("/").pop() as string).slice(0, -5);
  const level = plain("target.array.level");
  const members = plain("target.array.members");
  return level ? `${level}${members ? ` of ${members}` : ""}${drive ? ` ${drive}` : ""}` : drive;
}
