//! RAID levels: where the addresses of an array lie on its members, and all that follows from it.
//!
//! A level is a folder with one implementation of [`RaidLevel`]: [`linear`] (JBOD), [`copied`] (RAID 0, 1, 01, 10), [`rows`]
//! (RAID 3 to 6, 30 to 60), [`raidz`]. The array asks a level nothing that is not in the trait; [`Layout`] passes each
//! question on to the level that it is. [`check`] has the rules of what can be built.
//!
//! All numbers are sectors. A *piece* is a stretch of the array's addresses that lies in one run on each member that has
//! it; a *spot* is a place on a member. Members are named by their slot in the array, whatever drive has it.
mod check;
pub mod copied;
mod error;
pub mod gf;
pub mod linear;
mod losses;
pub mod raidz;
pub mod reserved;
pub mod rows;

use super::background::{Job, Part};
use super::members::Members;
use super::params::{ArrayParams, Level};
use super::plan::Planner;
use super::report::{Run, SyncKind};
use super::stripe_request::{Op, StripeRequest};
use crate::command::{Access, Outcome};
use crate::storage::context::Context;
use crate::storage::tree::Slot;
use alloc::boxed::Box;
use alloc::vec::Vec;
pub use check::name;
pub use copied::{Copied, Piece};
use core::ops::Range;
use drivelab_units::Sectors;
pub use error::LevelError;
pub use linear::Linear;
pub use losses::ALL;
pub use raidz::RaidZ;
pub use rows::{Row, Rows};

/// A place on a member.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Spot {
    pub slot: u16,
    pub at: u64,
}

/// What a member holds somewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    /// A copy of these addresses of the array.
    Data {
        first: u64,
        copy: u16,
    },
    Parity {
        which: u8,
    },
    /// Left over: no address of the array is there.
    Nothing,
}

impl Held {
    /// The first of the addresses, if it is data.
    pub fn address(self) -> Option<u64> {
        if let Held::Data { first, .. } = self { Some(first) } else { None }
    }
}

/// What a window of background work goes over, in the numbers of its job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    pub first: u64,
    pub end: u64,
    /// How many of them are asked for; the others are passed over.
    pub count: u64,
}

/// The blocks that a stripe request must have to itself: whether it writes, and the first and the end of them in whatever
/// numbers the level counts.
pub type Blocks = (bool, u64, u64);

/// What an array asks of its level.
pub trait RaidLevel {
    // Where addresses lie.

    /// Sectors that hosts can address.
    fn capacity(&self) -> u64;

    /// Sectors of each member that the array uses; of a JBOD, of the largest.
    fn used(&self) -> u64;

    /// Members of each group, where there are groups that know nothing of each other.
    fn group_members(&self) -> Option<u16> {
        None
    }

    /// Sectors that a write must cover to need nothing that is there already, where that is more than one.
    fn whole_write(&self) -> Option<u64> {
        None
    }

    /// Where an address lies while nothing is missing: of copies the first.
    fn home(&self, address: u64) -> Spot;

    /// The address that lies at a place, which may have a copy of it; none where parity or nothing is, or where addresses
    /// come and go.
    fn address_at(&self, spot: Spot) -> Option<u64>;

    // Requests of hosts.

    /// The blocks that a stripe request of a host must have to itself.
    fn blocks(&self, plan: &Planner, stripe_request: &StripeRequest) -> Option<Blocks>;

    /// Where the first stripe request of a command ends that goes from `at` to `end`.
    #[inline]
    fn cut(&self, _plan: &Planner, _access: Access, _at: u64, end: u64) -> u64 {
        end
    }

    /// Makes the commands of a stripe request that reads.
    ///
    /// # Errors
    /// How it ends if they cannot be made: what it asks for is lost, or could not be read.
    fn plan_read(&mut self, plan: &mut Planner, context: &mut Context, slot: Slot) -> Result<(), Outcome>;

