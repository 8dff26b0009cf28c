//! Which failures lose data: members are grouped into cells, and a rule decides from the missing members of each cell
//! whether data are lost, and how close a loss is. All levels consist of such cells.
//!
//! A group with parity or copies is a cell, and so is a single drive. RAID 01: a cell is a striped set. RAID 10 far,
//! offset and odd near: the cells form a circle. Local-reconstruction codes: a cell per local group with its parity,
//! the last one for the global parities; the code recovers every failure that its parities suffice for (a maximally
//! recoverable code). Declustered parity: one cell; a set of failures loses data if some stripe is on all of them.
use libm::{expm1, log1p};

/// The condition of a loss.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// A cell loses data with more missing members than this.
    Bears(u32),
    /// Data are lost when every cell has a missing member.
    EveryCell,
    /// Data are lost when this number of adjacent cells (in a circle) have all members missing.
    Arc(usize),
    /// Each failure that local parity cannot repair needs a global parity, of which the last cell has `globals`.
    Local { globals: u32 },
    /// Stripes of `width` members, of which any `bears` may be missing, distributed over all members.
    Declustered { width: u32, bears: u32, stripes: f64 },
}

/// Members in cells, and the rule of a loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrangement {
    /// The number of members of each cell.
    pub cells: Vec<u32>,
    pub rule: Rule,
}

impl Arrangement {
    pub fn members(&self) -> u32 {
        self.cells.iter().sum()
    }

    /// The probability that the failure of a member of `cell`, which `missing` already includes, loses data.
    #[inline]
    pub fn loss(&self, missing: &[u32], cell: usize) -> f64 {
        let lost = match self.rule {
            Rule::Bears(bears) => missing[cell] > bears,
            Rule::EveryCell => missing.iter().all(|&count| count > 0),
            Rule::Arc(length) => self.arc_is_gone(missing, cell, length),
            Rule::Local { globals } => self.excess(missing) > globals,
            Rule::Declustered { width, bears, stripes } => {
                return if missing[0] > bears {
                    declustered_hit(self.cells[0], width, bears, stripes, missing[0])
                } else {
                    0.0
                };
            }
        };
        f64::from(u8::from(lost))
    }

    /// Whether a further failure in or near `cell` may lose data.
    pub fn is_critical(&self, missing: &[u32], cell: usize) -> bool {
        match self.rule {
            Rule::Bears(bears) => missing[cell] == bears,
            Rule::EveryCell => missing.iter().filter(|&&count| count == 0).count() == 1,
            Rule::Arc(_) => self.exposed_drives(missing, cell) > 0.0,
            Rule::Local { globals } => self.excess(missing) == globals,
            Rule::Declustered { bears, .. } => missing[0] == bears,
        }
    }

    /// The amount that the rebuild of a critical array reads without redundancy, in drives.
    pub fn exposed_drives(&self, missing: &[u32], cell: usize) -> f64 {
        match self.rule {
            // Copies: one of them is read. Parity: all remaining members are read.
            Rule::Bears(_) => f64::from(self.cells[cell] - missing[cell]),
            Rule::EveryCell => 1.0,
            // The data of one arc, for each arc around the cell with one member left.
            Rule::Arc(length) => {
                let (count, bears) = (self.cells.len(), length as u32 * self.cells[0] - 1);
                let missing_of =
                    |first: usize| (first..first + length).map(|at| missing[at % count]).sum::<u32>();
                let arcs = (0..length).filter(|back| missing_of(cell + count - back) == bears).count();
                arcs as f64 / length as f64
            }
            Rule::Local { .. } => f64::from(self.data_members()),
            Rule::Declustered { width, bears, .. } => {
                let share = shared(self.cells[0], width, bears);
                f64::from(self.cells[0]) * share * f64::from(width - bears) / f64::from(width)
            }
        }
    }

    /// Whether the rebuild of a critical `cell` reads the data of members of `other`.
    pub fn is_exposed(&self, cell: usize, other: usize) -> bool {
        match self.rule {
            Rule::Bears(_) => cell == other,
            Rule::Arc(length) => {
                let count = self.cells.len();
                let apart = (cell + count - other) % count;
                apart.min(count - apart) < length
            }
            _ => true,
        }
    }

    /// The amount that a loss of members loses, in drives.
    pub fn at_stake_drives(&self, cell: usize) -> f64 {
        match self.rule {
            Rule::Bears(bears) => f64::from(self.cells[cell] - bears),
            Rule::EveryCell => f64::from(self.cells[0]),
            // The data whose copies begin at one cell.
            Rule::Arc(length) => 1.0 / length as f64,
            Rule::Local { .. } => f64::from(self.data_members()),
            Rule::Declustered { width, bears, stripes } => {
                // The stripes that are on all missing members; at least one.
                let usable = f64::from(self.cells[0]) * f64::from(width - bears) / f64::from(width);
                usable * shared(self.cells[0], width, bears + 1).max(1.0 / stripes)
            }
        }
    }

    /// How close a loss is, in missing members: the level of multilevel splitting.
    pub fn depth(&self, missing: &[u32]) -> u32 {
        match self.rule {
            Rule::Bears(_) | Rule::Declustered { .. } => missing.iter().copied().max().unwrap_or(0),
            Rule::EveryCell => missing.iter().map(|&count| u32::from(count > 0)).sum(),
            Rule::Arc(_) | Rule::Local { .. } => missing.iter().sum(),
        }
    }

