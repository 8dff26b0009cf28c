//! The documented properties of a drive's queue.
use drivelab_units::Span;

/// In which order the waiting commands are served.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    Fcfs,
    Sstf,
    Look,
    CLook,
    Sptf,
    AgedSptf,
}

impl Order {
    pub const ALL: [Order; 6] =
        [Order::Fcfs, Order::Sstf, Order::Look, Order::CLook, Order::Sptf, Order::AgedSptf];

    /// Whether the cost is a time, so that a read preference in time can be added to it.
    pub fn costs_time(self) -> bool {
        matches!(self, Order::Sstf | Order::Sptf | Order::AgedSptf)
    }
}

/// What the drive knows of a command's place when it chooses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Knows {
    /// Seek time by distance.
    Distance,
    /// The angle too.
    Angle,
}

/// When the drive chooses the next command.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Chooses {
    /// As the media transfer ends: the queue's overheads are hidden, but the host's answer has not come yet.
    AtMediaEnd,
    /// Only after the host could answer the completion: nothing is hidden, but the answer takes part.
    AfterAnswer,
    /// As the completion goes out: the arm waits for the link, and nothing but the firmware's overhead is hidden.
    AtCompletion,
}

/// Until when a command that begins where the one in service ends, and does the same, is carried out with it in one
/// sweep, whatever else waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Joins {
    Never,
    /// It must be there before the arm starts, or before the first sector when the arm has no way to go.
    BeforeStart,
    /// While the media transfer runs.
    UntilEnd,
}

/// How much of a command's age is taken off its cost, in steps of 2^-16.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AgeWeight(u32);

impl AgeWeight {
    /// Nanoseconds of credit for each nanosecond of age: `numerator / denominator`, at most 1000.
    pub fn from_ratio(numerator: u64, denominator: u64) -> Option<Self> {
        if denominator == 0 || numerator / denominator > 1_000 {
            return None;
        }
        let bits = ((u128::from(numerator) << 16) + u128::from(denominator) / 2) / u128::from(denominator);
        Some(AgeWeight(bits as u32))
    }

    #[inline]
    pub fn credit(self, age: u64) -> u64 {
        ((u128::from(age) * u128::from(self.0)) >> 16) as u64
    }
}

#[derive(Clone, Debug)]
pub struct QueueParams {
    /// Commands that the drive holds at once, the one in service included.
    pub depth: u16,
    pub order: Order,
    pub knows: Knows,
    pub chooses: Chooses,
    /// With [`Chooses::AfterAnswer`]: how long after a media transfer the drive waits for the host's answer, unless
    /// nothing else waits: then it starts with the first command that comes.
    pub answer_time: Span,
    /// How many entries it looks at, oldest first; all when `None`.
    pub considers: Option<u16>,
    /// Added to the cost of a write: how much longer a read may take to reach and still go first.
    pub write_handicap: Span,
    /// How much earlier than needed a write is planned to arrive at its sector: with less to spare it is reckoned to
    /// come a turn later.
    pub write_margin: Span,
    pub joins_reads: Joins,
    pub joins_writes: Joins,
    /// A command this old goes before any younger one; no bound when `None`.
    pub age_limit: Option<Span>,
    /// Used by [`Order::AgedSptf`] alone.
    pub age_weight: AgeWeight,
    /// How many completions it holds back and reports together: when so many are done, or when nothing is left to do.
    /// Each is reported by itself when `None`.
    pub coalesces: Option<u16>,
}

impl QueueParams {
    /// One command at a time.
    pub const NONE: QueueParams = QueueParams {
        depth: 1,
        order: Order::Fcfs,
        knows: Knows::Distance,
        chooses: Chooses::AtMediaEnd,
        answer_time: Span::ZERO,
        considers: None,
        write_handicap: Span::ZERO,
        write_margin: Span::ZERO,
        joins_reads: Joins::Never,
        joins_writes: Joins::Never,
        age_limit: None,
        age_weight: AgeWeight(0),
        coalesces: None,
    };
}
