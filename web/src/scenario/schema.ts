// What the JSON Schema of a scenario says of a place in its text: which keys may stand there, and which words.

interface Node {
  $ref?: string;
  properties?: Record<string, Node>;
  anyOf?: Node[];
  oneOf?: Node[];
  items?: Node;
  enum?: unknown[];
  const?: unknown;
  description?: string;
}

export interface Suggestion {
  label: string;
  detail: string;
}

/** Every form that a value of a schema may have. */
function forms(root: Node, node: Node | undefined): Node[] {
  if (node === undefined) return [];
  if (node.$ref !== undefined) {
    let found: unknown = root;
    for (const step of node.$ref.replace(/^#\//, "").split("/")) found = (found as Record<string, unknown>)[step];
    return [{ ...(node.description === undefined ? {} : { description: node.description }) }, ...forms(root, found as Node)];
  }
  return [node, ...[...(node.anyOf ?? []), ...(node.oneOf ?? [])].flatMap((one) => forms(root, one))];
}

function at(root: Node, path: readonly string[]): Node[] {
  let found = forms(root, root);
  for (const name of path) found = found.flatMap((one) => forms(root, one.properties?.[name]));
  return found;
}

/** The keys below a path. */
export function keysAt(schema: object, path: readonly string[]): Suggestion[] {
  const found = new Map<string, string>();
  for (const node of at(schema as Node, path)) {
    for (const [name, below] of Object.entries(node.properties ?? {})) {
      if (!found.has(name)) found.set(name, forms(schema as Node, below).map((one) => one.description).find(Boolean) ?? "");
    }
  }
  return [...found].map(([label, detail]) => ({ label, detail }));
}

/** The words that a key may have as its value. */
export function wordsAt(schema: object, path: readonly string[]): string[] {
  const nodes = at(schema as Node, path).flatMap((one) => [one, ...forms(schema as Node, one.items)]);
  const words = nodes.flatMap((one) => [...(one.enum ?? []), ...(one.const === undefined ? [] : [one.const])]);
  return [...new Set(words.filter((word): word is string => typeof word === "string"))];
}

export interface Cursor {
  /** The keys above the place. */
  path: string[];
  /** What is being written, and whether it is a value. */
  word: string;
  isValue: boolean;
}

/** Where in a scenario the end of a text is. */
export function cursorOf(before: string): Cursor {
  const lines = before.split("\n");
  const line = lines.pop() as string;
  const header = lines.map((one) => /^\s*\[([^\]]+)\]/.exec(one)?.[1]).filter((one) => one !== undefined).pop();
  const section = header === undefined ? [] : header.split(".").map((name) => name.trim());
  const cut = line.indexOf("=");
  if (cut >= 0) {
    const key = line.slice(0, cut).trim().split(".");
    const word = /[\w./-]*$/.exec(line.slice(cut + 1))?.[0] ?? "";
    return { path: [...section, ...key], word, isValue: true };
  }
  const names = line.trim().replace(/^\[/, "").split(".");
  const word = names.pop() as string;
  const isHeader = line.trim().startsWith("[");
  return { path: isHeader ? names : [...section, ...names], word, isValue: false };
}