    /// The smallest depth at which data may be lost.
    pub fn depth_of_loss(&self) -> u32 {
        match self.rule {
            Rule::Bears(bears) | Rule::Declustered { bears, .. } => bears + 1,
            Rule::EveryCell => self.cells.len() as u32,
            Rule::Arc(length) => length as u32 * self.cells[0],
            Rule::Local { globals } => globals + 2,
        }
    }

    /// The number of failures that the array survives, whichever members fail.
    pub fn bears_worst(&self) -> u32 {
        self.depth_of_loss() - 1
    }

    fn data_members(&self) -> u32 {
        let locals = &self.cells[..self.cells.len() - 1];
        locals.iter().map(|size| size - 1).sum()
    }

    /// The number of failures that local parity cannot repair.
    fn excess(&self, missing: &[u32]) -> u32 {
        let (last, locals) = missing.split_last().expect("a code has cells");
        locals.iter().map(|count| count.saturating_sub(1)).sum::<u32>() + last
    }

    fn arc_is_gone(&self, missing: &[u32], cell: usize, length: usize) -> bool {
        let count = self.cells.len();
        let gone = |at: usize| missing[at % count] == self.cells[at % count];
        let ahead = (0..length).take_while(|step| gone(cell + step)).count();
        let behind = (1..length).take_while(|step| gone(cell + count - step)).count();
        gone(cell) && ahead + behind >= length
    }
}

/// The share of stripes with `width` of `members` members that are on all of `given` specific members.
pub fn shared(members: u32, width: u32, given: u32) -> f64 {
    (0..given).map(|step| f64::from(width.saturating_sub(step)) / f64::from(members - step)).product()
}

/// The probability that the latest of `missing` members completes a set of `bears + 1` on which some stripe is.
pub(crate) fn declustered_hit(members: u32, width: u32, bears: u32, stripes: f64, missing: u32) -> f64 {
    // The number of sets of bears + 1 that include the latest member.
    let sets: f64 = (0..bears).map(|step| f64::from(missing - 1 - step) / f64::from(step + 1)).product();
    -expm1(sets * stripes * log1p(-shared(members, width, bears + 1).min(1.0 - 1e-15)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By every unit: each lies on a drive and its successors, a copy less than there are drives apart.
    #[test]
    fn copies_in_a_circle_expose_what_lies_on_the_last_of_an_arc() {
        for (drives, length) in [(5usize, 2usize), (8, 3), (7, 4)] {
            let circle = Arrangement { cells: vec![1; drives], rule: Rule::Arc(length) };
            let unit = 1.0 / length as f64;
            assert!((circle.at_stake_drives(0) - unit).abs() < 1e-12);
            for set in (0u32..1 << drives).filter(|set| set.count_ones() < drives as u32) {
                let missing: Vec<u32> = (0..drives).map(|at| set >> at & 1).collect();
                for cell in (0..drives).filter(|&cell| missing[cell] == 1) {
                    let on = |first: usize| (first..first + length).map(|at| at % drives);
                    let units = (0..drives).filter(|&first| {
                        on(first).any(|at| at == cell)
                            && on(first).filter(|&at| missing[at] == 0).count() == 1
                    });
                    let exposed = units.count() as f64 * unit;
                    assert_eq!(circle.is_critical(&missing, cell), exposed > 0.0, "{missing:?} {cell}");
                    assert!(
                        (circle.exposed_drives(&missing, cell) - exposed).abs() < 1e-12,
                        "{missing:?} {cell}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_local_reconstruction_code_bears_what_is_published_of_azure() {
        // Huang et al., ATC'12: LRC(12, 2, 2) decodes all sets of 3 failures, and about 86 % of those of 4.
        let code = Arrangement { cells: vec![7, 7, 2], rule: Rule::Local { globals: 2 } };
        let cell_of = |member: u32| (member / 7) as usize;
        for (size, share) in [(3u32, 1.0), (4, 0.86)] {
            let (mut borne, mut all) = (0, 0);
            for set in 0u32..1 << 16 {
                if set.count_ones() != size {
                    continue;
                }
                let mut missing = [0; 3];
                for member in (0..16).filter(|member| set >> member & 1 == 1) {
                    missing[cell_of(member)] += 1;
                }
                all += 1;
                borne += i32::from(code.loss(&missing, 0) == 0.0);
            }
            let found = f64::from(borne) / f64::from(all);
            assert!((found - share).abs() < 0.01, "{size}: {found}");
        }
    }

    #[test]
    fn arcs_close_round_the_circle() {
        let far = Arrangement { cells: vec![1; 5], rule: Rule::Arc(2) };
        assert_eq!(far.loss(&[1, 0, 0, 0, 1], 0), 1.0);
        assert_eq!(far.loss(&[1, 0, 0, 0, 1], 4), 1.0);
        assert_eq!(far.loss(&[1, 0, 1, 0, 0], 0), 0.0);
        assert!(far.is_critical(&[1, 0, 0, 0, 0], 0));
        assert!(far.is_exposed(0, 4) && far.is_exposed(0, 1) && !far.is_exposed(0, 2));
    }

    #[test]
    fn declustered_parity_with_stripes_over_all_members_is_a_group() {
        let all =
            Arrangement { cells: vec![8], rule: Rule::Declustered { width: 8, bears: 2, stripes: 1e6 } };
        assert!((all.loss(&[3], 0) - 1.0).abs() < 1e-9);
        assert_eq!(all.loss(&[2], 0), 0.0);
        assert!((all.exposed_drives(&[2], 0) - 6.0).abs() < 1e-12);
    }
}