    /// Makes the commands of a stripe request that writes.
    ///
    /// # Errors
    /// As for [`Self::plan_read`].
    fn plan_write(&mut self, plan: &mut Planner, context: &mut Context, slot: Slot) -> Result<(), Outcome>;

    /// Whom a stripe request must wait for although nobody has its blocks. For one of background work its job and its
    /// window are given.
    fn keeper(&mut self, _plan: &Planner, _slot: Slot, _window: Option<(&Job, Range<u64>)>) -> Option<Slot> {
        None
    }

    /// A stripe request has ended.
    #[inline]
    fn settle(&mut self, _plan: &mut Planner, _slot: Slot) {}

    /// Whether its plans look up themselves what was lost sector by sector.
    #[inline]
    fn looks_up_losses(&self) -> bool {
        false
    }

    // What survives when members are gone.

    /// Whether there is anything beside what one member holds.
    fn is_redundant(&self) -> bool;

    /// Whether a member that did not do a write is failed even where it has the last copy of something.
    fn fails_the_last(&self) -> bool {
        false
    }

    /// The members that are given up with one.
    fn companions(&self, slot: u16) -> Range<u16> {
        slot..slot + 1
    }

    /// Whether what a write was to bring to a member that is gone can be had without it.
    fn is_kept_without(&self, members: &Members, op: &Op) -> bool;

    /// What is lost as the members are now that was not when they had the frontiers `before`. `failed` is the one that has
    /// failed since, unless several are missing from the start.
    fn losses(&self, members: &Members, before: &[u64], failed: u16) -> Vec<Run>;

    /// Up to which place the others make up for what a slot is to hold: in a job's numbers.
    fn reach(&self, members: &Members, slot: u16) -> u64;

    /// What of a write that a member did not do can be had from other members: first sector and end, on that member.
    fn others_have(&self, _plan: &Planner, _op: &Op) -> Vec<(u64, u64)> {
        Vec::new()
    }

    /// The addresses of which only stale sectors are left.
    fn lost_but_for_stale(&self, _plan: &Planner) -> Vec<Run> {
        Vec::new()
    }

    /// A new member takes a slot.
    fn joins(&mut self, _slot: u16) {}

    // Background work.

    /// How far a job goes at once when each member's share is `request` sectors, and from where to where in all: sectors of
    /// each member, addresses of the array, or whatever else the level counts.
    fn range(&self, kind: SyncKind, request: u64) -> (u64, (u64, u64));

    /// The addresses among which is all that a window of a job touches; the same numbers where the level does not count
    /// by addresses.
    fn around(&self, _job: &Job, at: u64, to: u64) -> (u64, u64) {
        (at, to)
    }

    /// The blocks that a window's stripe request must have to itself.
    fn blocks_of_window(&self, first: u64, end: u64) -> Option<Blocks>;

    /// What a job's next window is to go over.
    fn next_stretch(&self, _members: &Members, job: &Job) -> Option<Stretch> {
        let (first, end) = (job.next, (job.next + job.step).min(job.end));
        (first < end).then_some(Stretch { first, end, count: end - first })
    }

