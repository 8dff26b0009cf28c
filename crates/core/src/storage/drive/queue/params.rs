//! The documented properties of a drive's queue.
use super::orders::Order;
use crate::command::Access;
use drivelab_units::{Share, Span};

/// What the drive knows of a command's position when it chooses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PositionKnowledge {
    /// Seek time by distance.
    Distance,
    /// The angle too.
    Angle,
}

/// When the drive chooses the next command.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChoiceTime {
    /// At the end of the media transfer: the queue's overheads are hidden, but the host's next command has
    /// not arrived yet.
    AtMediaEnd,
    /// Only after the host could have answered the completion: nothing is hidden, but the host's next command
    /// is included.
    AfterAnswer,
    /// When the completion is sent: the arm waits for the link, and nothing but the firmware's overhead is
    /// hidden.
    AtCompletion,
    /// When the arm starts for the command before: commands that arrive while it is carried out can only be
    /// chosen after it.
    OneAhead,
}

/// Until when a command of the same kind that begins where the one in service ends is carried out with it in
/// one sweep, whatever else waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum JoinsUntil {
    /// Commands are never carried out together.
    Never,
    /// It must have arrived before the arm starts, or before the first sector when the arm need not move.
    BeforeStart,
    /// While the media transfer runs.
    UntilEnd,
}

/// How much of a command's age is subtracted from its cost, in steps of 2^-16.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct AgeWeight(u32);

impl AgeWeight {
    /// No credit.
    pub const NONE: AgeWeight = AgeWeight(0);

    /// This many millionths of a nanosecond for each nanosecond of age.
    ///
    /// # Panics
    /// Above 1000.
    pub const fn of(millionths: u64) -> Self {
        match Self::from_ratio(millionths, 1_000_000) {
            Some(weight) => weight,
            None => panic!("the credit is at most 1000 times the age"),
        }
    }

    /// Nanoseconds of credit for each nanosecond of age: `numerator / denominator`, at most 1000.
    pub const fn from_ratio(numerator: u64, denominator: u64) -> Option<Self> {
        if denominator == 0 || numerator / denominator > 1_000 {
            return None;
        }
        let bits = (((numerator as u128) << 16) + denominator as u128 / 2) / denominator as u128;
        Some(AgeWeight(bits as u32))
    }

    /// The credit for each unit of age when `count` commands share it, in steps of 2^-32.
    #[inline]
    pub fn shared_by(self, count: u64) -> u64 {
        (u64::from(self.0) << 16) / count.max(1)
    }

    /// The credit for a wait of `age` nanoseconds, in nanoseconds.
    #[inline(always)]
    pub fn credit(self, age: u64) -> u64 {
        ((u128::from(age) * u128::from(self.0)) >> 16) as u64
    }

    /// Whether waiting earns no credit.
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// The age at which a command counts as if it needed no positioning; and 2^64 ns divided by it, so that
/// scaling needs no division.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AgeFull {
    age: u64,
    reciprocal: u64,
}

impl AgeFull {
    /// With an age of zero the order is that of arrival.
    pub const fn new(age: Span) -> Self {
        let age = age.as_ns();
        AgeFull { age, reciprocal: u64::MAX / if age == 0 { 1 } else { age } }
    }

    #[inline]
    pub(crate) fn is_reached(self, age: u64) -> bool {
        age >= self.age
    }

    /// Scales a time by the remaining share of the age: `time (full - age) / full`, rounded down; the share
    /// is low by at most 2^-32, and by as much again for every 4 s of the full age.
    #[inline]
    pub fn scale(self, time: u64, age: u64) -> u64 {
        let left = u128::from(self.age.saturating_sub(age));
        let share = (left * u128::from(self.reciprocal)) >> 32;
        ((u128::from(time) * share) >> 32) as u64
    }
}

/// The cost of turning the arm round, as a share of all cylinders, in steps of 2^-16.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ScanWeight(u32);

impl ScanWeight {
    /// This many millionths.
    ///
    /// # Panics
    /// Above one.
    pub const fn of_millionths(millionths: u64) -> Self {
        match Self::from_ratio(millionths, 1_000_000) {
            Some(weight) => weight,
            None => panic!("a turn counts all cylinders at most"),
        }
    }

    /// `numerator / denominator`, at most one.
    pub const fn from_ratio(numerator: u64, denominator: u64) -> Option<Self> {
        if denominator == 0 || numerator > denominator {
            return None;
        }
        let bits = (((numerator as u128) << 16) + denominator as u128 / 2) / denominator as u128;
        Some(ScanWeight(bits as u32))
    }

    /// This share of `count`, rounded down.
    #[inline]
    pub fn of(self, count: u32) -> u32 {
        ((u64::from(count) * u64::from(self.0)) >> 16) as u32
    }
}

/// The maximum queue depth.
pub const DEPTH_MAX: u32 = 1 << 16;

