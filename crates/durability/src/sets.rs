//! How many sets of failed members lose data, by their size: exact, counted from the arrangement.
//!
//! Each member fails with the same probability, independently, and nobody replaces it: these are the assumptions of the
//! study "Storage, Raid, and intel's ICHxR" (2008). Sets that lose data and sets that do not are counted apart, and
//! nothing is subtracted, so a probability of 1e-15 is as accurate as one half. Counts above 2^53 are rounded to the
//! nearest double.
use crate::arrangement::{Arrangement, Rule, declustered_hit};

/// Counts of sets: entry j is the number of sets of j members.
type Counts = Vec<f64>;

/// The sets of failed members of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedSets {
    /// Sets of each size that lose data.
    pub lost: Vec<f64>,
    /// Sets of each size that do not.
    pub borne: Vec<f64>,
}

impl FailedSets {
    /// Counts the sets of an arrangement.
    pub fn of(arrangement: &Arrangement) -> Self {
        let cells = &arrangement.cells;
        let [borne, lost] = match arrangement.rule {
            Rule::Bears(bears) => {
                let ends = |size: u32| [span(size, 0, bears), span(size, bears + 1, size)];
                fold(cells, |[borne, lost], size| {
                    let [stands, falls] = ends(size);
                    [times(&borne, &stands), plus(&times(&lost, &all(size)), &times(&borne, &falls))]
                })
            }
            // `lost`: every cell so far has a missing member.
            Rule::EveryCell => {
                let start = [vec![0.0], vec![1.0]];
                cells.iter().fold(start, |[borne, lost], &size| {
                    let (whole, hit) = (vec![1.0], span(size, 1, size));
                    [plus(&times(&borne, &all(size)), &times(&lost, &whole)), times(&lost, &hit)]
                })
            }
            Rule::Arc(length) => arcs(cells.len(), cells[0], length),
            Rule::Local { globals } => local(cells, globals),
            Rule::Declustered { width, bears, stripes } => declustered(cells[0], width, bears, stripes),
        };
        let members = arrangement.members() as usize;
        let whole = |mut counts: Counts| {
            counts.resize(members + 1, 0.0);
            counts
        };
        FailedSets { lost: whole(lost), borne: whole(borne) }
    }

    /// How many members may fail, whichever they are.
    pub fn bears_worst(&self) -> usize {
        self.lost.iter().position(|&sets| sets > 0.0).map_or(self.lost.len() - 1, |first| first - 1)
    }

    /// How many members may fail in the best case.
    pub fn bears_best(&self) -> usize {
        self.borne.iter().rposition(|&sets| sets > 0.0).unwrap_or(0)
    }

    /// The probability of data loss if each member fails with this probability.
    pub fn loss(&self, chance: f64) -> f64 {
        sum(&self.lost, chance)
    }

    /// The same if one member has failed already, and each of the others fails with this probability. All members are
    /// equivalent, or the failed one is any of them.
    pub fn loss_after_one(&self, chance: f64) -> f64 {
        let members = (self.lost.len() - 1) as f64;
        let others = self.lost.iter().enumerate().skip(1).map(|(size, sets)| size as f64 * sets / members);
        sum(&others.collect::<Vec<_>>(), chance)
    }
}

/// Sets by size, each size with its probability.
fn sum(sets: &[f64], chance: f64) -> f64 {
    let most = sets.len() - 1;
    let term = |(size, count): (usize, &f64)| {
        count * libm::pow(chance, size as f64) * libm::pow(1.0 - chance, (most - size) as f64)
    };
    sets.iter().enumerate().filter(|(_, count)| **count > 0.0).map(term).sum()
}

/// Cells one after the other, from an array without any, in which nothing is lost.
fn fold(cells: &[u32], step: impl Fn([Counts; 2], u32) -> [Counts; 2]) -> [Counts; 2] {
    cells.iter().fold([vec![1.0], vec![0.0]], |so_far, &size| step(so_far, size))
}

