// What a file is: a record of drivelab, fio's results, a comparison, or something else, with the reason and the remedy.
import type { Core } from "../core/client";
import { ofFio, isFio } from "./fio";
import { type DriveRecord, RecordError, type Table } from "./model";
import { histogramsOf, ofRuns, ofSession } from "./own";
import type { Counts } from "./precision";
import { driveOf } from "./settings";

/** Other JSON of drivelab, by a key that nothing else has. */
const OTHERS: Record<string, string> = { surface: "scan", demerit_ms: "validate", levels: "compare-levels", states: "durability", parameters: "fit", candidates: "plan", answer: "answer" };

/** The result of `drivelab compare --json`: it is shown as it is. */
export interface Stored {
  origin: string;
  lines: string[];
  table: Table;
}

export type Opened = { record: DriveRecord } | { stored: Stored };

/** Throws RecordError. */
export async function opened(core: Core, table: Table, origin: string): Promise<Opened> {
  if (isFio(table)) return { record: checked(ofFio(table, origin)) };
  if (table["kind"] === "emulate" || "record_version" in table) {
    const texts = [...new Set(histogramsOf(table))];
    let counts: ReadonlyMap<string, Counts>;
    try {
      const found = await core.histograms(texts);
      counts = new Map(texts.map((text, at) => [text, found[at] as Counts]));
    } catch (error) {
      throw new RecordError(`${origin}: a histogram of the record cannot be read: ${error instanceof Error ? error.message : String(error)}; the file is damaged: write it anew`);
    }
    const drive = driveOf(table);
    const facts = drive === undefined ? [] : await core.facts(drive, filesOf(table));
    if (table["kind"] === "emulate") return { record: checked(ofSession(table, origin, facts)) };
    const { record_version: known } = await core.about();
    return { record: checked(ofRuns(table, origin, known, counts, facts)) };
  }
  const verdict = table["verdict"] as { lines?: unknown } | undefined;
  if ("comparisons" in table && Array.isArray(verdict?.lines)) return { stored: { origin, lines: verdict.lines.map(String), table } };
  if ("experiment" in table && "cells" in table) throw new RecordError(`${origin}: this is the outcome of \`drivelab reproduce\`, which the page does not read: give it to \`drivelab compare\``);
  if (table["format"] === "drivelab library") throw new RecordError(`${origin}: this is an export of a library; \`drivelab library import\` takes it, and then its records can be compared`);
  if ("smartctl" in table) throw new RecordError(`${origin}: this is smartctl's output of a drive, which has no results; \`drivelab import smartctl\` makes a drive file of it`);
  for (const [key, verb] of Object.entries(OTHERS)) {
    if (key in table) throw new RecordError(`${origin}: this is the JSON of \`drivelab ${verb}\`; records that can be compared come from simulate, emulate, measure and fio`);
  }
  const keys = Object.keys(table).slice(0, 5).map((key) => key.slice(0, 30)).join(", ") || "none";
  throw new RecordError(`${origin}: this is no record: it has neither record_version nor fio's \`fio version\` (its keys: ${keys})`);
}

function checked(record: DriveRecord): DriveRecord {
  if (record.points.length === 0) throw new RecordError(`${record.origin}: the record has no points: nothing was measured in it`);
  return record;
}

function filesOf(table: Table): Record<string, string> {
  const files = table["files"];
  const entries = typeof files === "object" && files !== null ? Object.entries(files) : [];
  return Object.fromEntries(entries.filter((one): one is [string, string] => typeof one[1] === "string"));
}