    /// Makes the commands of a window.
    fn plan_window(&mut self, plan: &mut Planner, context: &mut Context, part: &mut Part<'_>);

    /// The sector of each member below which all lies that a job has gone over.
    fn edge(&self, numbers: u64) -> u64 {
        numbers
    }

    /// Numbers of a job as sectors of each member.
    fn share(&self, _kind: SyncKind, numbers: u64) -> u64 {
        numbers
    }

    /// How many of its numbers a window goes over at once where something could not be read, on whole sectors of `granule`.
    fn smallest_window(&self, granule: u64) -> u64 {
        granule
    }

    /// Where what a job goes over ends before anybody has written.
    fn filled(&self, job: &Job) -> u64 {
        job.end
    }

    /// How many numbers a job goes over in all.
    fn length(&self, job: &Job) -> u64 {
        job.end - job.begin
    }
}

pub enum Layout {
    Linear(Linear),
    Copied(Copied),
    Rows(Rows),
    RaidZ(Box<RaidZ>),
}

/// Asks the level that a layout is.
macro_rules! ask {
    ($layout:expr, $level:ident => $answer:expr) => {
        match $layout {
            Layout::Linear($level) => $answer,
            Layout::Copied($level) => $answer,
            Layout::Rows($level) => $answer,
            Layout::RaidZ($level) => $answer,
        }
    };
}

impl Layout {
    /// Lays an array out over members of these capacities.
    ///
    /// # Errors
    /// What of the parameters contradicts the level, the other parameters or the capacities.
    pub fn new(params: &ArrayParams, capacities: &[Sectors]) -> Result<Self, LevelError> {
        check::check(params, capacities)?;
        let members = &capacities[..usize::from(params.members)];
        let least = members.iter().min().map_or(0, |least| least.get());
        let start = reserved::sectors(params, least);
        let least = least - start;
        let (n, unit) = (u64::from(params.members), params.unit.get());
        let layout = match params.level {
            Level::Linear => Layout::Linear(Linear::new(members)),
            Level::Striped => Layout::Copied(Copied::striped(n, unit, least)),
            Level::Mirrored => Layout::Copied(Copied::mirrored(n, least).behind(start)),
            Level::MirroredStripes { copies } => {
                Layout::Copied(Copied::sets(n, copies.into(), unit, least).behind(start))
            }
            Level::StripedMirrors { copies, layout } => {
                Layout::Copied(Copied::spread(n, copies.into(), layout, unit, least).behind(start))
            }
            Level::Interleaved { groups } => {
                Layout::Rows(Rows::interleaved(n, groups.into(), unit, least).behind(start))
            }
            Level::Parity { parities, rotation, groups } => {
                Layout::Rows(Rows::new(n, groups.into(), parities, rotation, unit, least).behind(start))
            }
            Level::RaidZ { parities, record, fill_percent } => {
                let sector = params.parity.granule.get();
                let pool = RaidZ::new(n, parities, record.get(), fill_percent, sector, least);
                Layout::RaidZ(Box::new(pool.ok_or(LevelError::Pool { level: name(params.level) })?))
            }
        };
        check::check_spares(params, capacities, layout.used())?;
        Ok(layout)
    }

    /// Sectors of each member that the array uses; of a JBOD, of the largest.
    pub fn used(&self) -> Sectors {
        Sectors::new(ask!(self, level => RaidLevel::used(level)))
    }

    pub fn capacity(&self) -> Sectors {
        Sectors::new(ask!(self, level => RaidLevel::capacity(level)))
    }

    /// Takes over from the layout of an array that was cut off what its metadata on the members tell.
    pub fn take_over(&mut self, before: &Layout) {
        if let (Layout::RaidZ(pool), Layout::RaidZ(before)) = (self, before) {
            pool.lie_as(before);
        }
    }

    // The questions of [`RaidLevel`], passed on.

    pub fn home(&self, address: u64) -> Spot {
        ask!(self, level => RaidLevel::home(level, address))
    }

    pub fn address_at(&self, spot: Spot) -> Option<u64> {
        ask!(self, level => RaidLevel::address_at(level, spot))
    }

    pub fn group_members(&self) -> Option<u16> {
        ask!(self, level => RaidLevel::group_members(level))
    }

    pub fn whole_write(&self) -> Option<u64> {
        ask!(self, level => RaidLevel::whole_write(level))
    }

    #[inline(always)]
    pub fn blocks(&self, plan: &Planner, stripe_request: &StripeRequest) -> Option<Blocks> {
        ask!(self, level => RaidLevel::blocks(level, plan, stripe_request))
    }

    #[inline(always)]
    pub fn cut(&self, plan: &Planner, access: Access, at: u64, end: u64) -> u64 {
        ask!(self, level => RaidLevel::cut(level, plan, access, at, end))
    }

    #[inline(always)]
    pub fn plan_read(
        &mut self,
        plan: &mut Planner,
        context: &mut Context,
        slot: Slot,
    ) -> Result<(), Outcome> {
        ask!(self, level => RaidLevel::plan_read(level, plan, context, slot))
    }

