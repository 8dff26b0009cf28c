// Keys of a scenario's text: read and set line by line, so that what the writer put beside them stays. The core alone
// knows what a key means; here a key is a dotted name, and a value is the text behind its `=`.

interface Line {
  key: string | undefined;
  /** As it is written, over so many lines. */
  value: string;
  lines: number;
  /** Behind the value. */
  comment: string;
}

const SECTION = /^\s*\[([^\]]+)\]\s*(#.*)?$/;
const KEY = /^\s*([\w.-]+)\s*=\s*(.*)$/;

/** The value and the comment behind it. */
function split(rest: string): [string, string] {
  let quote = "";
  for (let at = 0; at < rest.length; at++) {
    const letter = rest[at] as string;
    if (quote) {
      if (letter === "\\" && quote === '"') at++;
      else if (letter === quote) quote = "";
    } else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === "#") return [rest.slice(0, at).trimEnd(), rest.slice(at)];
  }
  return [rest.trimEnd(), ""];
}

/** Whether a list, a table or a text of several lines goes on behind this part of it. */
function isOpen(value: string): boolean {
  for (const quotes of ['"""', "'''"]) if (value.startsWith(quotes)) return !value.slice(3).includes(quotes);
  const bare = value.replace(/"(\\.|[^"\\])*"|'[^']*'/g, "");
  return (bare.match(/[[{]/g)?.length ?? 0) > (bare.match(/[\]}]/g)?.length ?? 0);
}

function parsed(text: string): { lines: string[]; found: Line[]; sections: (string | undefined)[] } {
  const lines = text.split("\n");
  let section = "";
  const sections: (string | undefined)[] = [];
  let behind = 0;
  const found = lines.map((line, index): Line => {
    const header = index < behind ? undefined : SECTION.exec(line)?.[1];
    sections.push(header?.trim());
    if (header !== undefined) section = `${header.trim()}.`;
    const match = header === undefined ? KEY.exec(line) : null;
    if (match === null || index < behind) return { key: undefined, value: "", lines: 1, comment: "" };
    let [value, comment] = split(match[2] as string);
    let count = 1;
    while (isOpen(value) && index + count < lines.length) {
      const [more, last] = split(lines[index + count] as string);
      [value, comment] = [`${value}\n${more}`, last];
      count++;
    }
    behind = index + count;
    return { key: section + (match[1] as string), value, lines: count, comment };
  });
  return { lines, found, sections };
}

/** The value of a key as it is written; undefined where the text does not set it on a line of its own. */
export function valueOf(text: string, key: string): string | undefined {
  return parsed(text).found.find((line) => line.key === key)?.value;
}

/** A value without quotes. */
export function plain(value: string | undefined): string {
  return (value ?? "").replace(/^(["'])(.*)\1$/, "$2");
}

export const quoted = (value: string): string => JSON.stringify(value);

/** The text with the key set to a value, or without it. */
export function withValue(text: string, key: string, value: string | undefined): string {
  const { lines, found, sections } = parsed(text);
  const at = found.findIndex((line) => line.key === key);
  if (at >= 0) {
    const { comment } = found[at] as Line;
    const line = lines[at] as string;
    const before = line.slice(0, line.indexOf("=") + 1);
    lines.splice(at, (found[at] as Line).lines, ...(value === undefined ? [] : [`${before} ${value}${comment ? `  ${comment}` : ""}`]));
    return lines.join("\n");
  }
  if (value === undefined) return text;
  const cut = key.indexOf(".");
  if (cut < 0) return `${key} = ${value}\n${text}`;
  const [section, own] = [key.slice(0, cut), key.slice(cut + 1)];
  const header = sections.indexOf(section);
  if (header < 0) return `${text.replace(/\n*$/, "\n\n")}[${section}]\n${own} = ${value}\n`;
  let end = header + 1;
  while (end < lines.length && sections[end] === undefined) end++;
  while (end > header + 1 && (lines[end - 1] as string).trim() === "") end--;
  lines.splice(end, 0, `${own} = ${value}`);
  return lines.join("\n");
}

/** The whole numbers of a list, or of a single value. */
export function numbers(value: string | undefined): number[] {
  return (value ?? "").match(/\d+/g)?.map(Number) ?? [];
}
