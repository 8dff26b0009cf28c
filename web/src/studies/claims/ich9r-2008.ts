// What the 2008 study found with a single drive: the rules of python/drivelab/experiment/claims/ich9r_2008.py.
import { fixed } from "../../compare/numbers";
import type { Found } from "../found";
import type { Claims } from "./pattern";
import { change, firstOrder, leastOf, mostOf, share } from "./words";

const REVISIONS = ["00A7B0", "00A7B2", "65A7B0"] as const;
const SIZES = Array.from({ length: 21 }, (_, step) => 512 * 2 ** step);
const LINEAR = 0.99;
/** "About 900" Mbit/s. */
const [OUTER_LEAST, OUTER_MOST] = [850, 950];
/** Maximum relative change of a rate that counts as unchanged by another link. */
const UNCHANGED = 0.005;
/** "At most about 5 %". */
const HOST_CACHE = 0.055;
const HOLDS = 0.05;
/** "Near 1 MiB". */
const [NEAR_LEAST, NEAR_MOST] = [2 ** 18, 2 ** 22];

/** The largest unit of which a size is a whole multiple. */
export function sizeText(size: number): string {
  for (const [unit, factor] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]] as const) if (size >= factor && size % factor === 0) return `${size / factor}${unit}`;
  return `${size}B`;
}

interface Miss {
  size: number;
  miss: number;
}

function misses(found: Found, cache: string, figure: string): Miss[] {
  const times = SIZES.map((size) => found.at(`00A7B0/${cache}/${figure}/${sizeText(size)}`));
  return firstOrder(SIZES, times).map((miss, at) => ({ size: SIZES[at] as number, miss: Math.abs(miss) }));
}

const largest = (all: readonly Miss[], isNear: boolean) => mostOf(all.filter(({ size }) => (NEAR_LEAST <= size && size <= NEAR_MOST) === isNear), ({ miss }) => miss);
const missText = ({ size, miss }: Miss) => `${share(miss, 1)} (${sizeText(size)})`;

export const CLAIMS: Claims = {
  surface(found) {
    const lines = REVISIONS.flatMap((revision) => ["line_over_radius", "line_over_share"].map((figure) => found.at(`${revision}/on/${figure}/64KiB`)));
    const outer = REVISIONS.map((revision) => found.at(`${revision}/on/outer/64KiB`));
    const holds = Math.min(...lines) >= LINEAR && outer.some((rate) => OUTER_LEAST <= rate && rate <= OUTER_MOST);
    const rates = REVISIONS.map((name, at) => `${name} ${fixed(outer[at] as number, 0)}`).join(", ");
    return { holds, numbers: `R2 ${fixed(Math.min(...lines), 4)} to ${fixed(Math.max(...lines), 4)}; outer edge in Mbit/s: ${rates}` };
  },
  revisions(found) {
    const latency = (name: string) => found.at(`${name}/on/random_read/4KiB`);
    const rate = (name: string) => found.at(`${name}/on/read/64KiB`);
    const holds = leastOf(REVISIONS, latency) === "00A7B0" && leastOf(REVISIONS, rate) === "00A7B0" && mostOf(REVISIONS, rate) === "65A7B0";
    return { holds, numbers: REVISIONS.map((name) => `${name} ${fixed(latency(name), 2)} ms, ${fixed(rate(name), 1)} MiB/s`).join("; ") };
  },
  interface_never_limits(found) {
    const links = Object.entries(found.facts["link_mb_s"] as Record<string, number>);
    const shares = links.map(([name, link]) => ({ name, of: found.at(`${name}/on/outer/64KiB`) / (8 * link) }));
    const known = new Set(found.ids("link-600"));
    const changes = found.ids().filter((id) => known.has(id)).map((id) => found.at(id, "link-600") / found.at(id) - 1);
    const most = mostOf(shares, ({ of }) => of);
    const holds = most.of < 1 && Math.max(...changes.map(Math.abs)) <= UNCHANGED;
    return {
      holds,
      numbers: `outer rate at most ${share(most.of)} of the link (${most.name}, of ${shares.length} drives); 600 MB/s changes rates by ${change(Math.min(...changes), 2)} to ${change(Math.max(...changes), 2)}`,
    };
  },
  single_model(found) {
    const rows = ["off", "on"].flatMap((cache) =>
      ["reads", "writes"].map((kind) => {
        const all = misses(found, cache, `random_${kind.slice(0, -1)}`);
        return { cache, kind, near: largest(all, true), far: largest(all, false) };
      }),
    );
    const near = (kind: string) => Math.max(0, ...rows.filter((row) => row.kind === kind).map((row) => row.near.miss));
    const holds = Math.max(...rows.map(({ far }) => far.miss)) <= HOLDS && near("writes") > Math.max(HOLDS, near("reads"));
    return { holds, numbers: rows.map((row) => `cache ${row.cache}, ${row.kind}: ${missText(row.near)} near 1 MiB, ${missText(row.far)} elsewhere`).join("; ") };
  },
  host_write_cache(found) {
    const gains = found.ids("host-cache").map((id) => ({ id, by: found.at(id, "host-cache") / found.at(id) - 1 }));
    const holds = gains.every(({ by }) => by >= -UNCHANGED && by <= HOST_CACHE);
    return { holds, numbers: gains.map(({ id, by }) => `${id.split("/")[0]} ${change(by)}`).join(", ") };
  },
};
