// The settings of a record: each key of its scenario with its values, and what its drive has where nobody set it, as in
// python/drivelab/records/settings.py. A record holds its scenario as the core writes it, a key a line.
import { type Table, axisName, axisText, isTable } from "./model";

/** The facts of a record's drive, which the core reads from its files. */
export type Facts = readonly { key: string; value: unknown }[];

const DRIVE = "target.drive";
const OF_TARGET = ["queue", "cache", "write_cache"];

const shown = (value: unknown) => (typeof value === "boolean" ? String(value) : axisText(value));

/** The keys of a scenario that has one on each line, and their values as texts. */
function statedOf(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const cut = line.indexOf(" = ");
    if (cut < 0 || line.startsWith("name = ")) continue;
    const value = line.slice(cut + 3);
    found.set(line.slice(0, cut), [/^".*"$/.test(value) ? (JSON.parse(value) as string) : value]);
  }
  return found;
}

/** The name of the drive whose facts are wanted; undefined where the record has none, or several. */
export function driveOf(document: Table): string | undefined {
  if (typeof document["scenario"] !== "string") return undefined;
  const stated = withSwept(document, statedOf(document["scenario"]));
  const names = stated.get(DRIVE) ?? stated.get(`${DRIVE}.base`);
  return names?.length === 1 ? names[0] : undefined;
}

/** What is swept in place of what is stated of it. */
function withSwept(document: Table, stated: Map<string, string[]>): Map<string, string[]> {
  const swept = new Map<string, string[]>();
  for (const point of Array.isArray(document["points"]) ? document["points"] : []) {
    for (const [key, value] of Object.entries(isTable(point) && isTable(point["axes"]) ? point["axes"] : {})) {
      const values = swept.get(key) ?? [];
      if (!values.includes(shown(value))) values.push(shown(value));
      swept.set(key, values);
    }
  }
  const isBelow = (key: string) => [...swept.keys()].some((axis) => key === axis || key.startsWith(`${axis}.`) || key.startsWith(`${axis}[`));
  const found = new Map([...stated].filter(([key]) => !isBelow(key)));
  for (const [key, values] of swept) found.set(key, values);
  return found;
}

export function settingsOf(document: Table, facts: Facts): Map<string, string[]> {
  if (typeof document["scenario"] !== "string") return new Map();
  const stated = withSwept(document, statedOf(document["scenario"]));
  const base = stated.get(`${DRIVE}.base`);
  if (base !== undefined && !stated.has(DRIVE)) stated.set(DRIVE, base);
  for (const [key, values] of [...stated]) {
    const own = `target.${key.slice(DRIVE.length + 1)}`;
    if (OF_TARGET.some((name) => key.startsWith(`${DRIVE}.${name}`)) && !stated.has(own)) stated.set(own, values);
  }
  const implied = new Map<string, string[]>();
  for (const { key, value } of facts) {
    if (key.startsWith("identity.")) continue;
    implied.set(`${DRIVE}.${key}`, [shown(value)]);
    if (OF_TARGET.includes(key.split(".")[0] as string)) implied.set(`target.${key}`, [shown(value)]);
  }
  for (const [key, values] of inForce(document)) implied.set(key, values);
  // What is stated counts more; keys that are implied alone come first, as in the package.
  const all = new Map(implied);
  for (const [key, values] of stated) all.set(key, values);
  return all;
}

/** What controller and drive have agreed on, and what was assumed. */
function inForce(document: Table): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const point of Array.isArray(document["points"]) ? document["points"] : []) {
    const force = isTable(point) ? point["in_force"] : undefined;
    if (!isTable(force)) continue;
    const own = new Map<string, unknown>();
    for (const one of Array.isArray(force["assumed"]) ? force["assumed"] : []) if (isTable(one)) own.set(String(one["key"]), one["value"]);
    for (const firmware of Array.isArray(force["firmware"]) ? force["firmware"] : []) {
      const supplied = isTable(firmware) ? firmware["supplied"] : undefined;
      for (const one of Array.isArray(supplied) ? supplied : []) if (Array.isArray(one)) own.set(String(one[0]), one[1]);
    }
    for (const key of ["protocol", "depth"]) if (force[key] !== undefined && force[key] !== null) own.set(`queue.${key}`, force[key]);
    for (const [key, value] of own) {
      const name = `${OF_TARGET.includes(key.split(".")[0] as string) ? "target" : DRIVE}.${key}`;
      const values = found.get(name) ?? [];
      if (!values.includes(shown(value))) values.push(shown(value));
      found.set(name, values);
    }
  }
  return found;
}

/** The one value of a setting under the name that it has as an axis. */
export function asAxis(settings: ReadonlyMap<string, string[]>, axis: string): string | undefined {
  for (const [key, values] of settings) if (axisName(key) === axis && values.length === 1) return values[0];
  return undefined;
}
