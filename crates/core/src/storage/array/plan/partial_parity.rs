//! What a stripe request writes to the partial parity logs before it writes to the members.
use super::Plan;
use crate::command::{Access, Outcome};
use crate::data::Word;
use crate::storage::array::members::Spot;
use crate::storage::array::reserved;
use crate::storage::array::stripe_request::Phase;

/// What a command to a log has room for: the command, where the sectors begin, and how many they are.
pub type LogRoom = (u64, u64, u64);

impl Plan<'_> {
    /// Begins a plan that may write.
    #[inline]
    pub fn begin_log(&mut self) -> Result<(), Outcome> {
        self.state.logs.begin_draft()
    }

    /// The largest band whose partial parity the log can hold.
    #[inline]
    pub fn largest_band(&self) -> u64 {
        reserved::largest_band(&self.state.params)
    }

    /// A band of `count` sectors with its parity at a spot is to be logged. Returns the number of the stripe
    /// request's record, and whether it has begun in this log already; `None` where the stripe request must
    /// wait for room.
    pub fn open_log(&mut self, parity: Spot) -> Option<(u64, bool)> {
        let (serial, ring) = (self.stripe_request().plan.serial, parity.slot);
        let is_open = self.state.planning.last[usize::from(ring)][Phase::Log as usize].0 == serial;
        let any_volatile = self.state.members.any_volatile();
        let logs = &mut self.state.logs;
        if !is_open && (logs.must_queue(self.slot) || !logs.may_join(ring, any_volatile)) {
            logs.run_short(ring);
            return None;
        }
        Some((logs.record(self.slot), is_open))
    }

    /// Takes room in a log for up to `count` sectors of a record, as an extension of the stripe request's
    /// last command to the log where that is possible. `None` where there is no room.
    pub fn take_in_log(&mut self, parity: Spot, record: u64, count: u64) -> Option<LogRoom> {
        let taken = self.go_on_in_log(parity, record, count);
        taken.or_else(|| self.begin_in_log(parity, record, count))
    }

    /// Takes room in a log for a separate command, which begins with a granule that describes it and
    /// continues with up to `count` sectors.
    pub fn begin_in_log(&mut self, parity: Spot, record: u64, count: u64) -> Option<LogRoom> {
        let taken = self.begin_with_description(parity, record, count);
        if taken.is_none() {
            self.state.logs.run_short(parity.slot);
        }
        taken
    }

    fn begin_with_description(&mut self, parity: Spot, record: u64, count: u64) -> Option<LogRoom> {
        let (granule, member) = (self.granule(), usize::from(parity.slot));
        let most = (self.most() / granule).max(2) * granule;
        let ring = &mut self.state.logs.rings[member];
        if count > 0 && ring.before_end() == granule {
            // Only a description without data would fit.
            ring.take(record, granule)?;
        }
        let (at, taken) = ring.take(record, (granule + count.next_multiple_of(granule)).min(most))?;
        let tail = ring.oldest().unwrap_or(record);
        let count = count.min(taken - granule);
        let op = self.add(Phase::Log, Access::Write, Spot { at, ..parity }, granule + count);
        self.state.logs.draft.described[member] = (op, at);
        if self.context.enabled.data {
            self.add_word(op, at, Word::Record { number: record });
            self.add_word(op, at, Word::Tail { number: tail });
        }
        Some((op, at + granule, count))
    }

    fn go_on_in_log(&mut self, parity: Spot, record: u64, count: u64) -> Option<LogRoom> {
        let (granule, most) = (self.granule(), self.most());
        let last = self.last_added(parity.slot, Phase::Log)?;
        let (end, room) = (last.at + last.count, most.saturating_sub(last.count) / granule * granule);
        let ring = &mut self.state.logs.rings[usize::from(parity.slot)];
        if room == 0 || ring.head() != end {
            return None;
        }
        let (at, taken) = ring.take(record, count.next_multiple_of(granule).min(room))?;
        let count = count.min(taken);
        let op = self.add(Phase::Log, Access::Write, Spot { at, ..parity }, count);
        Some((op, at, count))
    }

    /// The command and the place of the words that describe the record in a log.
    pub fn description(&self, slot: u16) -> (u64, u64) {
        self.state.logs.draft.described[usize::from(slot)]
    }

    /// Whether nothing is in a log.
    pub fn is_log_empty(&self, slot: u16) -> bool {
        self.state.logs.rings[usize::from(slot)].is_empty()
    }

    /// A record of a log on members with a volatile cache: notes the members that it writes to. `begins` says
    /// whether it is the first of its unit.
    pub fn join_unit(&mut self, ring: u16, members: impl Iterator<Item = u16>, begins: bool) {
        if self.state.members.any_volatile() {
            self.state.logs.join_unit(ring, members, begins);
        }
    }
}
