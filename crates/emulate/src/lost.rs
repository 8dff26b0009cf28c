//! The addresses that were listed as lost so far, each counted once however often it is listed.
use crate::answered::AnsweredRanges;
use drivelab_core::storage::array::report::Run;

/// See the module.
#[derive(Default)]
pub(crate) struct LostAddresses {
    listed: AnsweredRanges,
    /// What was lost with members: too many ranges to be listed one by one.
    runs: Vec<Run>,
    count: u64,
}

impl LostAddresses {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// These addresses are lost.
    pub fn add(&mut self, first: u64, end: u64) {
        let is_new = |at: &u64| !self.listed.has(*at) && !self.runs.iter().any(|run| run.has(*at));
        self.count += (first..end).filter(is_new).count() as u64;
        self.listed.add(first, end);
    }

    /// An address of a run is lost that was answered only afterwards.
    pub fn add_late(&mut self, at: u64) {
        self.count += u64::from(!self.listed.has(at));
        self.listed.add(at, at + 1);
    }

    /// A run is lost, of which `sectors` sectors were answered.
    pub fn add_run(&mut self, run: Run, sectors: u64, answered: &AnsweredRanges) {
        let again = |(first, end)| answered.count_within(Run::once(first, end - first));
        let listed: u64 = self.listed.within(run).map(again).sum();
        self.count += sectors.saturating_sub(listed);
        self.runs.push(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_units::{Lba, Sectors};

    #[test]
    fn each_address_counts_once() {
        let (mut lost, mut answered) = (LostAddresses::default(), AnsweredRanges::default());
        lost.add(10, 20);
        lost.add(15, 25);
        assert_eq!(lost.count(), 15);
        answered.add(0, 100);
        // 8 to 11, 28 to 31 and 48 to 51: two of them are listed.
        let (first, count) = (Lba::new(8), Sectors::new(4));
        let run = Run { first, count, every: Sectors::new(20), times: 3 };
        lost.add_run(run, answered.count_within(run), &answered);
        assert_eq!(lost.count(), 25);
        lost.add(26, 32);
        assert_eq!(lost.count(), 27);
    }
}
