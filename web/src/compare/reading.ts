// A file's text as the JSON of a record, without what only a log needs. It runs in a worker: a file may be long.
import { isTable, type Table } from "./model";

/** As much as the command line reads. */
export const SIZE_MAX_BYTES = 512 * 2 ** 20;
/** What of a point no comparison needs: most of a long file. */
const LOGS = ["commands", "member_commands"];

export type Read = { table: Table; note?: string } | { problem: string };

/** The element of a report that has the record. In its text every `<` is written as an escape. */
const OPENING = '<script type="application/json" id="drivelab-record">';
const IS_PAGE = /^\s*<(?:!doctype\s+html|html)\b/i;

/** The text of the record in a report, and any other text as it is. */
function unwrapped(text: string, origin: string): { text: string } | { problem: string } {
  if (!IS_PAGE.test(text)) return { text };
  const begin = text.indexOf(OPENING);
  if (begin < 0) return { problem: `${origin}: it is a web page without a record, as charts are; \`simulate --report\` and other verbs write pages that have their record in them` };
  const end = text.indexOf("</script>", begin);
  if (end < 0) return { problem: `${origin}: the report ends within its record; was it copied whole?` };
  return { text: text.slice(begin + OPENING.length, end) };
}

/** The object of a text, or why there is none. */
export function read(text: string, origin: string): Read {
  const found = unwrapped(text, origin);
  return "problem" in found ? found : object(found.text, origin);
}

function object(text: string, origin: string): Read {
  if (text.trim() === "") return { problem: `${origin}: it is empty; a record is JSON, as \`drivelab simulate --json\` or \`fio --output-format=json\` print it` };
  const begin = /^[ \t]*(?=\{)/m.exec(text);
  if (begin === null) {
    if (/^\s*\[/.test(text)) return { problem: `${origin}: it holds a list; a record is a JSON object` };
    const first = text.trim().split("\n", 1)[0] as string;
    return { problem: `${origin}: there is no JSON object in it; it begins with \`${first.slice(0, 60)}${first.length > 60 ? ".." : ""}\`. A record is what \`drivelab simulate --json\` or \`fio --output-format=json\` print` };
  }
  const from = begin.index + begin[0].length;
  const rest = text.slice(from).trimEnd();
  try {
    const found: unknown = JSON.parse(rest);
    if (!isTable(found)) return { problem: `${origin}: a record is a JSON object` };
    const points = Array.isArray(found["points"]) ? found["points"] : [];
    for (const point of points) if (isTable(point)) for (const name of LOGS) delete point[name];
    const said = text.slice(0, from).trim();
    return said === "" ? { table: found } : { table: found, note: `text beside the JSON is left out: \`${said.split("\n", 1)[0]?.slice(0, 60)}\`` };
  } catch (error) {
    return { problem: `${origin}: ${broken(error, rest, text.slice(0, from).split("\n").length)}` };
  }
}

function broken(error: unknown, text: string, line: number): string {
  const words = error instanceof Error ? error.message : String(error);
  if (!text.endsWith("}")) return "the JSON ends within an object; was the run ended before it had printed all?";
  const at = Number(/position (\d+)/.exec(words)?.[1] ?? Number.NaN);
  const before = Number.isNaN(at) ? undefined : text.slice(0, at);
  const place = before === undefined ? "" : `line ${line + before.split("\n").length - 1}: `;
  if (/after JSON/.test(words)) return `${place}a second document, or text, follows the first; a file has one record here: take them apart, or give the file to \`drivelab compare\``;
  return `${place}this is no JSON (${words}); a file that was edited or cut short has to be written anew`;
}
