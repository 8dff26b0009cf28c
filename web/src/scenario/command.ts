// The command that runs a scenario in a terminal, from the scenario as the core writes it: a key a line.

/** Keys that have an option of their own. */
const OPTIONS: Record<string, string> = {
  name: "name",
  "target.drive": "drive",
  "target.array.level": "level",
  "target.array.members": "members",
  "target.array.stripe_unit": "stripe-unit",
  "workload.rw": "rw",
  "workload.bs": "bs",
  "workload.iodepth": "iodepth",
  "workload.numjobs": "numjobs",
  "workload.rwmixread": "rwmixread",
  "run.duration": "runtime",
  "run.warmup": "ramp-time",
  "run.ios": "number-ios",
  "run.seed": "randseed",
};

/** A word that a shell leaves alone. */
const shell = (word: string) => (/^[\w./:%+,=@-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

/** A value as an option takes it: text without quotes, a list with commas. */
function bare(value: string): string | undefined {
  const list = /^\[(.*)\]$/.exec(value)?.[1];
  const parts = (list ?? value).split(",").map((part) => part.trim());
  const found = parts.map((part) => /^"([^"\\,]*)"$/.exec(part)?.[1] ?? (/^[\w.]+$/.test(part) ? part : undefined));
  return found.every((part) => part !== undefined && part !== "") ? found.join(",") : undefined;
}

/** The command. Undefined for a scenario that names files of its own: these are nowhere but here. */
export function commandOf(scenario: string, files: Record<string, string>, log = 0): string | undefined {
  if (Object.keys(files).some((path) => !path.startsWith("catalogue/"))) return undefined;
  const words = ["drivelab", "simulate"];
  for (const line of scenario.split("\n")) {
    const cut = line.indexOf(" = ");
    if (cut < 0) continue;
    const [key, value] = [line.slice(0, cut), line.slice(cut + 3)];
    const option = OPTIONS[key];
    const given = option === undefined ? undefined : bare(value);
    if (given !== undefined) words.push(`--${option}`, shell(given));
    else words.push("--set", shell(`${key}=${value}`));
  }
  if (log > 0) words.push("--log", String(log));
  return words.join(" ");
}
