// A workload in words, for the title of a picture, from the job files that the core writes of its points.

const KINDS: Record<string, string> = {
  read: "sequential reads",
  write: "sequential writes",
  rw: "sequential reads and writes",
  readwrite: "sequential reads and writes",
  randread: "random reads",
  randwrite: "random writes",
  randrw: "random reads and writes",
};

/** Kind and block size, where all points share them. */
export function workloadOf(fio: readonly string[]): string {
  const each = (pattern: RegExp) => fio.map((text) => [...text.matchAll(pattern)].map((found) => found[1] as string));
  const only = (found: string[]) => (new Set(found).size === 1 ? (found[0] as string) : "");
  let kind = only(each(/^rw=(\w+)/gm).map((kinds) => kinds.map((name) => KINDS[name] ?? name).join(" ")));
  if (fio.some((text) => /^percentage_random=/m.test(text))) kind = kind.replace(/^(random|sequential) /, "");
  const bytes = fio.some((text) => text.includes("bssplit=")) ? "" : only(each(/^bs=(\d+)$/gm).flat());
  const size = bytes ? sizeWithUnit(Number(bytes)) : "";
  return [kind, kind && size ? `of ${size}` : size].filter(Boolean).join(" ");
}

/** An amount of data in the largest unit of 1024 that it fills. */
export function sizeWithUnit(size: number): string {
  for (const [unit, power] of [["TiB", 4], ["GiB", 3], ["MiB", 2], ["KiB", 1]] as const) {
    if (size >= 1024 ** power) return `${Number((size / 1024 ** power).toPrecision(4))} ${unit}`;
  }
  return `${size} B`;
}
