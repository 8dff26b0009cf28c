//! The level that an array has: builds it from the parameters, and delegates each question of [`RaidLevel`]
//! to it.
use crate::command::{Access, Outcome};
use crate::storage::array::background::WindowRange;
use crate::storage::array::background::{SyncJob, WindowPart};
use crate::storage::array::defects::Defects;
use crate::storage::array::levels::check;
use crate::storage::array::levels::check::name;
use crate::storage::array::levels::copied::Copied;
use crate::storage::array::levels::error::LevelError;
use crate::storage::array::levels::linear::Linear;
use crate::storage::array::levels::raid_level::{ClaimRange, RaidLevel, Redundancy};
use crate::storage::array::levels::raidz::RaidZ;
use crate::storage::array::levels::rows::Rows;
use crate::storage::array::logs::Logs;
use crate::storage::array::members::Spot;
use crate::storage::array::members::{ALL, Members};
use crate::storage::array::params::{ArrayParams, Level};
use crate::storage::array::plan::Plan;
use crate::storage::array::report::{Run, SyncKind};
use crate::storage::array::reserved;
use crate::storage::array::stripe_request::{Op, StripeRequest};
use crate::storage::bad_blocks::BadBlocks;
use crate::storage::context::Context;
use crate::storage::tree::Slot;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;
use drivelab_units::Sectors;

/// The layout of an array, one variant for each family of levels. [`Layout::new`] checks and builds it.
pub enum Layout {
    /// JBOD.
    Linear(Linear),
    /// RAID 0, 1, 01 and 10.
    Copied(Copied),
    /// RAID 3, 4, 5, 6 and their nested forms.
    Rows(Rows),
    /// RAID-Z with one to three parities.
    RaidZ(Box<RaidZ>),
}