/// A drive's queue. [`DriveModel::new`](crate::storage::drive::params::DriveModel::new) checks the depth.
#[derive(Clone, Debug)]
pub struct QueueParams {
    /// Maximum number of commands that the drive holds, including the one in service.
    pub depth: u32,
    /// The order of service.
    pub order: Order,
    /// What the drive knows of rotation when it chooses.
    pub knows: PositionKnowledge,
    /// When the drive chooses its next command.
    pub chooses: ChoiceTime,
    /// With [`ChoiceTime::AfterAnswer`]: how long after a media transfer the drive waits for the host's next
    /// command; if nothing else waits it starts with the first command that arrives. At zero it waits for the
    /// commands that arrive at the same instant.
    pub answer_time: Span,
    /// How many entries it examines, oldest first; all when `None`.
    pub considers: Option<u32>,
    /// With fewer entries waiting they are served in order of arrival; always by the order when `None`.
    pub sorts_from: Option<u32>,
    /// The firmware's time for each entry that it examines when it chooses.
    pub look_time: Span,
    /// Added to the cost of a write: how much longer a read may take to reach and still go first.
    pub write_handicap: Span,
    /// How much earlier than needed a write is planned to arrive at its sector: with less to spare, the drive
    /// counts it as a revolution later.
    pub write_margin: Span,
    /// The same for a read: the firmware's guard against an arm that arrives late.
    pub read_margin: Span,
    /// The same for both, as a share of the seek time: a guard that grows with the distance, as the scatter
    /// of seeks does.
    pub seek_margin: Share,
    /// When adjacent reads go in one sweep.
    pub joins_reads: JoinsUntil,
    /// When adjacent writes go in one sweep.
    pub joins_writes: JoinsUntil,
    /// A command this old goes before any younger one; no bound when `None`.
    pub age_limit: Option<Span>,
    /// A command that has been passed by this many services since it arrived goes before any younger one; no
    /// bound when `None`.
    pub pass_limit: Option<u32>,
    /// How long a stream of reads that the drive has recognized keeps other commands waiting: until then the drive
    /// carries out the stream's commands, and reads on for the next one. When `None`, the drive does not recognize streams.
    pub stream_limit: Option<Span>,
    /// For each command that waits, the time within which the drive means to serve one that has no guideline: to an
    /// order that weighs age, a command with a guideline is as much older as that is shorter. Guidelines change no age
    /// when zero.
    pub own_guideline: Span,
    /// How many completions it holds back and reports together: once that many are done, or when nothing is
    /// left to do. Each is reported separately when `None`.
    pub coalesces: Option<u16>,
}

impl QueueParams {
    /// One command at a time.
    pub const NONE: QueueParams = QueueParams {
        depth: 1,
        order: Order::Fcfs,
        knows: PositionKnowledge::Distance,
        chooses: ChoiceTime::AtMediaEnd,
        answer_time: Span::ZERO,
        considers: None,
        sorts_from: None,
        look_time: Span::ZERO,
        write_handicap: Span::ZERO,
        write_margin: Span::ZERO,
        read_margin: Span::ZERO,
        seek_margin: Share::NONE,
        joins_reads: JoinsUntil::Never,
        joins_writes: JoinsUntil::Never,
        age_limit: None,
        pass_limit: None,
        stream_limit: None,
        own_guideline: Span::ZERO,
        coalesces: None,
    };

    /// How many nanoseconds earlier than needed the firmware plans to arrive after a seek of this time; zero
    /// where its cost does not include rotation.
    #[inline]
    pub fn margin(&self, access: Access, seek: u64) -> u64 {
        let fixed = match access {
            _ if !self.counts_rotation() => return 0,
            Access::Read => self.read_margin,
            Access::Write | Access::Flush => self.write_margin,
        };
        fixed.as_ns() + self.seek_margin.of(seek)
    }

    /// Whether so many entries may wait that a scan of a crowded cylinder is slow.
    pub fn is_deep(&self) -> bool {
        self.depth > if self.counts_rotation() { 128 } else { 256 }
    }

    /// Whether a command may be served before an older one.
    pub fn reorders(&self) -> bool {
        self.order != Order::Fcfs && self.depth > 1
    }

    /// Whether rotation is part of the cost.
    pub fn counts_rotation(&self) -> bool {
        self.order.rule().counts_rotation && self.knows == PositionKnowledge::Angle
    }

    /// Whether this many waiting entries are enough to be sorted.
    #[inline]
    pub fn sorts(&self, waiting: usize) -> bool {
        self.sorts_from.is_none_or(|from| waiting >= from as usize)
    }

    /// Whether the drive examines all of this many entries and knows their angles: then it misses none that
    /// begins sooner.
    pub fn examines_all(&self, waiting: usize) -> bool {
        let all = self.considers.is_none_or(|window| window as usize >= waiting);
        all && self.counts_rotation() && self.sorts(waiting)
    }

    /// How long the firmware examines entries before it chooses, with this many waiting.
    pub fn examination_time(&self, waiting: usize) -> Span {
        let window = if self.sorts(waiting) { self.considers.unwrap_or(u32::MAX) } else { 1 };
        let examined = waiting.min(window as usize);
        Span::from_ns(self.look_time.as_ns().saturating_mul(examined as u64))
    }
}