/// Blocks of `per_block` members in a circle; data are lost when `length` adjacent blocks fail completely.
fn arcs(blocks: usize, per_block: u32, length: usize) -> [Counts; 2] {
    let (falls, stands) = (span(per_block, per_block, per_block), span(per_block, 0, per_block - 1));
    let any = all(per_block);
    // All sets in which the first blocks, as many as an arc has, have failed.
    let first = times(&power(&falls, length), &power(&any, blocks - length));
    let (mut borne, mut lost) = (vec![0.0], first);
    // Else some block stands after `ahead` failed ones; failed blocks at the end and these form one run.
    for ahead in 0..length.min(blocks) {
        // runs[b]: the sets in which the blocks so far end with b failed ones, and nothing is lost.
        let mut runs = vec![vec![0.0]; length];
        runs[0] = times(&power(&falls, ahead), &stands);
        let mut gone: Counts = vec![0.0];
        for _ in 0..blocks - ahead - 1 {
            gone = plus(&times(&gone, &any), &times(&runs[length - 1], &falls));
            let standing = runs.iter().fold(vec![0.0], |total, run| plus(&total, run));
            let longer = runs[..length - 1].iter().map(|run| times(run, &falls)).collect::<Vec<_>>();
            runs = [vec![times(&standing, &stands)], longer].concat();
        }
        lost = plus(&lost, &gone);
        for (behind, run) in runs.iter().enumerate() {
            let into = if behind + ahead < length { &mut borne } else { &mut lost };
            *into = plus(into, run);
        }
    }
    [borne, lost]
}

/// Local groups, then a cell of global parities; of each local group one failure is free.
fn local(cells: &[u32], globals: u32) -> [Counts; 2] {
    // by_excess[e]: the sets of which global parities must repair e.
    let mut by_excess = vec![vec![1.0]];
    for (at, &size) in cells.iter().enumerate() {
        let is_last = at + 1 == cells.len();
        let mut next = vec![vec![0.0]; by_excess.len() + size as usize];
        for (excess, sets) in by_excess.iter().enumerate() {
            for failed in 0..=size {
                let more = if is_last { failed } else { failed.saturating_sub(1) };
                let to = &mut next[excess + more as usize];
                *to = plus(to, &times(sets, &span(size, failed, failed)));
            }
        }
        by_excess = next;
    }
    let total = |some: &[Counts]| some.iter().fold(vec![0.0], |total, sets| plus(&total, sets));
    let (borne, lost) = by_excess.split_at(by_excess.len().min(globals as usize + 1));
    [total(borne), total(lost)]
}

/// The expected number of sets: a set of more than `bears` loses data if some stripe is on that many of it.
fn declustered(members: u32, width: u32, bears: u32, stripes: f64) -> [Counts; 2] {
    let (mut borne, mut lost) = (all(members), vec![0.0; members as usize + 1]);
    let mut kept = 0.0_f64;
    for missing in bears + 1..=members {
        kept += libm::log1p(-declustered_hit(members, width, bears, stripes, missing));
        let (sets, at) = (borne[missing as usize], missing as usize);
        borne[at] = sets * libm::exp(kept);
        lost[at] = -sets * libm::expm1(kept);
    }
    [borne, lost]
}

/// Sets of `from` to `to` of `size` members.
fn span(size: u32, from: u32, to: u32) -> Counts {
    let mut found = all(size);
    for (failed, sets) in found.iter_mut().enumerate() {
        if failed < from as usize || failed > to as usize {
            *sets = 0.0;
        }
    }
    found
}

/// All sets of members: (1 + x)^n. Exact up to 2^53: each step of the product is a whole number.
fn all(members: u32) -> Counts {
    let mut found = vec![1.0; members as usize + 1];
    for failed in 1..=members / 2 {
        let (fewer, more) = (found[failed as usize - 1], f64::from(members - failed + 1));
        // Of 1 021 members or more the product is above the largest double, and the quotient is not.
        let product = fewer * more;
        let by = f64::from(failed);
        let sets = if product.is_finite() { product / by } else { fewer / by * more };
        found[failed as usize] = sets;
        found[(members - failed) as usize] = sets;
    }
    found
}

fn plus(left: &[f64], right: &[f64]) -> Counts {
    let of = |counts: &[f64], at: usize| counts.get(at).copied().unwrap_or(0.0);
    (0..left.len().max(right.len())).map(|at| of(left, at) + of(right, at)).collect()
}

fn times(left: &[f64], right: &[f64]) -> Counts {
    let mut product = vec![0.0; left.len() + right.len() - 1];
    for (i, a) in left.iter().enumerate().filter(|(_, a)| **a > 0.0) {
        for (j, b) in right.iter().enumerate() {
            product[i + j] += a * b;
        }
    }
    product
}

fn power(base: &[f64], exponent: usize) -> Counts {
    (0..exponent).fold(vec![1.0], |product, _| times(&product, base))
}
