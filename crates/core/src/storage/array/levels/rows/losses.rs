//! What survives of levels with parity when members are missing.
use super::Rows;
use crate::storage::array::levels::losses::{Runs, Units};
use crate::storage::array::members::ALL;
use crate::storage::array::report::Run;
use alloc::vec::Vec;

impl Rows {
    /// What is lost with the frontiers `after` and was not with those `before`.
    pub(crate) fn losses_between(&self, before: &[u64], after: &[u64]) -> Vec<Run> {
        let mut runs = Runs::default();
        let (members, groups, unit, turn) = (self.members(), self.groups(), self.unit(), self.turn());
        let is_fixed =
            (0..self.columns()).all(|column| self.data(0, column) == self.data(turn * groups, column));
        // Rows of a group in a band: after as many the parity is on the same member again, and the group's
        // turn begins again.
        let period = if is_fixed { turn } else { members };
        let bounds = [before, after].map(|frontiers| self.bounds(frontiers));
        let band = period * groups;
        for row in 0..band.min(self.rows()) {
            for column in 0..self.columns() {
                let slot = usize::from(self.data(row, column));
                let bound = |which: usize| bounds[which][slot / members as usize];
                let from = |which, frontier: u64| {
                    let from = frontier.max(bound(which));
                    if from == ALL { ALL } else { from.saturating_sub(self.at(row)) }
                };
                let units = Units {
                    address: row * self.row_data() + u64::from(column) * unit,
                    band: band * self.row_data(),
                    stride: period * unit,
                    unit,
                    times: (self.rows() - row).div_ceil(band),
                };
                runs.lose(&units, from(1, after[slot]), from(0, before[slot]));
            }
        }
        runs.joined()
    }

    /// By group: the place from which on more members are unreadable than there are parities.
    fn bounds(&self, frontiers: &[u64]) -> Vec<u64> {
        let groups = frontiers.chunks(self.members() as usize);
        let bound = |group: &[u64]| {
            let mut sorted = group.to_vec();
            sorted.sort_unstable();
            sorted[usize::from(self.parities())]
        };
        groups.map(bound).collect()
    }

    /// Up to which place the others have everything that belongs on a slot.
    pub(crate) fn reach_of(&self, frontiers: &[u64], slot: u16) -> u64 {
        self.bounds(frontiers)[usize::from(slot) / self.members() as usize]
    }
}
