// Files that one room hands to another.

let files: File[] = [];

export function hand(given: File[]): void {
  files = given;
}

/** What was handed over, once. */
export function takeHanded(): File[] {
  const found = files;
  files = [];
  return found;
}
