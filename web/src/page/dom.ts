// Elements in one call.

type Child = Node | string;
type Attributes = Record<string, string | number | boolean | ((event: Event) => void)>;

/** An element with attributes (a function is a listener, `true` an empty attribute, `false` none) and children. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false) element.setAttribute(key, String(value));
  }
  element.append(...children);
  return element;
}

/** A label with its field, and what the field says beside it. */
export function field(label: string, control: HTMLElement, hint?: string): HTMLElement {
  const id = control.id || `field-${label.toLowerCase().replace(/\W+/g, "-")}-${serial++}`;
  control.id = id;
  const parts: Child[] = [h("label", { for: id }, label), control];
  if (hint !== undefined) {
    control.setAttribute("aria-describedby", `${id}-hint`);
    parts.push(h("small", { id: `${id}-hint` }, hint));
  }
  return h("div", { class: "field" }, ...parts);
}

let serial = 0;

export function select(options: readonly (readonly [string, string])[], chosen: string, change: () => void): HTMLSelectElement {
  const list = h("select", { change });
  for (const [value, text] of options) list.append(h("option", { value, selected: value === chosen }, text));
  // What a link asks for is shown, even if it does not exist.
  if (chosen !== "" && !options.some(([value]) => value === chosen)) list.append(h("option", { value: chosen, selected: true }, chosen));
  return list;
}

/** Offers a text as a file. */
export function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Puts a text on the clipboard; where the browser allows no page to, it is shown, selected, to be copied by hand. */
export async function copy(text: string, beside: HTMLElement, done: (what: string) => void): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    done("Copied.");
  } catch {
    const area = h("textarea", { readonly: true, "aria-label": "To be copied", rows: 4 });
    area.value = text;
    beside.append(area);
    area.select();
    done("Copy the selected text.");
  }
}