/// Delegates a question to the level that a layout is.
macro_rules! delegate {
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
    /// What in the parameters contradicts the level, the other parameters or the capacities.
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
        Sectors::new(delegate!(self, level => RaidLevel::used(level)))
    }

    /// Sectors that hosts can address.
    pub fn capacity(&self) -> Sectors {
        Sectors::new(delegate!(self, level => RaidLevel::capacity(level)))
    }

    /// Takes over what the metadata on the members record, from the layout of an array that was cut off.
    pub fn take_over(&mut self, before: &Layout) {
        if let (Layout::RaidZ(pool), Layout::RaidZ(before)) = (self, before) {
            pool.restore_places(before);
        }
    }

    // The questions of [`RaidLevel`], delegated.

    /// Where the first copy of this address of the array lies.
    pub fn home(&self, address: u64) -> Spot {
        delegate!(self, level => RaidLevel::home(level, address))
    }

    /// The address of the array whose data this place holds; `None` where it holds parity or nothing.
    pub fn address_at(&self, spot: Spot) -> Option<u64> {
        delegate!(self, level => RaidLevel::address_at(level, spot))
    }

    pub(crate) fn group_members(&self) -> Option<u16> {
        delegate!(self, level => RaidLevel::group_members(level))
    }

    /// Which group of members a slot belongs to.
    pub(crate) fn group_of(&self, slot: u16) -> u16 {
        self.group_members().map_or(0, |members| slot / members)
    }

    pub(crate) fn whole_write(&self) -> Option<u64> {
        delegate!(self, level => RaidLevel::whole_write(level))
    }

    #[inline(always)]
    pub(crate) fn claim_range(
        &self,
        members: &Members,
        granule: u64,
        stripe_request: &StripeRequest,
    ) -> Option<ClaimRange> {
        delegate!(self, level => RaidLevel::claim_range(level, members, granule, stripe_request))
    }

    #[inline(always)]
    pub(crate) fn cut(&self, params: &ArrayParams, logs: &Logs, access: Access, at: u64, end: u64) -> u64 {
        delegate!(self, level => RaidLevel::cut(level, params, logs, access, at, end))
    }

    #[inline(always)]
    pub(crate) fn plan_read(&mut self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        delegate!(self, level => RaidLevel::plan_read(level, plan))
    }

    #[inline(always)]
    pub(crate) fn plan_write(&mut self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        delegate!(self, level => RaidLevel::plan_write(level, plan))
    }

    #[inline(always)]
    pub(crate) fn blocker(
        &mut self,
        members: &Members,
        stripe_request: (Slot, &StripeRequest),
        window: Option<(&SyncJob, Range<u64>)>,
    ) -> Option<Slot> {
        delegate!(self, level => RaidLevel::blocker(level, members, stripe_request, window))
    }

    pub(crate) fn passes_content(&self) -> bool {
        delegate!(self, level => RaidLevel::passes_content(level))
    }

    #[inline(always)]
    pub(crate) fn settle(
        &mut self,
        members: &Members,
        bad_blocks: &mut BadBlocks,
        slot: Slot,
        stripe_request: &mut StripeRequest,
    ) {
        delegate!(self, level => RaidLevel::settle(level, members, bad_blocks, slot, stripe_request));
    }

    pub(crate) fn lose_beside_bad_blocks(
        &self,
        members: &Members,
        defects: &mut Defects,
        context: &mut Context,
    ) {
        delegate!(self, level => RaidLevel::lose_beside_bad_blocks(level, members, defects, context));
    }

    /// The redundancy that the level stores.
    pub fn redundancy(&self) -> Option<Redundancy> {
        delegate!(self, level => RaidLevel::redundancy(level))
    }

    /// Whether the level stores any redundancy.
    pub(crate) fn is_redundant(&self) -> bool {
        self.redundancy().is_some()
    }

    /// Whether all data can be reconstructed from the slots that are present; `is_there` is indexed by slot.
    pub fn can_reconstruct(&self, is_there: &[bool]) -> bool {
        delegate!(self, level => RaidLevel::can_reconstruct(level, is_there))
    }

    /// All places that hold a copy of an address, its home first.
    pub fn copies_of(&self, address: u64) -> Vec<Spot> {
        delegate!(self, level => RaidLevel::copies_of(level, address))
    }

    /// Number of addresses whose consistency is checked as one: a row of stripe units, a record, a piece of a copy.
    pub fn compared_as_one(&self) -> u64 {
        delegate!(self, level => RaidLevel::compared_as_one(level))
    }

    /// The first sector of each member that is not reserved for logs.
    pub fn start(&self) -> u64 {
        delegate!(self, level => RaidLevel::start(level))
    }

    /// Sectors of a record, for levels that store data in records.
    pub fn record(&self) -> Option<Sectors> {
        delegate!(self, level => RaidLevel::record(level)).map(Sectors::new)
    }

    pub(crate) fn fails_the_last(&self) -> bool {
        delegate!(self, level => RaidLevel::fails_the_last(level))
    }

    pub(crate) fn companions(&self, slot: u16) -> Range<u16> {
        delegate!(self, level => RaidLevel::companions(level, slot))
    }

    pub(crate) fn is_kept_without(&self, members: &Members, op: &Op) -> bool {
        delegate!(self, level => RaidLevel::is_kept_without(level, members, op))
    }

    pub(crate) fn losses(&self, members: &Members, before: &[u64], failed: u16) -> Vec<Run> {
        delegate!(self, level => RaidLevel::losses(level, members, before, failed))
    }

    pub(crate) fn reach(&self, members: &Members, slot: u16) -> u64 {
        delegate!(self, level => RaidLevel::reach(level, members, slot))
    }

    /// Whether everything that belongs on a slot can be read or computed from the others.
    pub(crate) fn can_be_rebuilt(&self, members: &Members, slot: u16) -> bool {
        self.reach(members, slot) == ALL
    }

    pub(crate) fn readable_elsewhere(
        &self,
        members: &Members,
        defects: &Defects,
        op: &Op,
    ) -> Vec<(u64, u64)> {
        delegate!(self, level => RaidLevel::readable_elsewhere(level, members, defects, op))
    }

    pub(crate) fn only_stale_left(&self, members: &Members, defects: &Defects) -> Vec<Run> {
        delegate!(self, level => RaidLevel::only_stale_left(level, members, defects))
    }

    pub(crate) fn note_join(&mut self, slot: u16) {
        delegate!(self, level => RaidLevel::note_join(level, slot));
    }

    pub(crate) fn range(&self, kind: SyncKind, request: u64) -> (u64, (u64, u64)) {
        delegate!(self, level => RaidLevel::range(level, kind, request))
    }

    pub(crate) fn around(&self, job: &SyncJob, at: u64, to: u64) -> (u64, u64) {
        delegate!(self, level => RaidLevel::around(level, job, at, to))
    }

    pub(crate) fn window_claim(&self, first: u64, end: u64) -> Option<ClaimRange> {
        delegate!(self, level => RaidLevel::window_claim(level, first, end))
    }

    pub(crate) fn next_stretch(&self, members: &Members, job: &SyncJob) -> Option<WindowRange> {
        delegate!(self, level => RaidLevel::next_stretch(level, members, job))
    }

    pub(crate) fn plan_window(&mut self, plan: &mut Plan<'_>, part: &mut WindowPart<'_>) {
        delegate!(self, level => RaidLevel::plan_window(level, plan, part));
    }

    pub(crate) fn edge(&self, numbers: u64) -> u64 {
        delegate!(self, level => RaidLevel::edge(level, numbers))
    }

    pub(crate) fn share(&self, kind: SyncKind, numbers: u64) -> u64 {
        delegate!(self, level => RaidLevel::share(level, kind, numbers))
    }

    pub(crate) fn smallest_window(&self, granule: u64) -> u64 {
        delegate!(self, level => RaidLevel::smallest_window(level, granule))
    }

    pub(crate) fn filled(&self, job: &SyncJob) -> u64 {
        delegate!(self, level => RaidLevel::filled(level, job))
    }

    pub(crate) fn length(&self, job: &SyncJob) -> u64 {
        delegate!(self, level => RaidLevel::length(level, job))
    }
}

impl ArrayParams {
    /// Checks the parameters against members of these capacities.
    /// # Errors
    /// The first thing found that contradicts the level, the other parameters or the capacities.
    ///
    /// ```
    /// use drivelab_core::storage::array::levels::LevelError;
    /// use drivelab_core::storage::array::params::{ArrayParams, Level, Rotation};
    /// use drivelab_units::Sectors;
    ///
    /// let raid5 = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
    /// let drives = [Sectors::new(1 << 20); 4];
    /// // One drive's worth of the four holds parity.
    /// assert_eq!(ArrayParams::plain(raid5, 4).capacity(&drives), Ok(Sectors::new(3 << 20)));
    /// // A drive too many, unless the array counts it as a spare.
    /// let error = ArrayParams::plain(raid5, 3).check(&drives);
    /// assert_eq!(error, Err(LevelError::Drives { members: 3, spares: 0, journal: false, given: 4 }));
    /// assert_eq!(ArrayParams { spares: 1, ..ArrayParams::plain(raid5, 3) }.check(&drives), Ok(()));
    /// ```
    pub fn check(&self, capacities: &[Sectors]) -> Result<(), LevelError> {
        self.capacity(capacities).map(|_| ())
    }

    /// The capacity of an array on drives of these capacities.
    pub fn capacity(&self, capacities: &[Sectors]) -> Result<Sectors, LevelError> {
        Layout::new(self, capacities).map(|layout| layout.capacity())
    }
}
