// A claim that must hold under every reading of what a study left open.
import type { Found } from "../found";
import type { Verdict } from "../model";

export type Claim = (found: Found) => Verdict;
/** The claims of an experiment by their names in its file. */
export type Claims = Readonly<Record<string, Claim>>;

export function byPattern(patterns: readonly string[], check: (found: Found, pattern: string) => Verdict): Claim {
  return (found) => {
    const all = patterns.map((name) => ({ name, ...check(found, name) }));
    return { holds: all.every(({ holds }) => holds), numbers: all.map(({ name, numbers }) => `${name}: ${numbers}`).join("; ") };
  };
}