    #[inline(always)]
    pub fn plan_write(
        &mut self,
        plan: &mut Planner,
        context: &mut Context,
        slot: Slot,
    ) -> Result<(), Outcome> {
        ask!(self, level => RaidLevel::plan_write(level, plan, context, slot))
    }

    #[inline(always)]
    pub fn keeper(&mut self, plan: &Planner, slot: Slot, window: Option<(&Job, Range<u64>)>) -> Option<Slot> {
        ask!(self, level => RaidLevel::keeper(level, plan, slot, window))
    }

    #[inline(always)]
    pub fn settle(&mut self, plan: &mut Planner, slot: Slot) {
        ask!(self, level => RaidLevel::settle(level, plan, slot));
    }

    #[inline(always)]
    pub fn looks_up_losses(&self) -> bool {
        ask!(self, level => RaidLevel::looks_up_losses(level))
    }

    pub fn is_redundant(&self) -> bool {
        ask!(self, level => RaidLevel::is_redundant(level))
    }

    pub fn fails_the_last(&self) -> bool {
        ask!(self, level => RaidLevel::fails_the_last(level))
    }

    pub fn companions(&self, slot: u16) -> Range<u16> {
        ask!(self, level => RaidLevel::companions(level, slot))
    }

    pub fn is_kept_without(&self, members: &Members, op: &Op) -> bool {
        ask!(self, level => RaidLevel::is_kept_without(level, members, op))
    }

    pub fn losses(&self, members: &Members, before: &[u64], failed: u16) -> Vec<Run> {
        ask!(self, level => RaidLevel::losses(level, members, before, failed))
    }

    pub fn reach(&self, members: &Members, slot: u16) -> u64 {
        ask!(self, level => RaidLevel::reach(level, members, slot))
    }

    pub fn others_have(&self, plan: &Planner, op: &Op) -> Vec<(u64, u64)> {
        ask!(self, level => RaidLevel::others_have(level, plan, op))
    }

    pub fn lost_but_for_stale(&self, plan: &Planner) -> Vec<Run> {
        ask!(self, level => RaidLevel::lost_but_for_stale(level, plan))
    }

    pub fn joins(&mut self, slot: u16) {
        ask!(self, level => RaidLevel::joins(level, slot));
    }

    pub fn range(&self, kind: SyncKind, request: u64) -> (u64, (u64, u64)) {
        ask!(self, level => RaidLevel::range(level, kind, request))
    }

    pub fn around(&self, job: &Job, at: u64, to: u64) -> (u64, u64) {
        ask!(self, level => RaidLevel::around(level, job, at, to))
    }

    pub fn blocks_of_window(&self, first: u64, end: u64) -> Option<Blocks> {
        ask!(self, level => RaidLevel::blocks_of_window(level, first, end))
    }

    pub fn next_stretch(&self, members: &Members, job: &Job) -> Option<Stretch> {
        ask!(self, level => RaidLevel::next_stretch(level, members, job))
    }

    pub fn plan_window(&mut self, plan: &mut Planner, context: &mut Context, part: &mut Part<'_>) {
        ask!(self, level => RaidLevel::plan_window(level, plan, context, part));
    }

    pub fn edge(&self, numbers: u64) -> u64 {
        ask!(self, level => RaidLevel::edge(level, numbers))
    }

    pub fn share(&self, kind: SyncKind, numbers: u64) -> u64 {
        ask!(self, level => RaidLevel::share(level, kind, numbers))
    }

    pub fn smallest_window(&self, granule: u64) -> u64 {
        ask!(self, level => RaidLevel::smallest_window(level, granule))
    }

    pub fn filled(&self, job: &Job) -> u64 {
        ask!(self, level => RaidLevel::filled(level, job))
    }

    pub fn length(&self, job: &Job) -> u64 {
        ask!(self, level => RaidLevel::length(level, job))
    }
}
