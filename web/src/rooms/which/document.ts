// The answer for programs: JSON and CSV, with the keys that `drivelab plan --json` and `--csv` have.
import { type Asked, type Candidate, holds, latencyName, lossSpan, nameOf } from "../../arrays/candidate";
import { loadText } from "../../arrays/load";
import type { Assumption, Varied } from "../../arrays/sensitivity";
import type { State } from "../../arrays/states";

const STATES: readonly State[] = ["healthy", "degraded", "rebuilding"];
type Value = string | number | boolean | null;

/** A candidate's figures by the names of columns. */
export function rowOf(one: Candidate, asked: Asked): Record<string, Value> {
  const row: Record<string, Value> = {
    candidate: nameOf(one),
    drive: one.made.drive,
    level: one.made.level,
    members: one.made.members,
    spares: asked.spares,
    usable_bytes: one.capacity_bytes || null,
    cost: one.cost,
    bears_any: one.reason === undefined ? one.bears.worst : null,
    bears_at_best: one.reason === undefined ? one.bears.best : null,
  };
  for (const state of STATES) {
    const figures = one.states[state];
    row[`iops_${state}`] = figures?.iops ?? null;
    row[`iops_${state}_low`] = figures?.iops_low ?? null;
    row[`iops_${state}_high`] = figures?.iops_high ?? null;
    row[`iops_relative_error_${state}`] = figures?.iops_relative_error ?? null;
    for (const name of new Set(["mean", "p99", ...(asked.limits.latency ? [asked.limits.latency.name] : [])])) {
      row[`${name}_ns_${state}`] = figures?.latency_ns[name as "p99"] ?? null;
      const [low, high] = figures?.latency_interval_ns[name] ?? [null, null];
      [row[`${name}_ns_${state}_low`], row[`${name}_ns_${state}_high`]] = [low, high];
    }
  }
  row["rebuild_h"] = one.rebuild?.duration_ns ? one.rebuild.duration_ns / 3600e9 : null;
  row["rebuild_relative_error"] = one.rebuild?.relative_error ?? null;
  const [low, high] = one.losses ? lossSpan(one.losses) : [null, null];
  const year = one.losses?.loss_in_a_year.value ?? null;
  row["loss_in_a_year_percent"] = year === null ? null : 100 * year;
  [row["loss_in_a_year_percent_low"], row["loss_in_a_year_percent_high"]] = [low, high];
  row["share_by_sectors"] = one.losses?.share_by_sectors ?? null;
  row["mttdl_years"] = one.losses?.mttdl_years.value ?? null;
  row["is_loss_a_bound"] = one.losses !== undefined && one.is_bound;
  row["holds"] = holds(one);
  row["out_for"] = one.failings.map(({ text }) => text).join("; ") || null;
  return row;
}

function ends(name: string, one: Varied | undefined): Record<string, Value> {
  return { [`${name}_percent`]: one?.value ?? null, [`${name}_percent_low`]: one?.low ?? null, [`${name}_percent_high`]: one?.high ?? null, [`is_${name}_told`]: one?.is_told ?? false };
}

export interface Answered {
  asked: Asked;
  candidates: readonly Candidate[];
  pick: Candidate | undefined;
  assumptions: readonly Assumption[];
  /** The array whose chance of loss depends on these assumptions. */
  subject: Candidate | undefined;
  lines: readonly string[];
  notes: readonly string[];
  commands: readonly string[];
}

export function jsonText({ asked, candidates, pick, assumptions, subject, lines, notes, commands }: Answered, versions: object): string {
  const { limits } = asked;
  const found = {
    ...versions,
    seed: asked.seed,
    load: loadText(asked.load),
    limits: { capacity_bytes: limits.capacity_bytes, latencies_ns: limits.latency ? { [latencyName(limits.latency.name)]: limits.latency.most_ns } : {}, iops: limits.iops ?? null, loss_in_a_year_percent: limits.loss_percent ?? null, states: limits.states },
    currency: asked.currency,
    failures: asked.failures,
    commands,
    lines,
    notes,
    pick: pick ? nameOf(pick) : null,
    assumptions_of: subject ? nameOf(subject) : null,
    assumptions: assumptions.map((one) => ({ key: one.key, name: one.name, value: one.value, ...ends("loss_at_half", one.low), ...ends("loss_at_twice", one.high), turns: one.turns.map(({ factor, why, then }) => ({ factor, why: why ?? null, then: then ?? null })) })),
    candidates: candidates.map((one) => rowOf(one, asked)),
  };
  return `${JSON.stringify(found, null, 2)}\n`;
}

export function csvText({ asked, candidates }: Answered): string {
  const rows = candidates.map((one) => rowOf(one, asked));
  const names = Object.keys(rows[0] ?? {});
  const cell = (value: Value | undefined) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return `${[names.join(","), ...rows.map((row) => names.map((name) => cell(row[name])).join(","))].join("\n")}\n`;
}
